package import Platform

extension LogSource {
  /// The files that match at present, by path.
  ///
  /// - Parameter problem: called for each path that cannot be read.
  /// - Throws: ``Platform/SystemError``.
  package func matchingFiles(problem: (SystemError) -> Void) throws -> [String] {
    var paths: Set<String> = []
    try withoutActuallyEscaping(problem) { problem in
      try SourceScanner(
        source: self, since: FileTime(nanoseconds: .min),
        file: { if !$0.isRotation { paths.insert($0.path) } }, folder: { _, _ in }, problem: problem
      ).run()
    }
    return paths.sorted()
  }
}
