import Foundation
import Platform

/// `quarantine/`: why sessions could not be sent, one small file per session.
package struct Quarantine: Sendable {
  private let directory: String

  /// The quarantine of a home.
  package init(_ home: Home) { directory = home.quarantinePath }

  /// Records why a session could not be sent; the session's files stay where they are.
  ///
  /// - Throws: ``Platform/SystemError`` when the record cannot be written.
  package func add(_ session: SessionID, reason: String) throws {
    try AtomicFile.write(Array((reason + "\n").utf8), to: path(session))
  }

  /// Removes the record.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func release(_ session: SessionID) throws { try File.remove(path(session)) }

  /// Maximum number of bytes of a reason, and of records, that are read: a home's user may make any.
  private static let (longest, most) = (4096, 10_000)

  /// Sessions in quarantine, with the reasons.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func sessions() throws -> [(session: SessionID, reason: String)] {
    try Directory.names(in: directory).sorted().prefix(Self.most).compactMap { name in
      guard name.hasSuffix(".txt"), let session = SessionID(String(name.dropLast(4))) else {
        return nil
      }
      let bytes = try AtomicFile.readStart(path(session), count: Self.longest)
      let reason = String(decoding: bytes, as: UTF8.self)
      return (session, reason.trimmingCharacters(in: .newlines))
    }
  }

  private func path(_ session: SessionID) -> String { "\(directory)/\(session).txt" }
}
