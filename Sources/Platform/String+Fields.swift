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
}
