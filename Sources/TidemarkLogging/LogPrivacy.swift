import LogRecords
public import Logging

/// Who may see a value: every reader of the log, or this machine alone.
///
/// ```swift
/// logger.info("signed in: \(address, privacy: .private)")
/// logger.info("signed in", metadata: ["user": "\(name, privacy: .private)"])
/// ```
///
/// In the local record a private value appears as `<private:anna>`. Before the record leaves the
/// machine, by an upload or an export, the value is masked under any configuration.
public enum LogPrivacy: Int64, Sendable, Logger.MetadataValueAttributes.Attribute {
  /// The value leaves the machine with its record, masked only where a redaction rule finds a
  /// secret.
  case `public` = 0
  /// The value stays on this machine.
  case `private` = 1
}

extension DefaultStringInterpolation {
  /// Interpolates a value, marked if it is private.
  ///
  /// - Parameters:
  ///   - value: any value.
  ///   - privacy: who may see it.
  public mutating func appendInterpolation<Value>(_ value: Value, privacy: LogPrivacy) {
    switch privacy {
    case .public: appendInterpolation(value)
    case .private: appendLiteral(PrivateText.marked(String(describing: value)))
    }
  }
}

extension Logger.MetadataValue.StringInterpolation {
  /// Interpolates a value into metadata, which is private as a whole if one of its values is.
  ///
  /// Other handlers see the value without a mark.
  ///
  /// - Parameters:
  ///   - value: any value.
  ///   - privacy: who may see it.
  public mutating func appendInterpolation<Value: CustomStringConvertible & Sendable>(
    _ value: Value, privacy: LogPrivacy
  ) {
    switch privacy {
    case .public: appendInterpolation(value)
    case .private: appendInterpolation(value, attributes: [LogPrivacy.private])
    }
  }
}

extension Logger.MetadataValue {
  /// A private value.
  ///
  /// - Parameter value: the value, which stays on this machine.
  public static func `private`(_ value: some CustomStringConvertible & Sendable) -> Self {
    .attributed(value, attributes: [LogPrivacy.private])
  }
}
