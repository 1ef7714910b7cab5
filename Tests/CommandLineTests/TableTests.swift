import TestSupport
import Testing

@testable import tidemark

@Suite(.tags(.small)) struct TableTests {
  @Test(
    arguments: [
      ("plain", 5), ("", 0), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한국어", 6), ("😀", 2), ("👨‍👩‍👧", 2),
      ("❤\u{fe0f}", 2), ("❤", 1), ("🇩🇪", 2), ("ａ", 2), ("a\u{200b}b", 2), ("…●✖", 3),
    ] as [(String, Int)])
  func `display width counts terminal columns, not characters`(text: String, width: Int) {
    #expect(text.displayWidth == width)
  }

  @Test(
    arguments: [
      ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"),
      ("abc", 0, ""), ("abc", 1, "…"),
    ] as [(String, Int, String)])
  func `truncated text ends with an ellipsis and fits`(text: String, width: Int, cut: String) {
    #expect(text.cut(to: width) == cut)
    #expect(text.cut(to: width).displayWidth <= width)
  }

  @Test(
    arguments: [
      ("/etc/tidemark.yaml:12", 21, "/etc/tidemark.yaml:12"),
      ("/etc/tidemark.yaml:12", 12, "/et….yaml:12"), ("日本語のプログラム:7", 10, "日…ラム:7"),
      ("abcdef", 4, "abc…"),
    ] as [(String, Int, String)])
  func `text shortened in the middle keeps its end`(text: String, width: Int, cut: String) {
    #expect(text.cutInside(to: width) == cut)
    #expect(text.cutInside(to: width).displayWidth <= width)
  }

  private var table: Table {
    var table = Table([
      .init(name: "id"), .init(name: "duration", shortTitle: "time", isRight: true, rank: 1),
      .init(name: "app", least: 4), .init(name: "device", least: 4, rank: 2),
    ])
    table.add([
      .init("2026-k3f9a7c2", short: "k3f9a7c2"), "2h13m", "日本語のプログラム", "build-server",
    ])
    table.add([.init("2026-x", short: "x"), "45s", "job", "b"])
    return table
  }

  @Test func `without a width, nothing is truncated or omitted`() {
    let rendering = table.render(width: nil)
    #expect(
      rendering.lines == [
        "ID             DURATION  APP                 DEVICE",
        "2026-k3f9a7c2     2h13m  日本語のプログラム  build-server",
        "2026-x              45s  job                 b",
      ])
    #expect(rendering.omitted.isEmpty)
  }

  @Test func `one long text does not widen the other rows`() {
    var table = table
    let long = String(repeating: "a", count: 10_000)
    table.add([.init(long), "1s", "job", "b"])
    let lines = table.render(width: nil).lines
    #expect(lines[3].hasPrefix(long))
    #expect(lines[..<3].allSatisfy { $0.displayWidth < 300 })
  }

  @Test func `a narrow table abbreviates first, then truncates, then omits columns`() {
    let narrow = table.render(width: 48)
    #expect(
      narrow.lines == [
        "ID         TIME  APP                DEVICE",
        "k3f9a7c2  2h13m  日本語のプログラ…  build-server",
        "x           45s  job                b",
      ])
    #expect(narrow.omitted.isEmpty)
    let tiny = table.render(width: 21)
    #expect(tiny.omitted == ["DEVICE"])
    #expect(tiny.lines[1] == "k3f9a7c2  2h13m  日…")
  }

  @Test func `no line is wider than the terminal`() {
    for width in 22...120 {
      let rendering = table.render(width: width)
      #expect(rendering.lines.allSatisfy { $0.displayWidth <= width }, "\(width)")
    }
  }
}
