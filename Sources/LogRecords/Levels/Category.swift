/// The categories that mean something to readers; all others are free words.
public enum Category {
  /// Records of the recorder itself; only it writes them.
  public static let session = "Session"
  /// Categories that a program's own records cannot have.
  static let reserved = [session, "stdout", "stderr", "stdout+", "stderr+"]
  /// Ends the category of a captured record whose newline is not the program's: the next record
  /// of that stream goes on with the line.
  package static let continued = UInt8(ascii: "+")

  /// What a captured line came from, by its category.
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
  /// The same as it stands in records.
  package let category: [UInt8]

  private init(name: String) {
    self.name = name
    category = Array(name.utf8)
  }

  /// What a program printed to standard output.
  public static let standardOutput = CapturedStream(name: "stdout")
  /// What it printed to standard error.
  public static let standardError = CapturedStream(name: "stderr")
}
