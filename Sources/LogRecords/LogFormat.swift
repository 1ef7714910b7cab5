/// How the bytes of a log relate to what the program printed.
public enum LogFormat: String, Sendable, Codable {
  /// A prefix before each line.
  case lines
  /// The program's output unchanged.
  case asIs = "as-is"
}
