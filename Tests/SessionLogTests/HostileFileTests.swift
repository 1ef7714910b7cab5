import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

/// Hostile replacements and contents that a home's user may give a file.
@Suite(.tags(.medium)) struct HostileFileTests {
  enum Thing: CaseIterable {
    case pipe, link, folder, device

    func put(at path: String) throws {
      switch self {
      case .pipe: #expect(mkfifo(path, 0o600) == 0)
      case .link: #expect(symlink("/etc/hostname", path) == 0)
      case .folder: #expect(mkdir(path, 0o700) == 0)
      case .device: #expect(symlink("/dev/zero", path) == 0)
      }
    }
  }

  /// Links make many names of one long file.
  @Test func `of a long sidecar nothing is read, and of a long reason its start`() throws {
    let local = try TestHome()
    let session = try local.session(Array("one\n".utf8))
    let sidecar = local.home.files(for: session).sidecar
    let json = try AtomicFile.read(sidecar)
    let padding = [UInt8](repeating: 0x20, count: 1 << 20)
    try AtomicFile.write(json + padding.dropFirst(json.count), to: sidecar)
    #expect(try Sidecar.load(sidecar).sessionId == session)
    try AtomicFile.write(json + padding, to: sidecar)
    #expect(throws: SystemError.self) { try Sidecar.load(sidecar) }

    let quarantine = Quarantine(local.home)
    try quarantine.add(session, reason: String(repeating: "x", count: 100_000))
    #expect(try quarantine.sessions().map(\.reason.count) == [4096])
  }

  @Test(arguments: Thing.allCases)
  func `a file that is not regular is never opened`(thing: Thing) throws {
    let local = try TestHome()
    let session = try local.session(Array("one\n".utf8))
    let files = local.home.files(for: session)
    for path in [files.lock, files.marker, files.log, files.sidecar, local.home.lockPath] {
      unlink(path)
      try thing.put(at: path)
    }
    #expect(throws: SystemError.self) { try FileLock.shared(files.lock) }
    #expect(throws: SystemError.self) { try FileLock.tryExclusive(local.home.lockPath) }
    #expect(throws: SystemError.self) { try local.home.mark(session) }
    #expect(throws: SystemError.self) { try AtomicFile.read(files.log) }
    #expect(throws: SystemError.self) { try Sidecar.load(files.sidecar) }
    #expect(throws: SystemError.self) { _ = try LiveLog(files, rotateAt: 0) }
    #expect {
      _ = try Descriptor(opening: files.log, [.write, .create])
    } throws: {
      "\($0)".contains("not a regular file")
    }
  }

  @Test(arguments: Thing.allCases)
  func `irregular auxiliary files do not stop the recording`(thing: Thing) throws {
    let local = try TestHome()
    let files = local.home.files(
      for: SessionID.make(at: local.clock.now(), by: local.clock.machine))
    try Directory.make(files.directory)
    try thing.put(at: files.reserve)
    try thing.put(at: files.rotated)
    var log = try LiveLog(files, rotateAt: 4)
    for _ in 0..<3 {
      let (count, error) = Array("line\n".utf8).withUnsafeBytes { log.append($0) }
      #expect(count == 5 && error == 0)
    }
  }

  @Test func `a file's claimed length is limited`() throws {
    let path = NSTemporaryDirectory() + "tidemark-" + UUID().uuidString
    let file = try Descriptor(opening: path, [.readWrite, .create])
    defer { unlink(path) }
    var length: off_t = .max
    while ftruncate(file.number, length) != 0 { length /= 2 }
    let known = try #require(try FileStatus(path)).length
    #expect(known <= 10_000_000_000_000 && known <= length)
  }

  /// Each is a sidecar that no version writes.
  @Test(arguments: [
    ("source.headLength", "-1"), ("source.headLength", "4097"), ("source.base", "-1"),
    ("source.base", "9223372036854775807"), ("source.length", "-5"),
    ("source.length", "9223372036854775807"), ("seal.length", "-1"),
    ("seal.length", "9223372036854775807"), ("fileSizeBytes", "-1"),
    ("fileSizeBytes", "9223372036854775807"), ("generation", "0"),
    ("generation", "9223372036854775807"), ("clockOffset", "-9223372036854775808"),
    ("recorder.pid", "-1"), ("recorder.memoryKills", "-9223372036854775808"),
    ("levels.INFO", "9223372036854775807"), ("redacted.card", "-1"),
    ("startedAt", "\"99999-01-01T00:00:00Z\""),
  ])
  func `numbers in a sidecar are validated`(key: String, value: String) throws {
    let local = try TestHome()
    let session = try local.session(Array("one\n".utf8))
    var sidecar = try Sidecar.load(local.home.files(for: session).sidecar)
    sidecar.source = .init(
      path: "/a", device: 1, inode: 2, base: 3, length: 4, headLength: 5, headHash: "x")
    sidecar.seal = .init(
      store: "s", revision: "r", sealedAt: local.clock.now(), digest: nil, length: 7)
    sidecar.generation = 2
    sidecar.clockOffset = -5
    sidecar.redacted = ["card": 1]
    sidecar.redaction = [.init(from: 0, rules: "r")]
    let sound = try JSONSerialization.jsonObject(with: Data(sidecar.json()))
    #expect(try Sidecar(json: sidecar.json()) == sidecar)
    let number = try JSONSerialization.jsonObject(
      with: Data(value.utf8), options: .fragmentsAllowed)
    var object = try #require(sound as? [String: Any])
    let path = key.split(separator: ".").map(String.init)
    if path.count == 1 {
      object[key] = number
    } else {
      var inner = try #require(object[path[0]] as? [String: Any])
      inner[path[1]] = number
      object[path[0]] = inner
    }
    let json = Array(try JSONSerialization.data(withJSONObject: object))
    #expect(throws: DecodingError.self) { try Sidecar(json: json) }
  }

  @Test(arguments: [-1, .max] as [StreamOffset])
  func `offsets of redaction epochs are validated`(offset: StreamOffset) throws {
    let local = try TestHome()
    let session = try local.session(Array("one\n".utf8))
    var sidecar = try Sidecar.load(local.home.files(for: session).sidecar)
    sidecar.redaction = [.init(from: 0, rules: "r"), .init(from: offset, rules: "r")]
    let json = try sidecar.json()
    #expect(throws: DecodingError.self) { try Sidecar(json: json) }
  }
}
