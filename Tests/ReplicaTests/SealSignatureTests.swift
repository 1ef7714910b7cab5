import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Replica

/// Someone with write access to a store can remove a seal, but not make one.
@Suite(.tags(.medium)) struct SealSignatureTests {
  private static let device = "e7ai95i13pgofqng"
  private static let session = SessionID("20260122t143005z-k3f9a7c2")
  private let home: TestHome
  private let folder: SessionFolder

  init() throws {
    home = try TestHome()
    try home.home.create()
    folder = SessionFolder(device: Self.device, day: "2026-01-22")
  }

  private func key(_ seed: UInt8, day: Int = 20) throws -> DeviceKey {
    let created = try #require(Timestamp(iso: "2026-01-\(day)T00:00:00.000Z"))
    return try DeviceKey(
      deviceId: Self.device, created: created, seed: Array(repeating: seed, count: 32))
  }

  private func sidecar() throws -> Sidecar {
    var sidecar = Sidecar.reconstructed(
      id: try #require(Self.session), device: home.device, owner: Self.device, status: .terminated)
    sidecar.digest = String(repeating: "a", count: 64)
    sidecar.objects = []
    sidecar.appName = "naïve \"app\"\u{2028}\t/"
    return sidecar
  }

  private func name(_ json: [UInt8], number: Int = 2) throws -> RevisionName {
    RevisionName(
      session: try #require(Self.session), number: number, status: .terminated, length: 7,
      json: json)
  }

  private func signed(_ key: DeviceKey) throws -> [UInt8] {
    let sidecar = try sidecar()
    return try key.sign(sidecar, as: name(sidecar.json()), in: folder)
  }

  private func check(
    _ json: [UInt8], by keys: KnownKeys, number: Int = 2, in other: SessionFolder? = nil
  ) throws {
    let name = try name(json, number: number)
    try keys.check(json, Sidecar(json: json), name, in: other ?? folder)
  }

  private func known(_ named: [String: KnownKeys.Key] = [:], own: DeviceKey? = nil) -> KnownKeys {
    KnownKeys(home.home, named: named, own: own)
  }

  @Test(arguments: [
    ("h3vq", "ed25519:AAA/+9="), ("", ""), ("a\"b", "c"), ("a", "b\\n"), ("\u{7f}", "ü\u{2028}"),
    ("\n", "\t"),
  ]) func `the lines of a signature are those that an encoder writes`(
    by: String, sig: String
  ) throws {
    let since = try #require(Timestamp(iso: "2026-01-20T00:00:00.123Z"))
    let signature = Sidecar.Signature(by: by, key: "ed25519:" + sig, sig: sig, since: since)
    let lines = try SealSignature.lines(of: signature)
    #expect(try lines == SealSignature.encodedLines(of: signature))
  }

  @Test func `a signed seal is valid only for its key, device and revision`() throws {
    let json = try signed(key(1))
    #expect(try Sidecar(json: json).signature?.by == key(1).publicKey.id)
    try check(json, by: known(own: key(1)))
    let (other, elsewhere) = (SessionFolder(device: "other", day: folder.day), try key(2))
    #expect(throws: ReplicaError.self) { try check(json, by: known(own: elsewhere)) }
    #expect(throws: ReplicaError.self) { try check(json, by: known(own: key(1)), number: 3) }
    #expect(throws: ReplicaError.self) { try check(json, by: known(), in: other) }
  }

  /// Changing any byte makes it invalid JSON, or not a seal of the device.
  @Test func `no byte of a signed seal can be changed`() throws {
    let json = try signed(key(1))
    let keys = try known(own: key(1))
    var refused = 0
    for place in json.indices {
      var forged = json
      forged[place] ^= 1
      guard let sidecar = try? Sidecar(json: forged) else { continue }
      refused += 1
      #expect(throws: ReplicaError.self, "byte \(place)") {
        try keys.check(forged, sidecar, name(forged), in: folder)
      }
    }
    #expect(refused > json.count / 4)
  }

  /// Nothing unsigned can hide in the lines of the signature.
  @Test func `unsigned lines of a seal cannot hide other fields`() throws {
    let text = String(decoding: try signed(key(1)), as: UTF8.self)
    let keys = try known(own: key(1))
    for (old, new) in [
      ("  \"signature\" : {\n", "  \"signature\" : {\n    \"status\" : \"CRASHED\",\n"),
      ("  \"startedAt\"", "  \"cause\" : \"exit 1\",\n  \"startedAt\""),
      ("\n}\n", ",\n  \"signature\" : {}\n}\n"),
    ] {
      let forged = text.replacingOccurrences(of: old, with: new)
      #expect(forged != text)
      guard let sidecar = try? Sidecar(json: Array(forged.utf8)) else { continue }
      #expect(throws: ReplicaError.self) {
        try keys.check(Array(forged.utf8), sidecar, name(Array(forged.utf8)), in: folder)
      }
    }
  }

  @Test func `a seal may be unsigned only before the key was created`() throws {
    let json = try sidecar().json()
    try check(json, by: known())
    try check(json, by: known(own: key(1, day: 23)))
    let error = #expect(throws: ReplicaError.self) { try check(json, by: known(own: key(1))) }
    #expect(error?.detail.contains("is not signed") == true)
    // A session's id has whole seconds only.
    let began = try #require(Self.session).startedAt
    for (milliseconds, isAccepted) in [(Int64(0), false), (999, false), (1000, true)] {
      let key = try DeviceKey(
        deviceId: Self.device, created: began + .milliseconds(milliseconds),
        seed: Array(repeating: 1, count: 32))
      let passed = (try? check(json, by: known(own: key))) != nil
      #expect(passed == isAccepted, "\(milliseconds)")
    }
  }

  @Test func `a device whose key came with its id has no unsigned sessions`() throws {
    let first = try DeviceKey(
      deviceId: Self.device, created: home.clock.now() + .days(2), isFirst: true,
      seed: Array(repeating: 1, count: 32))
    let unsigned = try sidecar().json()
    #expect(throws: ReplicaError.self) { try check(unsigned, by: known(own: first)) }
    // Elsewhere as well, once a reader has seen a revision that says so.
    try check(unsigned, by: known())
    try check(signed(first), by: known())
    let error = #expect(throws: ReplicaError.self) { try check(unsigned, by: known()) }
    #expect(error?.detail.contains("is not signed") == true)
  }

  @Test func `a key came with its device only where nothing was sent before`() throws {
    let (local, device) = (home.home, home.device)
    let key = try #require(try DeviceKey.load(local, device, on: home.clock.machine))
    #expect(key.isFirst && key.since == KnownKeys.always)
    #expect(DeviceKey.find(local, deviceId: device.deviceId)?.isFirst == true)
    for trace in [local.path + "/stores.json", local.cachePath + "/manifest.sqlite"] {
      try File.remove(local.keyPath)
      try FileManager.default.createDirectory(
        atPath: local.cachePath, withIntermediateDirectories: true)
      try AtomicFile.write(Array("[]".utf8), to: trace)
      let later = try #require(try DeviceKey.load(local, device, on: home.clock.machine))
      #expect(!later.isFirst && later.since == later.created, "\(trace)")
      try File.remove(trace)
    }
    // A version without signatures made the id.
    try File.remove(local.keyPath)
    let record = String(decoding: try AtomicFile.read(local.devicePath), as: UTF8.self)
    let former = record.replacingOccurrences(of: "\"signs\" : true", with: "\"signs\" : false")
    #expect(former != record)
    try AtomicFile.write(Array(former.utf8), to: local.devicePath)
    #expect(try DeviceKey.load(local, device, on: home.clock.machine)?.isFirst == false)
  }

  @Test func `a key that others could read becomes private`() throws {
    let made = try #require(try DeviceKey.load(home.home, home.device, on: home.clock.machine))
    try File.setMode(0o666, of: home.home.keyPath)
    #expect(
      try DeviceKey.load(home.home, home.device, on: home.clock.machine)?.publicKey
        == made.publicKey)
    #expect(try FileStatus(home.home.keyPath)?.rights == 0o600)
  }

  @Test(.enabled(if: getuid() == 0, "only root can give a file away"))
  func `a key of another user is refused`() throws {
    _ = try #require(try DeviceKey.load(home.home, home.device, on: home.clock.machine))
    #expect(chown(home.home.keyPath, 65534, 65534) == 0)
    let error = #expect(throws: ReplicaError.self) {
      try DeviceKey.load(home.home, home.device, on: home.clock.machine)
    }
    #expect(error?.detail.contains("another user") == true)
  }

  @Test func `the first key of a device is trusted until another is configured`() throws {
    try check(signed(key(1)), by: known())
    try check(signed(key(1)), by: known())
    #expect(try FileStatus(home.home.path + "/trust.json")?.rights == 0o600)
    for keys in [known(), known()] {
      let error = #expect(throws: ReplicaError.self) { try check(signed(key(2)), by: keys) }
      #expect(error?.detail.contains("trust.json") == true)
      #expect(throws: ReplicaError.self) { try check(sidecar().json(), by: keys) }
    }
    // A key named by a person comes first.
    let named = try [Self.device: KnownKeys.Key(key(2).publicKey, since: nil)]
    try check(signed(key(2)), by: known(named))
    #expect(throws: ReplicaError.self) { try check(signed(key(1)), by: known(named)) }
  }

  @Test func `a home has one key, and a copied home gets another`() throws {
    let made = try #require(try DeviceKey.load(home.home, home.device, on: home.clock.machine))
    #expect(
      try DeviceKey.load(home.home, home.device, on: home.clock.machine)?.publicKey
        == made.publicKey)
    #expect(try FileStatus(home.home.keyPath)?.rights == 0o600)
    #expect(!"\(made) \(String(reflecting: made))".contains("seed"))
    // A copied home is another device.
    try File.remove(home.home.devicePath)
    let copy = try Device.load(home.home, on: home.clock.machine)
    #expect(DeviceKey.find(home.home, deviceId: copy.deviceId) == nil)
    #expect(
      try DeviceKey.load(home.home, copy, on: home.clock.machine)?.publicKey != made.publicKey)
    // Its original's stays: both machines may use one home in turn.
    let own = DeviceKey.find(home.home, deviceId: copy.deviceId)?.publicKey
    for _ in 0..<2 {
      let former = try DeviceKey.load(home.home, home.device, on: home.clock.machine)
      #expect(former?.publicKey == made.publicKey && former?.created == made.created)
      #expect(
        try DeviceKey.load(home.home, copy, on: home.clock.machine)?.publicKey == own && own != nil)
    }
    #expect(DeviceKey.find(home.home, deviceId: home.device.deviceId)?.publicKey == made.publicKey)
    #expect(try Directory.names(in: home.home.controlPath).count == 2)
  }

  @Test func `revisions below a former id of the home have to be signed, too`() throws {
    let machine = home.clock.machine
    let former = home.device.deviceId
    _ = try #require(try DeviceKey.load(home.home, home.device, on: machine))
    try File.remove(home.home.devicePath)
    let device = try Device.load(home.home, on: machine)
    let own = try #require(try DeviceKey.load(home.home, device, on: machine))
    let json = try sidecar().json()
    let folder = SessionFolder(device: former, day: folder.day)
    try check(json, by: known(own: own), in: folder)
    let keys = KnownKeys(home.home, named: [:], own: own, former: [former, "gone"])
    let error = #expect(throws: ReplicaError.self) { try check(json, by: keys, in: folder) }
    #expect(error?.detail.contains("is not signed") == true)
  }

  /// RFC 8032, section 7.1, test 1.
  @Test func `keys match the test vectors of RFC 8032`() throws {
    let seed = Array(
      try #require(Data(base64Encoded: "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=")))
    let key = try DeviceKey(deviceId: Self.device, created: home.clock.now(), seed: seed)
    #expect(key.publicKey.description == "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
    #expect(PublicKey("ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=") == key.publicKey)
    #expect(PublicKey("ed25519:AAAA") == nil && PublicKey("rsa:11qYAYKx") == nil)
  }
}
