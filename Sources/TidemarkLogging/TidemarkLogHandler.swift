import LogRecords
public import Logging

/// Writes the records of swift-log's loggers into a session.
///
/// It is a value, as swift-log requires: each logger has its own level and metadata. The logger's
/// label is the category; metadata follows the message, sorted by key. `notice` is INFO, and
/// `critical` is FAULT.
public struct TidemarkLogHandler: LogHandler {
  /// Records below it are not written.
  public var logLevel: Logger.Level
  /// Adds metadata to each record.
  public var metadataProvider: Logger.MetadataProvider?
  /// Metadata of all records.
  public var metadata: Logger.Metadata = [:] {
    didSet { details = metadata.isEmpty ? [] : MetadataText.bytes(metadata) }
  }

  private let session: LogSession
  private let category: RecordWord
  /// The metadata of all records, in the form of a record.
  private var details: [UInt8] = []

  /// A handler for the loggers of a label.
  ///
  /// - Parameters:
  ///   - label: the category.
  ///   - session: the session to write to.
  ///   - level: the initial level.
  ///   - metadataProvider: adds metadata to each record.
  public init(
    label: String, session: LogSession, level: Logger.Level = .info,
    metadataProvider: Logger.MetadataProvider? = nil
  ) {
    category = RecordWord(category: label)
    self.session = session
    logLevel = level
    self.metadataProvider = metadataProvider
  }

  /// One piece of metadata.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Writes a record.
  public func log(event: LogEvent) { log(event, scenario: nil) }

  func log(_ event: LogEvent, scenario: RecordWord?) {
    let level = Level(event.level)
    guard level >= session.recordLevel else { return }
    session.write(
      level, category, event.message.description, details: details(of: event), scenario: scenario)
  }

  private func details(of event: LogEvent) -> [UInt8] {
    let provided = metadataProvider?.get() ?? [:]
    if provided.isEmpty, event.error == nil {
      guard let own = event.metadata, !own.isEmpty else { return details }
      if metadata.isEmpty { return MetadataText.bytes(own) }
    }
    // The most specific value wins.
    var all = metadata.merging(provided) { $1 }
    if let own = event.metadata { all.merge(own) { $1 } }
    if let error = event.error {
      all["error.message"] = .string("\(error)")
      all["error.type"] = .string(String(reflecting: type(of: error)))
    }
    return MetadataText.bytes(all)
  }
}

extension Level {
  /// The level of a record from swift-log.
  init(_ level: Logger.Level) {
    switch level {
    case .trace: self = .trace
    case .debug: self = .debug
    case .info, .notice: self = .info
    case .warning: self = .warning
    case .error: self = .error
    case .critical: self = .fault
    }
  }
}
