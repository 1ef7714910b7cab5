import Platform
import SessionLog

/// A local log in whose place the store's copy counts.
struct ReplacedLog {
  let path: String
  /// Its state; nil if nothing is left of it.
  var log: Sidecar.Seal.LogState?
  /// Whether it is not the beginning of what was sent.
  var differs = false
  /// Its files that may have bytes which the store lacks.
  var files: [String] = []
  /// Whether what it has beyond that is sent.
  var hasRest = false

  /// What became of it, for a person.
  ///
  /// - Parameters:
  ///   - length: stream bytes that were sealed.
  ///   - lost: bytes after them that are gone; nil if none are known to be.
  func text(sealed length: StreamOffset, lost: ByteCount?) -> String {
    let without = lost.map { $0 > 0 ? ", without the last \($0)" : "" } ?? ""
    guard let log else {
      return "\(path) is gone: sealed with the \(length) bytes that were sent\(without)"
    }
    guard differs else {
      return
        "\(path) ends at byte \(log.length), and lost its end: sealed with the \(length) bytes "
        + "that were sent\(without)"
    }
    return "\(path) was changed after it was sent: sealed with the \(length) bytes "
      + (hasRest ? "that were sent and what follows them in the file" : "that were sent")
      + (files.count > 1
        ? ". Its files stay: 'tidemark import \(files.map(\.shellWord).joined(separator: " "))' sends each as another "
          + "session"
        : ". The file stays: 'tidemark import \((files.first ?? path).shellWord)' sends it as another session")
  }
}
