import Foundation
import LogRecords
import Platform
package import Redaction
import Replica
package import SessionLog

/// The rule sets for redaction: the configured one, and earlier ones that have redacted logs, which
/// the home keeps as long as it exists.
package final class RuleLibrary: Sendable {
  /// The version of the configured rules.
  package let version: String

  private let home: Home
  private let configured: RedactionRules
  private let known: Guarded<[String: Redactor]>

  /// The version of the built-in rules that are on by default: to compute it, and to compile them,
  /// takes longer than the rest of a pass that finds nothing new.
  static let standardVersion = "1962e0e10e1fff47"

  /// The configured rules.
  package var current: Redactor { known.withLock { $0[version] } ?? .standard }

  /// Prepares the configured rules.
  ///
  /// - Throws: ``Redaction/RedactionError`` for invalid rules.
  package init(_ home: Home, _ rules: RedactionRules) throws {
    (self.home, configured) = (home, rules)
    if rules == RedactionRules() {
      version = Self.standardVersion
      known = Guarded([:])
    } else {
      version = try rules.version()
      known = Guarded([version: try Redactor(rules)])
    }
  }

  private func path(_ version: String) -> String { "\(home.rulesPath)/\(version).json" }

  /// The rules of a version; nil if this home lacks them.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func redactor(_ version: String) throws -> Redactor? {
    if version == self.version { return current }
    if version == Self.standardVersion { return .standard }
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
          "the redaction rules \(path(epoch.rules)), by which it was sent, are no longer on this machine: "
            + "put that file back from a backup; without it nothing more of this session is sent"
        )
      }
      return RedactionSpan(epoch, redactor)
    }
  }

  /// The unrecorded rules under which a log was sent: those that turn its bytes into the ones that the
  /// segments' names state; nil if none do, or none of these bytes is here.
  ///
  /// - Throws: ``Platform/SystemError``.
  func epoch(
    of log: LocalStream, _ format: LogFormat, sentAs segments: [SegmentName]
  ) throws -> Sidecar.RedactionEpoch? {
    let local = try log.available()
    let segments = segments.filter { $0.range.clamped(to: local) == $0.range }
    guard !segments.isEmpty else { return nil }
    for version in try versions() {
      guard let redactor = try? redactor(version) else { continue }
      let epoch = Sidecar.RedactionEpoch(from: 0, rules: version)
      let view = log.redacted(by: [RedactionSpan(epoch, redactor)], format)
      if try segments.allSatisfy({ try $0.matches(view) }) { return epoch }
    }
    return nil
  }

  /// Keeps the configured rules, durably, before they redact anything that is sent.
  ///
  /// - Throws: ``Platform/SystemError``; `EncodingError`.
  func keepCurrent() throws {
    guard !File.exists(path(version)) else { return }
    try Directory.make(home.rulesPath)
    try AtomicFile.write(try configured.json(), to: path(version))
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
