import Dispatch
import Foundation
import Platform
import SessionLog
import Synchronization
import TestSupport
import Testing

@Suite(.tags(.medium)) struct DeviceTests {
  /// A recorder and an upload may be the first in a home at the same time.
  @Test(arguments: [nil, "{"])
  func `processes that start at once get the same device id`(_ before: String?) throws {
    let path = NSTemporaryDirectory() + "tidemark-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: path) }
    let home = Home(path: path)
    try home.create()
    try before?.write(toFile: home.devicePath, atomically: true, encoding: .utf8)
    let ids = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 16) { _ in
      guard let device = try? Device.load(home, on: .current) else { return }
      ids.withLock { $0.append(device.deviceId) }
    }
    let found = ids.withLock { $0 }
    #expect(found.count == 16 && Set(found).count == 1, "\(found)")
    #expect(try Device.load(home, on: .current).deviceId == found.first)
  }

  /// A home, and machines that use it.
  private final class SharedHome {
    let home: TestHome
    /// Number of ids given.
    private(set) var ids: [String] = []

    init() throws {
      home = try TestHome()
      try File.remove(home.home.devicePath)
    }

    /// The number of the id, in the order in which they were given, that a machine has in a boot.
    func device(_ machineId: String, boot: String) throws -> Int {
      let device = try Device.load(home.home, on: machine(machineId, boot))
      if !ids.contains(device.deviceId) { ids.append(device.deviceId) }
      #expect(Set(device.formerIds) == Set(ids).subtracting([device.deviceId]))
      #expect(device.formerIds.count == ids.count - 1 && device.machineId == machineId)
      return ids.firstIndex(of: device.deviceId) ?? -1
    }

    func machine(_ machineId: String, _ boot: String) -> Machine {
      var machine = home.clock.machine
      (machine.machineId, machine.bootId) = (machineId, boot)
      return machine
    }
  }

  @Test func `machines that use one home in turn keep their ids`() throws {
    let shared = try SharedHome()
    for _ in 0..<3 {
      #expect(try shared.device("a", boot: "a1") == 0)
      #expect(try shared.device("b", boot: "b1") == 1)
    }
    // Both were seen to use the one home.
    #expect(try shared.device("a", boot: "a2") == 0)
    let text = try String(contentsOfFile: shared.home.home.devicePath, encoding: .utf8)
    #expect(try shared.device("b", boot: "b1") == 1)
    #expect(try shared.device("a", boot: "a2") == 0)
    #expect(try String(contentsOfFile: shared.home.home.devicePath, encoding: .utf8) == text)
    // A third one may have come to a copy.
    #expect(try shared.device("c", boot: "c1") == 2)
    #expect(try shared.device("a", boot: "a2") == 0)
    #expect(try shared.device("b", boot: "b2") == 3)
    #expect(try shared.device("a", boot: "a2") == 0)
    #expect(try shared.device("a", boot: "a3") == 0)
  }

  @Test func `a home that lost its record knows its former ids by their keys`() throws {
    let home = try TestHome().home
    let control = home.controlPath
    try Directory.make(control)
    try #"{"deviceId": "newest", "key": ""}"#.write(
      toFile: home.keyPath, atomically: true, encoding: .utf8)
    for name in ["key-older.json", "key-NOT.json", "state.json"] {
      try Data().write(to: URL(filePath: "\(control)/\(name)"))
    }
    try "{".write(toFile: home.devicePath, atomically: true, encoding: .utf8)
    #expect(try Device.load(home, on: .current).formerIds == ["older", "newest"])
    try File.remove(home.devicePath)
    #expect(try Device.load(home, on: .current).formerIds == ["older", "newest"])
  }

  /// The original of a clone lives on with its id, and a home like the clone's.
  @Test func `a clone that gets its original's machine id back is another device`() throws {
    let shared = try SharedHome()
    #expect(try shared.device("a", boot: "a1") == 0)
    #expect(try shared.device("clone", boot: "c1") == 1)
    #expect(try shared.device("a", boot: "c2") == 2)
    #expect(try shared.device("clone", boot: "c3") == 3)

    // Nor one of a home that was shared.
    #expect(try shared.device("a", boot: "c2") == 2)
    #expect(try shared.device("a", boot: "a4") == 2)
    #expect(try shared.device("clone 2", boot: "d1") == 4)
    #expect(try shared.device("a", boot: "d2") == 5)
  }

  /// Containers of one kernel have one boot id.
  @Test func `a copied home knows no machine of its original`() throws {
    let shared = try SharedHome()
    #expect(try shared.device("a", boot: "1") == 0)
    #expect(try shared.device("b", boot: "1") == 1)
    let path = shared.home.home.path
    try FileManager.default.moveItem(atPath: path, toPath: path + "2")
    try FileManager.default.copyItem(atPath: path + "2", toPath: path)
    #expect(try shared.device("a", boot: "1") == 2)
  }

  @Test func `a record of an earlier version is read, and a reader changes none`() throws {
    let shared = try SharedHome()
    let home = shared.home.home
    #expect(Device.known(home, on: .current) == nil && !File.exists(home.devicePath))
    #expect(try shared.device("a", boot: "a1") == 0)
    var record = try #require(
      try JSONSerialization.jsonObject(with: Data(AtomicFile.read(home.devicePath)))
        as? [String: Any])
    #expect(record.removeValue(forKey: "machines") != nil)
    let old = Array(try JSONSerialization.data(withJSONObject: record))
    try AtomicFile.write(old, to: home.devicePath)
    for id in ["a", "b"] {
      #expect(Device.known(home, on: shared.machine(id, "a1"))?.deviceId == shared.ids[0])
    }
    #expect(try AtomicFile.read(home.devicePath) == old)
    #expect(try shared.device("a", boot: "a1") == 0)
    #expect(try shared.device("b", boot: "b1") == 1)
    #expect(try shared.device("a", boot: "a1") == 0)
  }
}
