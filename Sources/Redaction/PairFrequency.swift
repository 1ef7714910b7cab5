/// How often two adjacent bytes occur in logs, approximately, per 100,000 positions.
enum PairFrequency {
  /// - Parameter pair: the first byte is the low one.
  static func of(_ pair: UInt16) -> Int {
    let first = UInt8(truncatingIfNeeded: pair)
    let second = UInt8(truncatingIfNeeded: pair >> 8)
    if let place = place(first, second), letters[place] != 0 { return letters[place] }
    return of(Kind(first), Kind(second))
  }

  /// The place of two letters in ``letters``; nil for other bytes.
  private static func place(_ first: UInt8, _ second: UInt8) -> Int? {
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    guard letters.contains(first), letters.contains(second) else { return nil }
    return Int(first - letters.lowerBound) * letters.count + Int(second - letters.lowerBound)
  }

  private enum Kind {
    case lower
    case upper
    case digit
    case blank
    /// Separators between words and numbers.
    case joint
    case other

    init(_ byte: UInt8) {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): self = .lower
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): self = .upper
      case UInt8(ascii: "0")...UInt8(ascii: "9"): self = .digit
      case UInt8(ascii: " "): self = .blank
      case UInt8(ascii: ":"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "/"),
        UInt8(ascii: "="), UInt8(ascii: "_"):
        self = .joint
      default: self = .other
      }
    }
  }

  /// The frequency of two bytes that are not in ``letters``.
  private static func of(_ first: Kind, _ second: Kind) -> Int {
    switch (first, second) {
    case (.digit, .digit), (.digit, .joint), (.joint, .digit): 160
    case (.digit, .blank), (.blank, .digit): 270
    case (.lower, .blank), (.blank, .lower): 150
    case (.blank, _), (_, .blank): 60
    case (.lower, .joint), (.joint, .lower): 20
    case (.lower, .lower): 10
    case (.upper, .lower): 5
    case (.upper, .upper): 4
    default: 2
    }
  }

  /// The approximate frequency of pairs of letters, counted in logs of nine programs, by
  /// ``place(_:_:)``; 0 for rare ones.
  private static let letters: [Int] = {
    var found = [Int](repeating: 0, count: 26 * 26)
    for (frequency, pairs) in counted {
      var first = UInt8(ascii: " ")
      for letter in pairs.utf8 {
        if let place = place(first, letter) { found[place] = frequency }
        first = letter
      }
    }
    return found
  }()

  private static let counted: [(frequency: Int, pairs: String)] = [
    (600, "at ec en er in on or ro st ti ut"),
    (
      270,
      """
      ag al am an ar bl bo ce ck co ct de ed es et ge ic id il io is it ke le li lo me na nd ne ni \
      nt oc om ot ou re rk se sh ss ta te th to ul un us
      """
    ),
    (
      140,
      """
      ab ac ad ai ap as au ca ch cl cu do ea em fa fo fr hd he hi ho ie iv ld mb ms ng nn no nv od \
      og oo pa pd pi rd rr rs rt ru sc si td tp tt ui ur ve vi wo xe
      """
    ),
    (
      70,
      """
      dd df di dr eb ee ei el eu ex fi fs ft gn ht im ix jk lk ll ls lu ma mo nx oa ok ol op os ow \
      pe pl po pp pr pt ra rh ri rv ry sk sl sp su tc tr ty ue um uo up va ys yt
      """
    ),
    (
      35,
      """
      br by cr cv da ds ep eq ev gi ha if ig ir iz la lt lv ly mi mm mp nf of oi pu qu rc rn sw sy \
      ts tu wa we ye ze
      """
    ),
  ]
}
