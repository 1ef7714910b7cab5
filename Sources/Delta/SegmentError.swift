/// Why bytes are not a valid segment, or could not be encoded as one.
package struct SegmentError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind of damage.
  package enum Code: Sendable, Equatable {
    /// The object ends before its index or one of its frames does.
    case truncated
    /// The footer, the index or a frame contradicts itself or its checksum.
    case corrupt
    /// A later format version wrote it.
    case unsupportedVersion(Int)
    /// zstd could not compress, usually for lack of memory.
    case compression
  }

  /// The kind of damage.
  package let code: Code
  /// The finding, in one phrase.
  package let detail: String

  /// Makes an error.
  package init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  /// One line for a person.
  package var description: String { detail }
}
