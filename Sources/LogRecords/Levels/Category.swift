/// Categories with a meaning to readers; all others are arbitrary.
public enum Category {
  /// Records of the recorder itself; only it writes them.
  public static let session = "Session"
  /// Categories that a program's own records cannot have.
  static let reserved = [session, "stdout", "stderr", "stdout+", "stderr+"]
  /// Ends the category of a captured record without a newline from the program: the next record of
  /// that stream continues the line.
  package static let continued = UInt8(ascii: "+")

  /// The stream that a line was captured from, by its category.
  static func stream(_ name: UnsafeRawBufferPointer) -> (stream: CapturedStream, isContinued: Bool)?
  {
    let isContinued = name.last == continued
    let bare = isContinued ? UnsafeRawBufferPointer(rebasing: name.dropLast()) : name
    for stream in [CapturedStream.standardOutput, .standardError]
    where bare.elementsEqual(stream.category) {
      return (stream, isContinued)
    }
    return nil
  }
}

/// One of the two streams of a captured program.
public struct CapturedStream: Sendable, Hashable {
  /// Its category: `stdout` or `stderr`.
  public let name: String
  /// The name as it appears in records.
  package let category: [UInt8]

  private init(name: String) {
    self.name = name
    category = Array(name.utf8)
  }

  /// The program's standard output.
  public static let standardOutput = CapturedStream(name: "stdout")
  /// The program's standard error.
  public static let standardError = CapturedStream(name: "stderr")
}
