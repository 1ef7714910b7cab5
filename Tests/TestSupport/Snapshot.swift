import Foundation
package import Testing

/// Compares text with a file beside the test, so that changes are noticed and reviewed.
package enum Snapshot {
  /// Set, to anything, to write the files again.
  package static let variable = "TIDEMARK_UPDATE_SNAPSHOTS"

  /// Compares a text with the file `Snapshots/<name>` beside the test.
  ///
  /// - Parameters:
  ///   - text: the program's output.
  ///   - name: the file's name.
  ///   - path: the test's file.
  ///   - location: the test's line.
  package static func expect(
    _ text: String, is name: String, path: String = #filePath,
    location: SourceLocation = #_sourceLocation
  ) {
    let folder = URL(filePath: path).deletingLastPathComponent().appending(path: "Snapshots")
    let file = folder.appending(path: name)
    let known = try? String(contentsOf: file, encoding: .utf8)
    guard known != text else { return }
    if ProcessInfo.processInfo.environment[variable] != nil {
      try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      do {
        try text.write(to: file, atomically: true, encoding: .utf8)
      } catch {
        Issue.record("cannot write \(file.path): \(error)", sourceLocation: location)
      }
      return
    }
    let before = (known ?? "").split(separator: "\n", omittingEmptySubsequences: false)
    let now = text.split(separator: "\n", omittingEmptySubsequences: false)
    let line =
      zip(before, now).enumerated().first { $1.0 != $1.1 }?.offset ?? min(before.count, now.count)
    func shown(_ lines: [Substring]) -> String {
      line < lines.count ? "'\(lines[line])'" : "nothing"
    }
    Issue.record(
      """
      \(name) differs in line \(line + 1): \(shown(before)) became \(shown(now)); with \
      \(variable)=1 the files are written anew
      """, sourceLocation: location)
  }
}
