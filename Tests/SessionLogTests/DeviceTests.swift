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
      guard let device = try? Device.load(home) else { return }
      ids.withLock { $0.append(device.deviceId) }
    }
    let found = ids.withLock { $0 }
    #expect(found.count == 16 && Set(found).count == 1, "\(found)")
    #expect(try Device.load(home).deviceId == found.first)
  }
}
