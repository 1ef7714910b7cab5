import Foundation
import ObjectStore
import TestSupport
import Testing

/// The table of servers in the guide: what the contract suite proves of each.
@Suite(.tags(.medium)) struct ServerTableTests {
  /// A column: an operation, and how a store performs it.
  private struct Column: Sendable {
    let title: String
    let cell: @Sendable (Traits) -> String
  }

  /// Behaviour common to all stores, which the contract suite proves for all of them: a tick.
  private static let columns: [Column] = [
    Column(title: "put, put again, empty, 8 MiB") { _ in "✓" },
    Column(title: "proof of a put") { $0.provesContent ? "MD5 in the answer" : "read back" },
    Column(title: "a cut put leaves") { $0.cutPut.rawValue },
    Column(title: "get, parts, head, missing") { _ in "✓" },
    Column(title: "list 10,000") { $0.hasPages ? "in pages" : "at once" },
    Column(title: "names of others") { traits in
      let dots = traits.listsDotFiles ? [] : ["dot-files hidden"]
      let bad = traits.unlistable.keys.sorted().map { "\($0): clear error" }
      return dots.isEmpty && bad.isEmpty ? "✓" : (dots + bad).joined(separator: ", ")
    },
    Column(title: "names of 255 bytes") { $0.refusesLongNames == nil ? "✓" : "refused" },
    Column(title: "`a` and `a/b`") { $0.refusesKeysBelowKeys == nil ? "✓" : "second refused" },
    Column(title: "delete many") {
      $0.deleteBatch == 1 ? "one by one" : "\($0.deleteBatch) a request"
    },
    Column(title: "32 at once, cancelled, cut answers") { _ in "✓" },
  ]

  /// The table as Markdown, one server per row.
  static var markdown: String {
    let head = "| |" + columns.map { " \($0.title) |" }.joined()
    let line = "|---|" + columns.map { _ in "---|" }.joined()
    let rows = Backend.allCases.map { backend in
      "| \(backend.traits.name) |"
        + columns.map { " \($0.cell(backend.traits)) |" }.joined()
    }
    return ([head, line] + rows).joined(separator: "\n")
  }

  @Test func `the guide's server table equals the tested traits`() throws {
    // This file is <package>/Tests/ObjectStoreTests/ServerTableTests.swift.
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let path = "Sources/tidemark/tidemark.docc/Servers.md"
    let guide = try String(contentsOf: package.appending(path: path), encoding: .utf8)
    #expect(
      guide.contains("## Servers\n") && guide.contains("\n\(Self.markdown)\n"),
      "\(path) should have under “Servers”:\n\(Self.markdown)")
  }
}
