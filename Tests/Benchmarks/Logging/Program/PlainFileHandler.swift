import Foundation
import Logging
import Synchronization

/// A hand-written swift-log handler for a file: a lock, a buffer, and one `write` per record.
struct PlainFileHandler: LogHandler {
  /// The file that all handlers share.
  final class File: Sendable {
    private let buffer = Mutex<[UInt8]>([])
    private let descriptor: Int32

    init(_ path: String) { descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600) }

    func write(_ level: Logger.Level, _ label: String, _ message: String, _ metadata: String?) {
      buffer.withLock { buffer in
        buffer.removeAll(keepingCapacity: true)
        Self.appendTime(to: &buffer)
        buffer.append(contentsOf: " [".utf8)
        buffer.append(contentsOf: level.rawValue.utf8)
        buffer.append(contentsOf: "] [".utf8)
        buffer.append(contentsOf: label.utf8)
        buffer.append(contentsOf: "] ".utf8)
        buffer.append(contentsOf: message.utf8)
        if let metadata {
          buffer.append(0x20)
          buffer.append(contentsOf: metadata.utf8)
        }
        buffer.append(0x0a)
        buffer.withUnsafeBytes { _ = Foundation.write(descriptor, $0.baseAddress, $0.count) }
      }
    }

    private static func appendTime(to buffer: inout [UInt8]) {
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      var seconds = time.tv_sec
      var parts = tm()
      gmtime_r(&seconds, &parts)
      func put(_ value: Int, _ width: Int) {
        var divisor = 1
        for _ in 1..<width { divisor *= 10 }
        while divisor > 0 {
          buffer.append(0x30 + UInt8(truncatingIfNeeded: value / divisor % 10))
          divisor /= 10
        }
      }
      put(Int(parts.tm_year) + 1900, 4)
      buffer.append(0x2d)
      put(Int(parts.tm_mon) + 1, 2)
      buffer.append(0x2d)
      put(Int(parts.tm_mday), 2)
      buffer.append(0x54)
      put(Int(parts.tm_hour), 2)
      buffer.append(0x3a)
      put(Int(parts.tm_min), 2)
      buffer.append(0x3a)
      put(Int(parts.tm_sec), 2)
      buffer.append(0x2e)
      put(time.tv_nsec / 1_000_000, 3)
      buffer.append(0x5a)
    }
  }

  let file: File
  let label: String
  var logLevel = Logger.Level.info
  var metadataProvider: Logger.MetadataProvider?
  var metadata: Logger.Metadata = [:] {
    didSet { prettyMetadata = Self.text(metadata) }
  }
  private var prettyMetadata: String?

  init(_ file: File, label: String) { (self.file, self.label) = (file, label) }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var pretty = prettyMetadata
    if let own = event.metadata, !own.isEmpty {
      pretty = Self.text(metadata.merging(own) { $1 })
    }
    file.write(event.level, label, event.message.description, pretty)
  }

  private static func text(_ metadata: Logger.Metadata) -> String? {
    metadata.isEmpty
      ? nil
      : metadata.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: " ")
  }
}
