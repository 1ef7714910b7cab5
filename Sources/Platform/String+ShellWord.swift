extension String {
  /// The text as one word of a shell command, quoted if necessary.
  ///
  /// Other users choose the names of their files, and a command with such a name may be pasted by root.
  package var shellWord: String {
    let isPlain =
      !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "/._-+,@%:".utf8.contains(byte)
        }
      }
    if isPlain, first != "-" { return self }
    let parts = split(separator: "'", omittingEmptySubsequences: false)
    return "'" + parts.joined(separator: "'\\''") + "'"
  }
}
