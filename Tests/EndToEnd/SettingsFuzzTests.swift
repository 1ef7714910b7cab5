import Foundation
import TestServers
import TestSupport
import Testing

@testable import tidemark

/// `tidemark.yaml` with bytes changed, duplicated and lost is read or rejected, with the file's
/// name and no text of it except names of keys.
@Suite(.tags(.medium)) struct SettingsFuzzTests {
  @Test func `any configuration text is read or refused with its path`() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/tidemark.yaml"
    let template = SettingsTemplate.text(store: "s3://bucket/logs")
      .replacing("#", with: "")
    let pieces = [
      "\n", "  ", ": ", "- ", "&a", "*a", "{", "]", "\"", "\u{0}", "\u{202e}", "1e999", "~",
    ]
    var generator = SeededGenerator(case: 11)
    var (read, refused) = (0, 0)
    for _ in 0..<400 {
      var text = Array(template.utf8)
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let place = Int.random(in: 0..<text.count, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: text[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: text.removeSubrange(place..<min(text.count, place + 40))
        case 2: text += text[place..<min(text.count, place + 200)]
        default:
          text.insert(
            contentsOf: pieces.randomElement(using: &generator)?.utf8 ?? "".utf8, at: place)
        }
      }
      try Data(text).write(to: URL(filePath: path))
      do {
        _ = try Settings(path: path)
        read += 1
      } catch {
        #expect("\(error)".hasPrefix(path), "\(error)")
        refused += 1
      }
    }
    #expect(read + refused == 400 && refused > 0)
  }
}
