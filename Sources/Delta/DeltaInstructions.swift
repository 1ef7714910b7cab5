/// How the stream bytes of a delta segment are made, in order.
///
/// Neighbours that say the same are one: no two literals stand side by side, nor two copies of which
/// the second goes on where the first ends.
///
/// Encoded, each is LEB128 of four times its length plus its kind:
///
/// - 0, a literal;
/// - 1, a copy from the generation of the copy before it;
/// - 2, a copy from the generation whose number follows (LEB128).
///
/// After a copy comes, zigzag-encoded in LEB128, how far its offset lies behind the end of the copy
/// before it, for the first one behind 0.
package struct DeltaInstructions: Sendable, Equatable {
  /// Most instructions in a segment, so that hostile ones cost a reader a megabyte at most.
  ///
  /// A writer begins another segment before it has more.
  package static let maximumCount = 32_768
  /// Highest generation that a name can have.
  package static let highestGeneration = 999_999

  /// The instructions.
  package private(set) var list: [DeltaInstruction] = []
  /// Stream bytes that they make.
  package private(set) var length: Int64 = 0
  /// Stream bytes among these that are literals.
  package private(set) var literalLength: Int64 = 0

  /// Makes an empty list.
  package init() {}

  /// Adds an instruction; one that makes no byte changes nothing.
  package mutating func append(_ instruction: DeltaInstruction) {
    guard instruction.length > 0 else { return }
    length += instruction.length
    switch (list.last, instruction) {
    case (.literal(let before), .literal(let next)):
      literalLength += next
      list[list.count - 1] = .literal(before + next)
    case (.copy(let before), .copy(let next))
    where before.generation == next.generation && before.range.upperBound == next.range.lowerBound:
      list[list.count - 1] = .copy(
        StreamRange(
          generation: before.generation, range: before.range.lowerBound..<next.range.upperBound))
    default:
      if case .literal(let next) = instruction { literalLength += next }
      list.append(instruction)
    }
  }
}

extension DeltaInstructions {
  private enum Kind {
    static let literal: UInt64 = 0
    static let copy: UInt64 = 1
    static let copyFromGeneration: UInt64 = 2
  }

  /// The form in which a segment's index keeps it.
  func encoded() -> [UInt8] {
    var out: [UInt8] = []
    var generation = 0
    var end: Int64 = 0
    for instruction in list {
      let length = UInt64(instruction.length) << 2
      switch instruction {
      case .literal:
        Varint.append(length | Kind.literal, to: &out)
      case .copy(let source):
        if source.generation == generation {
          Varint.append(length | Kind.copy, to: &out)
        } else {
          generation = source.generation
          Varint.append(length | Kind.copyFromGeneration, to: &out)
          Varint.append(UInt64(generation), to: &out)
        }
        let distance = source.range.lowerBound - end
        Varint.append(UInt64(bitPattern: distance << 1 ^ distance >> 63), to: &out)
        end = source.range.upperBound
      }
    }
    return out
  }

  /// Reads the encoded form.
  ///
  /// - Throws: ``SegmentError`` for anything that ``encoded()`` does not write.
  init(encoded: ArraySlice<UInt8>) throws(SegmentError) {
    self.init()
    var reader = ByteReader(encoded)
    var generation = 0
    var end: Int64 = 0
    while !reader.isAtEnd {
      let word = try reader.varint()
      let step = Int64(word >> 2)
      guard step > 0, step <= Self.highestOffset - length else {
        throw SegmentError(.corrupt, "a delta instruction has a length out of range")
      }
      let count = list.count
      switch word & 3 {
      case Kind.literal:
        append(.literal(step))
      case Kind.copyFromGeneration:
        let previous = generation
        generation = try reader.count()
        guard generation != previous, (1...Self.highestGeneration).contains(generation) else {
          throw SegmentError(.corrupt, "a delta copies from generation \(generation)")
        }
        fallthrough
      case Kind.copy:
        let zigzag = try reader.varint()
        let distance = Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1)
        let (start, overflow) = end.addingReportingOverflow(distance)
        guard generation > 0, !overflow, start >= 0, start <= Self.highestOffset - step else {
          throw SegmentError(.corrupt, "a delta copies from outside of any stream")
        }
        end = start + step
        append(.copy(StreamRange(generation: generation, range: start..<end)))
      default:
        throw SegmentError(.corrupt, "a delta instruction has an unknown kind")
      }
      guard list.count > count else {
        throw SegmentError(.corrupt, "two delta instructions could be one")
      }
      guard list.count <= Self.maximumCount else {
        throw SegmentError(.corrupt, "a delta has more than \(Self.maximumCount) instructions")
      }
    }
  }

  /// Offsets have 12 digits in names.
  package static let highestOffset: Int64 = 999_999_999_999
}
