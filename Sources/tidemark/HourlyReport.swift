import Foundation
import Platform
import SessionLog

/// Remembers when an error was reported, so that cron, which mails every line, repeats it once an
/// hour instead of once a minute.
struct HourlyReport {
  private struct Last: Codable {
    let text: String
    let at: Timestamp
  }

  private let folder: String
  private let name: String
  private var path: String { "\(folder)/\(name).json" }
  private static let interval = Duration.hours(1)

  /// Keeps its record in a home's cache.
  ///
  /// - Parameter name: the kind of report; each has its own record.
  init(_ home: Home, name: String = "reported") { (folder, self.name) = (home.cachePath, name) }

  /// Whether to report an error now; if so, records that it was reported.
  ///
  /// If the record cannot be written, the error is always due: better too often than never.
  func isDue(_ text: String, at now: Timestamp) -> Bool {
    if let json = try? AtomicFile.read(path),
      let last = try? JSONDecoder().decode(Last.self, from: Data(json)), last.text == text
    {
      let age = now - last.at
      // A time in the future comes from another clock.
      if age >= .zero, age < Self.interval { return false }
    }
    try? Directory.make(folder)
    if let json = try? JSONEncoder().encode(Last(text: text, at: now)) {
      try? AtomicFile.write(Array(json), to: path, isDurable: false)
    }
    return true
  }
}
