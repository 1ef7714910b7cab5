import Foundation
import LogRecords
import Logging
import Platform
import Redaction
import SessionLog
import TestSupport
import Testing

@testable import TidemarkLogging

/// Values that must not leave this machine.
@Suite(.tags(.medium)) struct PrivateValueTests {
  private static func masked(_ text: String, _ redactor: Redactor = .standard) -> String {
    String(decoding: redactor.redacted(Array(text.utf8), format: .lines), as: UTF8.self)
  }

  @Test func `a private value is marked locally and masked on upload`() throws {
    let home = try LoggingHome()
    let session = try home.session()
    let logger = Logger(label: "Net") { TidemarkLogHandler(label: $0, session: session) }
    logger.info(
      "hello \("anna of the very long name", privacy: .private), \(7, privacy: .public)",
      metadata: ["user": "\("anna", privacy: .private)", "mail": .private("a@b.c"), "n": "1"])
    session.info("again \("anna", privacy: .private)")
    let text = try home.text(session)
    #expect(
      text.contains(
        "hello <private:anna of the very long name>, 7 mail=<private:a@b.c> n=1 "
          + "user=<private:anna>\n"))
    let sent = Self.masked(text)
    #expect(!sent.contains("anna") && !sent.contains("a@b.c") && sent.utf8.count == text.utf8.count)
    #expect(sent.contains("hello <private:[REDACTED:private"))
    #expect(sent.contains("again <private:****>\n"))
  }

  /// No content of a value ends its marks early.
  @Test(arguments: [
    "a > b", ">", "line\nsecond > line\n", "<private:x>", String(repeating: "secret ", count: 9000),
    String(repeating: "ä", count: 6000), "", "\r\n", "é>",
  ])
  func `no part of a private value escapes its marks`(_ value: String) throws {
    let home = try LoggingHome()
    let session = try home.session()
    session.info("[\(value, privacy: .private)]")
    let sent = Self.masked(try home.text(session))
    let record = try #require(sent.range(of: "[App] ").map { sent[$0.upperBound...] })
    let rest = record.replacing(/<private:(\[REDACTED:private\**\]|\**)>/, with: "")
    #expect(rest.allSatisfy { "[] \n".contains($0) }, "\(rest.prefix(200))")
  }

  @Test func `no configuration disables the masking of private values`() throws {
    let none = try Redactor(RedactionRules(groups: []))
    #expect(Self.masked("x <private:anna> y\n", none) == "x <private:****> y\n")
  }
}
