import Platform

/// Rows under a header, aligned by display columns and fitted to a width.
///
/// If space is short, cells use their short forms, then shrinkable columns become narrower, then
/// columns are omitted, those of the highest rank first. Without a width, as in a pipe, everything
/// is shown in full.
struct Table {
  /// A column.
  struct Column {
    /// Its name in `--columns`; its title is the same in capitals.
    let name: String
    /// Its title if space is short; nil for the same.
    var shortTitle: String?
    /// Whether its texts are right-aligned, like numbers.
    var isRight = false
    /// The minimum width to which its texts may be cut; nil if they are never cut.
    var least: Int?
    /// Whether a cut text keeps its end, such as a line number behind a path.
    var keepsEnd = false
    /// Columns of the highest rank are omitted first; those of rank 0 never.
    var rank = 0

    fileprivate func title(isShort: Bool) -> String {
      (isShort ? shortTitle ?? name : name).uppercased()
    }
  }

  /// One text of a row, in one line whoever wrote it.
  struct Cell: ExpressibleByStringLiteral {
    let text: String
    /// A shorter form; nil for none.
    let short: String?
    let colour: Console.Colour?

    init(_ text: String, short: String? = nil, colour: Console.Colour? = nil) {
      (self.text, self.colour) = (String(oneLine: text), colour)
      self.short = short.map { String(oneLine: $0) }
    }

    init(stringLiteral text: String) { self.init(text) }

    fileprivate func text(isShort: Bool) -> String { isShort ? short ?? text : text }
  }

  /// The rendered table.
  struct Rendering {
    /// The header and the rows.
    var lines: [String] = []
    /// Titles of omitted columns.
    var omitted: [String] = []
  }

  let columns: [Column]
  private(set) var rows: [[Cell]] = []

  init(_ columns: [Column]) { self.columns = columns }

  /// Adds a row with a cell for each column.
  mutating func add(_ cells: [Cell]) { rows.append(cells) }

  /// How a column is shown.
  private struct Shown {
    let index: Int
    let column: Column
    let full: Int
    let short: Int
    var isShort = true
    var width: Int

    var natural: Int { isShort ? short : full }
    var narrowest: Int { column.least.map { min($0, short) } ?? short }
  }

  private static let gap = 2
  /// Maximum width of a column: one long text must not widen every row.
  private static let widest = 200

  /// Lays out the table.
  ///
  /// - Parameters:
  ///   - limit: the width to fit into; nil for none.
  ///   - paint: colours a text.
  func render(
    width limit: Int?, paint: (String, Console.Colour?) -> String = { text, _ in text }
  ) -> Rendering {
    var rendering = Rendering()
    var shown = self.shown()
    if let limit {
      while Self.total(shown.map(\.narrowest)) > limit,
        let most = shown.map(\.column.rank).max(), most > 0,
        let last = shown.lastIndex(where: { $0.column.rank == most })
      {
        rendering.omitted.append(shown.remove(at: last).column.title(isShort: false))
      }
      rendering.omitted.reverse()
      Self.fit(&shown, into: limit)
    } else {
      for index in shown.indices {
        shown[index].isShort = false
        shown[index].width = shown[index].full
      }
    }
    rendering.lines.append(
      line(shown, isCut: limit != nil) {
        $0.column.title(isShort: $0.isShort)
      } paint: { text, _ in
        paint(text, .bold)
      })
    for row in rows {
      rendering.lines.append(
        line(shown, isCut: limit != nil) {
          row[$0.index].text(isShort: $0.isShort)
        } paint: {
          paint($0, row[$1.index].colour)
        })
    }
    return rendering
  }

  private func shown() -> [Shown] {
    columns.enumerated().map { index, column in
      func widest(_ isShort: Bool) -> Int {
        rows.reduce(column.title(isShort: isShort).displayWidth) {
          max($0, min(Self.widest, $1[index].text(isShort: isShort).displayWidth))
        }
      }
      let short = widest(true)
      return Shown(index: index, column: column, full: widest(false), short: short, width: short)
    }
  }

  private static func total(_ widths: [Int]) -> Int {
    widths.reduce(0, +) + gap * max(0, widths.count - 1)
  }

  /// Gives columns their full forms, the most important first, as far as nothing has to be cut for
  /// it; otherwise cuts the widest.
  private static func fit(_ shown: inout [Shown], into limit: Int) {
    for index in shown.indices.sorted(by: { shown[$0].column.rank < shown[$1].column.rank }) {
      shown[index].isShort = false
      if total(shown.map(\.natural)) > limit { shown[index].isShort = true }
    }
    for index in shown.indices { shown[index].width = shown[index].natural }
    while total(shown.map(\.width)) > limit,
      let widest = shown.indices.filter({ shown[$0].width > shown[$0].narrowest })
        .max(by: { shown[$0].width < shown[$1].width })
    {
      shown[widest].width -= 1
    }
  }

  /// - Parameter isCut: whether texts that are wider than their column are cut.
  private func line(
    _ shown: [Shown], isCut: Bool, _ text: (Shown) -> String, paint: (String, Shown) -> String
  ) -> String {
    var line = ""
    for (position, one) in shown.enumerated() {
      let whole = text(one)
      let cell =
        !isCut
        ? whole : one.column.keepsEnd ? whole.cutInside(to: one.width) : whole.cut(to: one.width)
      let blanks = String(repeating: " ", count: max(0, one.width - cell.displayWidth))
      let isLast = position == shown.count - 1
      line += one.column.isRight ? blanks + paint(cell, one) : paint(cell, one)
      if !isLast {
        line += (one.column.isRight ? "" : blanks) + String(repeating: " ", count: Self.gap)
      }
    }
    return line.last == " " ? String(line.reversed().drop { $0 == " " }.reversed()) : line
  }
}
