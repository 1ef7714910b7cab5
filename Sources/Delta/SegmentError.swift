/// Why bytes that claim to be a segment are not one, or could not be made into one.
public struct SegmentError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind of damage.
  public enum Code: Sendable, Equatable {
    /// The object ends before its index or one of its frames does.
    case truncated
    /// The footer, the index or a frame contradicts itself or its checksum.
    case corrupt
    /// A later format version wrote it.
    case unsupportedVersion(Int)
    /// zstd could not compress, for want of memory as a rule.
    case compression
  }

  /// The kind of damage.
  public let code: Code
  /// What was looked at and what was found, in one phrase.
  public let detail: String

  /// Makes an error.
  public init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  /// One line for a person.
  public var description: String { detail }
}
