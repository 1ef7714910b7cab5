import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import tidemark

/// The commands and files in the README and the guides.
@Suite(.tags(.small)) struct GuideTests {
  /// This file is `<package>/Tests/EndToEnd/GuideTests.swift`.
  private static let package = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// A line of a shell example that calls the program.
  struct Example: CustomTestStringConvertible, Sendable {
    let file: String
    let line: String
    var testDescription: String { "\(file): \(line)" }

    /// The line without its comment.
    var command: String {
      let comment = line.range(of: " +# ", options: .regularExpression)
      return String(line[..<(comment?.lowerBound ?? line.endIndex)])
    }

    /// Its arguments as a shell splits them, without comments, and without pipes and redirections.
    var arguments: [String] {
      var words: [String] = []
      var word: String?
      var quote: Character?
      loop: for character in line {
        switch (quote, character) {
        case (let open?, character) where character == open: quote = nil
        case (.some, _): word = (word ?? "") + String(character)
        case (nil, "'"), (nil, "\""):
          quote = character
          word = word ?? ""
        case (nil, " "):
          if let done = word { words.append(done) }
          word = nil
        case (nil, "#") where word == nil, (nil, "|"), (nil, ">"): break loop
        default: word = (word ?? "") + String(character)
        }
      }
      return Array((words + (word.map { [$0] } ?? [])).dropFirst())
    }
  }

  /// The Markdown documents, by their paths in the package.
  private static let documents: [String: String] = {
    let guides = "Sources/tidemark/tidemark.docc"
    let names = try? FileManager.default.contentsOfDirectory(
      atPath: package.appending(path: guides).path)
    let paths =
      (names ?? []).filter { $0.hasSuffix(".md") }.map { "\(guides)/\($0)" }
      + ["README.md", ".github/CONTRIBUTING.md", "Sources/Replica/Replica.docc/Format.md"]
    return paths.reduce(into: [:]) { documents, path in
      documents[path] = try? String(contentsOf: package.appending(path: path), encoding: .utf8)
    }
  }()

  /// The commands of the shell examples, by their documents: a line each, and in the document of
  /// the format, which has shell functions, an example each.
  static let commands: [Example] = documents.sorted { $0.key < $1.key }.flatMap { file, text in
    blocks("sh", in: text).flatMap { block in
      (file.hasSuffix("Format.md") ? [block[...]] : block.split(separator: "\n"))
        .map { Example(file: file, line: String($0)) }
    }
  }

  /// The lines that call the program.
  static let examples = commands.filter { $0.line.hasPrefix("tidemark ") }

  private static func blocks(_ language: String, in text: String) -> [String] {
    text.matches(of: /(?m)^```(?<language>\w+)\n(?<block>[\s\S]*?)^```$/)
      .filter { $0.language == language }.map { String($0.block) }
  }

  /// The first block of a guide that begins with a text.
  static func block(_ language: String, in guide: String, containing text: String) -> String? {
    documents.first { $0.key.hasSuffix("/" + guide) }
      .flatMap { blocks(language, in: $0.value).first { $0.hasPrefix(text) } }
  }

  @Test func `guides contain examples to check`() {
    #expect(Self.examples.count > 40)
    #expect(Self.documents.count > 12)
  }

  @Test(arguments: examples)
  func `every command in a guide is accepted by the parser`(_ example: Example) throws {
    #expect(throws: Never.self) { try Tidemark.parseAsRoot(example.arguments) }
  }

  @Test(arguments: documents.keys.sorted())
  func `every relative link in a document leads to a file`(_ path: String) throws {
    let text = try #require(Self.documents[path])
    let folder = Self.package.appending(path: path).deletingLastPathComponent()
    for match in text.matches(of: /\]\((?<target>[^)#:\s]+)(?:#[^)]*)?\)/) {
      let target = folder.appending(path: String(match.target)).standardizedFileURL.path
      #expect(FileManager.default.fileExists(atPath: target), "\(path) links to \(match.target)")
    }
    for match in text.matches(of: /<doc:(?<name>[^>]+)>/) {
      #expect(
        FileManager.default.fileExists(atPath: folder.appending(path: "\(match.name).md").path),
        "\(path) links to <doc:\(match.name)>")
    }
  }
}
