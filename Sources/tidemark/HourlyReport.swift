import Foundation
import Platform
import SessionLog
import TidemarkUpload

/// Remembers when an error was reported, so that cron, which mails every line, repeats it once an
/// hour instead of once a minute.
struct HourlyReport {
  /// What is reported.
  ///
  /// Each kind has its own record, so that two lasting problems do not make each other due.
  enum Kind: String, CaseIterable {
    /// An error that ended an upload.
    case uploadError = "upload-error"
    /// What a pass left undone.
    case partial
    /// The command of `on-crash` is not run.
    case crashCommand = "crash-command"
    /// The command of `on-stale` is not run.
    case staleCommand = "stale-command"
    /// A store or a target of alerts that fails.
    case alerts
    /// Another command has held the home's lock for too long; see ``LongPass``.
    case longPass = "long-pass"
    /// Another pass of alerts has run for too long.
    case longAlerts = "long-alerts"
    /// See ``RefusedHomes``.
    case refusedHomes = "refused-homes"
  }

  private struct Last: Codable {
    let text: String
    let at: Timestamp
  }

  private let folder: String
  private let kind: Kind
  private var path: String { "\(folder)/\(kind.rawValue).json" }

  /// Keeps its record in a home's cache.
  init(_ home: Home, _ kind: Kind) { (folder, self.kind) = (home.cachePath, kind) }

  /// Whether to report an error now; if so, records that it was reported.
  ///
  /// If the record cannot be written, the error is always due: better too often than never.
  func isDue(_ text: String, at now: Timestamp) -> Bool {
    if let json = try? AtomicFile.read(path),
      let last = try? JSONDecoder().decode(Last.self, from: Data(json)), last.text == text
    {
      let age = now - last.at
      // A time in the future comes from another clock.
      if age >= .zero, age < UploadPolicy.reportInterval { return false }
    }
    try? Directory.make(folder)
    if let json = try? JSONEncoder().encode(Last(text: text, at: now)) {
      try? AtomicFile.write(Array(json), to: path, isDurable: false)
    }
    return true
  }
}
