import Foundation
import LogRecords
import SessionLog
import TestSupport
import Testing

/// Records as JSON lines.
@Suite(.tags(.medium)) struct RecordJSONTests {
  private struct Object: Decodable {
    let session: String
    let offset: Int
    let time: String?
    let level: String?
    let category: String?
    let stream: String?
    let scenario: String?
    let message: String
    let messageBase64: String?
    let newline: Bool?
    let continues: Bool?

    var bytes: [UInt8] {
      let exact = messageBase64.flatMap { Data(base64Encoded: $0) }.map(Array.init)
      return (exact ?? Array(message.utf8)) + (newline == false ? [] : [0x0a])
    }
  }

  private func objects(_ log: [UInt8], _ sidecar: Sidecar) throws -> [Object] {
    var json = RecordJSON(sidecar)
    var lines: [[UInt8]] = []
    var filter = RecordFilter()
    filter.reader = RecordReader(sidecar.format)
    for start in stride(from: 0, to: log.count, by: 1 << 20) {
      log[start...].prefix(1 << 20).withUnsafeBytes { piece in
        filter.add(piece) { json.add($0) { lines.append($0) } }
      }
    }
    filter.finish { json.add($0) { lines.append($0) } }
    json.finish { lines.append($0) }
    for line in lines {
      // One line of plain text each, for any log.
      #expect(line.last == 0x0a && !line.dropLast().contains { $0 < 0x20 || $0 == 0x7f })
    }
    return try lines.map { try JSONDecoder().decode(Object.self, from: Data($0)) }
  }

  @Test(arguments: SeededGenerator.cases(200))
  func `captured bytes survive the conversion to JSON`(number: Int) throws {
    var generator = SeededGenerator(case: number)
    let home = try TestHome()
    let text = NastyText.make(60, &generator)
    let session = try home.session(text)
    let sidecar = try Sidecar.load(home.home.files(for: session).sidecar)
    let found = try objects(try home.log(session), sidecar)
    let printed = found.filter { $0.stream == "stdout" }
    #expect(Array(printed.flatMap(\.bytes)) == text)
    #expect(found.first?.category == "Session" && found.allSatisfy { $0.time != nil })
  }

  @Test(arguments: SeededGenerator.cases(200))
  func `foreign logs survive the conversion to JSON`(number: Int) throws {
    var generator = SeededGenerator(case: number)
    let home = try TestHome()
    var sidecar = try Sidecar.load(
      home.home.files(for: try home.session("".utf8)).sidecar)
    sidecar.format = .asIs
    let log = NastyText.make(60, &generator)
    let found = try objects(log, sidecar)
    #expect(Array(found.flatMap(\.bytes)) == log)
    #expect(zip(found, found.dropFirst()).allSatisfy { $0.offset + $0.bytes.count == $1.offset })
  }

  @Test func `a JSON record has message, level, scenario, stream and offset`() throws {
    let home = try TestHome()
    let sidecar = try Sidecar.load(home.home.files(for: try home.session("".utf8)).sidecar)
    let log = """
      2026-01-22T14:30:05.123Z [ERROR] [Net] {Pay} failed: "x"
        at line 1
      2026-01-22T14:30:05.124Z [INFO] [stdout+] {Pay} half
      """
    let found = try objects(Array(log.utf8) + [0x0a], sidecar)
    #expect(found.map(\.message) == ["failed: \"x\"\n  at line 1", "{Pay} half"])
    #expect(found.map(\.scenario) == ["Pay", nil] && found.map(\.stream) == [nil, "stdout"])
    #expect(found.map(\.newline) == [nil, false] && found.map(\.offset) == [0, 69])
    #expect(found.map(\.level) == ["ERROR", "INFO"])
    #expect(found[0].session == sidecar.sessionId.description)
  }

  /// A record that is too long comes in pieces that make up the whole.
  @Test func `a huge record is divided into continued JSON records`() throws {
    let home = try TestHome()
    var sidecar = try Sidecar.load(
      home.home.files(for: try home.session("".utf8)).sidecar)
    sidecar.format = .asIs
    var log = Array("ERROR: long ".utf8) + [UInt8](repeating: 0x78, count: 17 << 20)
    log += Array("\nINFO: next\n".utf8)
    let found = try objects(log, sidecar)
    #expect(found.count > 2 && found.dropFirst().dropLast().allSatisfy { $0.continues == true })
    #expect(Array(found.flatMap(\.bytes)) == log)
    #expect(found.last?.continues == nil)
  }
}
