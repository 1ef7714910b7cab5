package import Platform

/// Crashes of one kind: the same program, cause, and shape of the last lines.
package struct CrashGroup: Sendable, Codable, Equatable {
  /// The program.
  package let app: String
  /// How it ended.
  package let cause: String
  /// Their common signature.
  package let signature: CrashSignature
  /// Number of crashes.
  package let count: Int
  /// Names of the devices, sorted.
  package let devices: [String]
  /// The end of the first one.
  package let first: Timestamp
  /// The end of the last one.
  package let last: Timestamp
  /// The program's version in the first one.
  package let firstVersion: String?
  /// Its version in the last one.
  package let lastVersion: String?
  /// The session of the last one.
  package let session: String
  /// Its last lines.
  package let lines: [String]

  /// Groups crashes, the largest group first.
  package static func groups(of crashes: [CrashReport]) -> [CrashGroup] {
    Dictionary(grouping: crashes, by: \.signature.id).values
      .compactMap { CrashGroup($0.sorted { $0.endedAt < $1.endedAt }) }
      .sorted { ($0.count, $0.last, $0.session) > ($1.count, $1.last, $1.session) }
  }

  private init?(_ crashes: [CrashReport]) {
    guard let first = crashes.first, let last = crashes.last else { return nil }
    (app, cause, signature) = (last.subject.app ?? "unknown", last.cause, last.signature)
    count = crashes.count
    // Two devices may have the same name.
    devices = Dictionary(grouping: crashes, by: \.subject.device).values
      .compactMap(\.last?.subject.deviceName).sorted()
    (self.first, self.last) = (first.endedAt, last.endedAt)
    (firstVersion, lastVersion) = (first.subject.version, last.subject.version)
    (session, lines) = (last.subject.session ?? "", last.lines)
  }
}
