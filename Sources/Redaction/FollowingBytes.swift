/// Which two bytes may follow an anchor of a rule that is a row of steps.
///
/// Most anchors are seen by them to have no secret, before a step is tried: what does not pass, no
/// steps fit. What passes may fit.
struct FollowingBytes: Sendable {
  /// A set of bytes, newlines among them, as no step takes one but what follows may be one.
  private struct Bits: Sendable, Equatable {
    var words = SIMD4<UInt64>()

    static let all = Bits(words: SIMD4(repeating: .max))

    func contains(_ byte: UInt8) -> Bool {
      words[Int(byte >> 6)] &>> UInt64(byte) & 1 != 0
    }

    mutating func insert(_ byte: UInt8) { words[Int(byte >> 6)] |= 1 &<< UInt64(byte) }

    mutating func formUnion(_ other: Bits) { words |= other.words }
  }

  /// A place in the steps: so many bytes of one are taken.
  private struct Place {
    let step: Int
    var taken = 0
    /// The word that they belong to, where the step is one of words.
    var word: Int?
  }

  /// By the first of the two, the number of the set that the second is in.
  private var second: [UInt8] = []
  private var sets: [Bits] = []

  /// - Parameters:
  ///   - steps: what follows the anchor.
  ///   - words: by step, the words that it may be.
  ///   - sets: by number, the sets that steps consist of.
  init(_ steps: ArraySlice<CompiledRule.Step>, words: ArraySlice<[[UInt8]]>, sets: [ByteSet]) {
    let (steps, words) = (Array(steps), Array(words))

    /// Where what follows may be, some steps taking nothing; nil where no step is left.
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

    /// The bytes that may be next.
    func bytes(at place: Place) -> Bits {
      let step = steps[place.step]
      var bits = Bits()
      for byte in UInt8.min...UInt8.max {
        let isTaken =
          if let set = step.set {
            sets[set].contains(byte)
              && !(place.taken == 0 && step.notFirst.map { sets[$0].contains(byte) } ?? false)
          } else {
            RedactionPass.isLetter(byte, words[place.step][place.word ?? 0][place.taken])
          }
        if isTaken { bits.insert(byte) }
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
      followers.reduce(into: Bits()) { if $1.first.contains(byte) { $0.formUnion($1.second) } }
    }
  }

  /// What one of several lets pass.
  init(_ several: [FollowingBytes]) {
    self.init { byte in
      several.reduce(into: Bits()) { $0.formUnion($1.sets[Int($1.second[Int(byte)])]) }
    }
  }

  /// Any bytes.
  static let any = FollowingBytes { _ in .all }

  /// - Parameter set: what the second may be after the first.
  private init(_ set: (UInt8) -> Bits) {
    for byte in UInt8.min...UInt8.max {
      let set = set(byte)
      let known = sets.firstIndex(of: set)
      if known == nil { sets.append(set) }
      second.append(UInt8(known ?? sets.count - 1))
    }
  }

  /// Whether steps may fit what follows at a place; before the text's end anything may.
  @inline(__always)
  func mayBegin(at place: Int, in text: UnsafeRawBufferPointer) -> Bool {
    guard place &+ 1 < text.count else { return true }
    return sets[Int(second[Int(text[place])])].contains(text[place &+ 1])
  }
}
