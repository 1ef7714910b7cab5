import Foundation
import Platform
package import Redaction
import Replica
package import SessionLog

/// The rule sets for redaction: the configured one, and earlier ones that have redacted logs, which
/// the home keeps as long as it exists.
package final class RuleLibrary: Sendable {
  /// The configured rules.
  package let current: Redactor
  /// Their version.
  package let version: String

  private let home: Home
  private let json: [UInt8]
  private let known: Guarded<[String: Redactor]>

  private static let standardJSON = Result { try Redactor.standard.rules.json() }

  /// Prepares the configured rules.
  ///
  /// - Throws: ``Redaction/RedactionError`` for invalid rules.
  package init(_ home: Home, _ rules: RedactionRules) throws {
    self.home = home
    if rules == Redactor.standard.rules {
      (current, json) = (Redactor.standard, try Self.standardJSON.get())
    } else {
      (current, json) = (try Redactor(rules), try rules.json())
    }
    version = RedactionRules.version(json: json)
    known = Guarded([version: current])
  }

  private func path(_ version: String) -> String { "\(home.rulesPath)/\(version).json" }

  /// The rules of a version; nil if this home lacks them.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func redactor(_ version: String) throws -> Redactor? {
    if let redactor = known.withLock({ $0[version] }) { return redactor }
    // The version becomes a file name, and comes from files that others may have written.
    guard version.count == 16, version.allSatisfy(\.isHexDigit) else { return nil }
    guard let bytes = try bytes(of: version), let rules = try? RedactionRules(json: bytes),
      try rules.version() == version, let redactor = try? Redactor(rules)
    else { return nil }
    known.withLock { $0[version] = redactor }
    return redactor
  }

  private func bytes(of version: String) throws -> [UInt8]? {
    do {
      return try AtomicFile.read(path(version))
    } catch let error as SystemError where error.isNotFound {
      return nil
    }
  }

  /// The rules of a stream's epochs.
  ///
  /// - Throws: ``Replica/ReplicaError`` if this home lacks a rule set.
  func spans(_ epochs: [Sidecar.RedactionEpoch]) throws -> [RedactionSpan] {
    try epochs.map { epoch in
      guard let redactor = try redactor(epoch.rules) else {
        throw ReplicaError(
          .localLogChanged,
          "the redaction rules \(path(epoch.rules)), by which it was sent, are no longer on this machine"
        )
      }
      return RedactionSpan(epoch, redactor)
    }
  }

  /// Keeps the configured rules, durably, before they redact anything that is sent.
  ///
  /// - Throws: ``Platform/SystemError``.
  func keepCurrent() throws {
    guard !File.exists(path(version)) else { return }
    try Directory.make(home.rulesPath)
    try AtomicFile.write(json, to: path(version))
  }

  /// Versions in the home, the configured one first.
  ///
  /// - Throws: ``Platform/SystemError``.
  func versions() throws -> [String] {
    let kept = try Directory.names(in: home.rulesPath).filter { $0.hasSuffix(".json") }
      .map { String($0.dropLast(".json".count)) }
    return [version] + kept.sorted().filter { $0 != version }
  }
}
