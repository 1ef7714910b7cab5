import Foundation
import Platform
import SessionLog

/// Remembers which error was reported when, so that cron, which mails every line, repeats it once an
/// hour and not once a minute.
struct HourlyReport {
  private struct Last: Codable {
    let text: String
    let at: Timestamp
  }

  private let folder: String
  private let name: String
  private var path: String { "\(folder)/\(name).json" }
  private static let interval = Duration.hours(1)

  /// Keeps its note in a home's cache.
  ///
  /// - Parameter name: what is reported; each thing has a note of its own.
  init(_ home: Home, name: String = "reported") { (folder, self.name) = (home.cachePath, name) }

  /// Whether an error is to be reported now; notes that it was, where it is.
  ///
  /// Where nothing can be noted it is due each time: better too often than never.
  func isDue(_ text: String, at now: Timestamp) -> Bool {
    if let json = try? AtomicFile.read(path),
      let last = try? JSONDecoder().decode(Last.self, from: Data(json)), last.text == text
    {
      let age = now - last.at
      // A note from the future is another clock's.
      if age >= .zero, age < Self.interval { return false }
    }
    try? Directory.make(folder)
    if let json = try? JSONEncoder().encode(Last(text: text, at: now)) {
      try? AtomicFile.write(Array(json), to: path, isDurable: false)
    }
    return true
  }
}
