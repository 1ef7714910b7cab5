extension String {
  /// The parts between the occurrences of an ASCII character; like `split(separator:)`, but compared
  /// byte by byte.
  ///
  /// Names and keys are split for each object and file, and finding characters takes twenty times as
  /// long.
  package func fields(
    between separator: Unicode.Scalar, omittingEmpty: Bool = true
  ) -> [Substring] {
    utf8.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: omittingEmpty)
      .map { Substring($0) }
  }

  /// The index of the last `/`, after which the last name of a path or key begins; nil without one.
  ///
  /// Compared byte by byte, like the system does: a name may begin with a combining character, with
  /// which the slash would be another one.
  package var lastSlash: Index? { utf8.lastIndex(of: UInt8(ascii: "/")) }
}
