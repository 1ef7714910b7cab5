import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@Suite(.tags(.medium)) struct SessionClaimsTests {
  private let home: TestHome
  private let folder: String

  init() throws {
    home = try TestHome()
    folder = home.folder + "/claims"
  }

  private func claims(_ user: UInt32) -> SessionClaims {
    let sessions = home.home.sessionsPath
    return SessionClaims(folder, of: Account(id: user), on: home.clock.machine) { day in
      File.exists("\(sessions)/\(day)")
    }
  }

  private func session(_ random: String, day: String = "20260122") throws -> SessionID {
    try #require(SessionID("\(day)t143005z-\(random)"))
  }

  @Test func `the first user keeps a session, and later ones are told so`() throws {
    let (one, two) = (try session("k3f9a7c2"), try session("k3f9a7c3"))
    try claims(1).claim([one])
    let other = claims(2)
    try other.claim([one, two])
    #expect(other.isOwn(one) == false && other.isOwn(two) == true)
    let again = claims(1)
    #expect(again.isOwn(one) == true && again.isOwn(two) == false)
    // Nothing is written for a session that is known.
    let path = "\(folder)/\(one.day)"
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "\(one) 1\n\(two) 2\n")
  }

  @Test(
    arguments: [
      "20260122t143005z-k3f9", "\u{0}\u{0}\u{0}", "20260122t143005z-k3f9a7c2 x\n",
      "20260122t143005z-k3f9a7c2 1",
    ])
  func `a line that a power failure cut is ignored`(torn: String) throws {
    let (one, two) = (try session("k3f9a7c2"), try session("k3f9a7c3"))
    try claims(1).claim([two])
    let path = "\(folder)/\(two.day)"
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(torn.utf8))
    try handle.close()
    #expect(claims(2).isOwn(one) == true)
    #expect(claims(1).isOwn(one) == false && claims(1).isOwn(two) == true)
  }

  @Test func `ids of days that cannot be share a file`() throws {
    let ids = try ["20990101", "19990101", "20010101"].map { try session("k3f9a7c2", day: $0) }
    try claims(1).claim(ids)
    #expect(try Directory.names(in: folder) == ["other"])
    #expect(claims(2).isOwn(ids[0]) == false && claims(1).isOwn(ids[2]) == true)
  }

  @Test func `a home that claims very many sessions at once claims the rest later`() throws {
    let many = try (0..<SessionClaims.most + 5).map { number in
      let digits = String(number, radix: 36)
      return try session(String(repeating: "0", count: 8 - digits.count) + digits)
    }
    try claims(1).claim(many)
    // Those claimed before need no room.
    let again = claims(1)
    try again.claim(many)
    #expect(many.allSatisfy { again.isOwn($0) == true })
  }

  @Test func `the record of a day ends long after its sessions`() throws {
    let (old, new) = (try session("k3f9a7c2"), try session("k3f9a7c3", day: "20290101"))
    try claims(1).claim([old])
    home.clock.advance(seconds: (new.startedAt - old.startedAt).seconds)
    try Data().write(to: URL(filePath: "\(folder)/other"))
    try claims(1).claim([new])
    #expect(try Directory.names(in: folder).sorted() == [new.day, "other"].sorted())
  }

  @Test func `a session that is still in a home stays with its user`() throws {
    let (old, new) = (try session("k3f9a7c2"), try session("k3f9a7c3", day: "20290101"))
    try claims(1).claim([old])
    try Directory.make(home.home.files(for: old).directory)
    home.clock.advance(seconds: (new.startedAt - old.startedAt).seconds)
    #expect(claims(2).isOwn(old) == false)
    try claims(2).claim([new])
    let other = claims(2)
    try other.lookUp([old])
    #expect(other.isOwn(old) == false && claims(1).isOwn(old) == true)
  }

  @Test func `an id of the future stays with its user when its day comes`() throws {
    let session = try session("k3f9a7c2", day: "20260301")
    try claims(1).claim([session])
    #expect(try Directory.names(in: folder) == ["other"])
    home.clock.advance(seconds: (session.startedAt - home.clock.now()).seconds + 60)
    let other = claims(2)
    try other.lookUp([session])
    #expect(other.isOwn(session) == false)
    #expect(claims(2).isOwn(session) == false && claims(1).isOwn(session) == true)
  }

  @Test func `a record that cannot be written claims nothing`() throws {
    let claims = SessionClaims("/dev/null/claims", of: Account(id: 1), on: home.clock.machine) {
      _ in
      false
    }
    #expect(throws: SystemError.self) { try claims.claim([session("k3f9a7c2")]) }
    #expect(try claims.isOwn(session("k3f9a7c2")) == nil)
  }
}
