/// The pairs of bytes that may follow an anchor of a rule made of steps.
///
/// They rule out most anchors before a step is tried: if the test fails, the steps cannot match; if
/// it passes, they may.
struct FollowingBytes: Sendable {
  /// A set of bytes, which may include newlines: no step matches one, but one may follow the steps.
  struct Bits: Sendable, Equatable {
    private var words = SIMD4<UInt64>()

    static let all = Bits(words: SIMD4(repeating: .max))

    private init(words: SIMD4<UInt64>) { self.words = words }

    /// The empty set.
    init() {}

    init(_ set: ByteSet) {
      for byte in UInt8.min...UInt8.max where set.contains(byte) { insert(byte) }
    }

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
      words[Int(byte >> 6)] &>> UInt64(byte) & 1 != 0
    }

    mutating func insert(_ byte: UInt8) { words[Int(byte >> 6)] |= 1 &<< UInt64(byte) }

    mutating func formUnion(_ other: Bits) { words |= other.words }

    mutating func subtract(_ other: Bits) { words &= ~other.words }
  }

  /// A position within the steps: the number of bytes that a step has matched.
  private struct Place {
    let step: Int
    var taken = 0
    /// The matched word, for a step made of words.
    var word: Int?
  }

  /// By the first byte, the index of the set of second bytes.
  private var second: [UInt8] = []
  private var sets: [Bits] = []

  /// - Parameters:
  ///   - steps: the steps after the anchor.
  ///   - words: by step, its words.
  ///   - sets: the sets in the steps, by index.
  init(_ steps: ArraySlice<CompiledRule.Step>, words: ArraySlice<[[UInt8]]>, sets: [Bits]) {
    let (steps, words) = (Array(steps), Array(words))

    /// The positions possible next, if some steps match nothing; nil if no step is left.
    func places(from place: Place) -> [Place]? {
      guard steps.indices.contains(place.step) else { return nil }
      let step = steps[place.step]
      var found: [Place] = []
      var isOver = step.set != nil && place.taken >= step.least
      if step.set != nil {
        if place.taken < step.most { found.append(place) }
      } else if let word = place.word {
        if place.taken < words[place.step][word].count {
          found.append(place)
        } else {
          isOver = true
        }
      } else {
        for (number, word) in words[place.step].enumerated() {
          if word.isEmpty {
            isOver = true
          } else {
            found.append(Place(step: place.step, word: number))
          }
        }
      }
      guard isOver else { return found }
      return places(from: Place(step: place.step + 1)).map { found + $0 }
    }

    /// The bytes possible next.
    func bytes(at place: Place) -> Bits {
      let step = steps[place.step]
      var bits = Bits()
      if let set = step.set {
        bits = sets[set]
        if place.taken == 0, let notFirst = step.notFirst { bits.subtract(sets[notFirst]) }
      } else {
        let letter = words[place.step][place.word ?? 0][place.taken]
        for byte in [letter, letter & ~0x20] where RedactionPass.isLetter(byte, letter) {
          bits.insert(byte)
        }
      }
      return bits
    }

    func bytes(at places: [Place]?) -> Bits {
      guard let places else { return .all }
      return places.reduce(into: Bits()) { $0.formUnion(bytes(at: $1)) }
    }

    guard let first = places(from: Place(step: 0)) else {
      self = .any
      return
    }
    let followers = first.map { place in
      var next = place
      next.taken += 1
      return (first: bytes(at: place), second: bytes(at: places(from: next)))
    }
    self.init { byte in
      var bits = Bits()
      for follower in followers where follower.first.contains(byte) {
        bits.formUnion(follower.second)
      }
      return bits
    }
  }

  /// Accepts the bytes that any of several accepts.
  init(_ several: [FollowingBytes]) {
    self.init { byte in
      var bits = Bits()
      for one in several { bits.formUnion(one.sets[Int(one.second[Int(byte)])]) }
      return bits
    }
  }

  /// Any bytes.
  static let any = FollowingBytes { _ in .all }

  /// - Parameter set: the second bytes possible after a first one.
  private init(_ set: (UInt8) -> Bits) {
    second.reserveCapacity(256)
    var last = 0
    for byte in UInt8.min...UInt8.max {
      let set = set(byte)
      // Most bytes have the set of the byte before.
      if sets.isEmpty || sets[last] != set {
        if let known = sets.firstIndex(of: set) {
          last = known
        } else {
          last = sets.count
          sets.append(set)
        }
      }
      second.append(UInt8(last))
    }
  }

  /// Whether steps may match at a position; near the text's end the answer is always yes.
  @inline(__always)
  func mayBegin(at place: Int, in text: UnsafeRawBufferPointer) -> Bool {
    guard place &+ 1 < text.count else { return true }
    return sets[Int(second[Int(text[place])])].contains(text[place &+ 1])
  }
}
