import Foundation
import Platform
import Redaction
@testable import SessionLog
import TestSupport
import Testing

/// What a sidecar tells the store, and what a reader believes of one.
@Suite(.tags(.small)) struct SidecarTests {
  private static let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
  /// Text that is sent as it is, with the reason.
  private static let unmasked = [
    "deviceId": "random, and part of every key",
    "crash.lines": "cut from the redacted log",
    "levels": "the names of levels",
    "digest": "a hash",
    "basis": "names of objects", "objects": "names of objects", "previous": "the name of an object",
    "indexes": "hashes",
    "signature.by": "a hash", "signature": "its public key", "signature.sig": "a signature",
    "redaction.rules": "the version of a rule set",
    "redacted": "kinds of masks",
    // The causes of ends are composed by the recorder: numbers, and names of signals.
    "cause": "numbers and fixed words",
  ]
  private static let local: Set = [
    "recorder", "seal", "source", "agesFrom", "erasesBefore", "remoteReapedAt",
  ]

  /// A sidecar in which every member has a value, and every free text a secret.
  private func full() throws -> Sidecar {
    let secret = Self.secret
    let json = """
      {"sessionId":"20260122t143005z-k3f9a7c2","fileName":"\(secret)","format":"lines",
      "userId":"\(secret)","uid":7,"principal":"\(secret)","deviceId":"e7ai95i13pgofqng",
      "deviceName":"\(secret)","deviceModel":"\(secret)","osVersion":"\(secret)",
      "appName":"\(secret)","appVersion":"\(secret)","buildNumber":"\(secret)",
      "startedAt":"2026-01-22T14:30:05.000Z","lastUpdatedAt":"2026-01-22T14:30:05.000Z",
      "endedAt":"2026-01-22T14:30:05.000Z","status":"CRASHED","cause":"signal 11 (SIGSEGV)",
      "crash":{"lines":["\(secret)"],"core":"\(secret)"},"fileSizeBytes":1,"lost":1,
      "scenarios":["\(secret)"],"categories":["\(secret)"],"levels":{"INFO":1},"clockOffset":0,
      "continues":"20260122t143005z-k3f9a7c2","generation":2,"givenUp":[1],
      "former":[{"generation":1,"length":1,"until":"2026-01-22T14:30:05.000Z"}],
      "digest":"\(secret)","basis":["\(secret)"],"objects":["\(secret)"],"indexes":["\(secret)"],
      "previous":"\(secret)","consent":"metadata",
      "signature":{"by":"\(secret)","key":"\(secret)","sig":"\(secret)",
      "since":"2026-01-22T14:30:05.000Z"},"redaction":[{"from":0,"rules":"\(secret)"}],
      "redacted":{"github":1}}
      """
    return try Sidecar(json: Array(json.utf8))
  }

  /// The texts in a value, by the path of their member.
  private func texts(in value: Any, at path: String) -> [(path: String, text: String)] {
    if let text = value as? String { return [(path, text)] }
    return Mirror(reflecting: value).children.flatMap { child in
      let label = child.label.flatMap { name in
        name == "some" || name.hasPrefix(".") || name == "key" || name == "value" ? nil : name
      }
      let isNumbered = label.map { $0.first == "[" } ?? true
      return texts(in: child.value, at: isNumbered ? path : path + "." + (label ?? ""))
    }
  }

  @Test func `every text in a sidecar is masked, except those with a reason`() throws {
    let original = try full()
    let sent = original.remoteForm(redactedBy: try Redactor(RedactionRules()))
    for member in Mirror(reflecting: original).children {
      let name = try #require(member.label)
      if Self.local.contains(name) { continue }
      if case Optional<Any>.none = member.value { Issue.record("fill in \(name), a new member") }
    }
    for member in Mirror(reflecting: sent).children {
      let name = try #require(member.label)
      // Types of one word cannot hold free text.
      if member.value is SessionID || member.value is SessionID? { continue }
      for (path, text) in texts(in: member.value, at: name)
      where text.contains(Self.secret) {
        #expect(
          Self.unmasked[path] != nil, "\(path) is not masked: mask it, or state why not")
      }
    }
    let masked = try String(decoding: sent.json(), as: UTF8.self)
    #expect(masked.contains("[REDACTED:github") && !masked.contains(#""principal" : "ghp_"#))
  }

  @Test func `former streams are few, and their generations ascend`() throws {
    func former(_ generations: some Sequence<Int>) throws -> Sidecar {
      var sidecar = try full()
      sidecar.former = try generations.map {
        .init(
          generation: $0, length: 1,
          until: try #require(Timestamp(iso: "2026-01-22T14:30:05.000Z")))
      }
      return try Sidecar(json: sidecar.json())
    }
    #expect(try former(1...32).former?.count == 32)
    #expect(try former([3, 7]).former?.count == 2)
    for wrong in [Array(1...33), [1, 1], [2, 1], [0]] {
      #expect(throws: DecodingError.self, "\(wrong)") { try former(wrong) }
    }
  }

  @Test func `a damaged sidecar file is described in words`() throws {
    let home = try TestHome()
    let path = home.folder + "/20260122t143005z-k3f9a7c2.json"
    try Data("{}".utf8).write(to: URL(filePath: path))
    let error = #expect(throws: SidecarError.self) { try Sidecar.load(path) }
    let text = try #require(error?.description)
    #expect(text.contains("is missing") && !text.contains("keyNotFound"), "\(text)")
  }
}
