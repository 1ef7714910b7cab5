/// The instructions that produce the stream bytes of a delta segment, in order.
///
/// Adjacent instructions are merged: no two literals are adjacent, nor two copies of which the
/// second continues the first.
///
/// Encoded, each is LEB128 of four times its length plus its kind:
///
/// - 0, a literal;
/// - 1, a copy from the same generation as the previous copy;
/// - 2, a copy from the generation whose number follows (LEB128).
///
/// A copy is followed, zigzag-encoded in LEB128, by the distance of its offset from the end of the
/// previous copy, for the first one from 0.
package struct DeltaInstructions: Sendable, Equatable {
  /// Maximum number of instructions in a segment, so that hostile ones cost a reader a megabyte at
  /// most.
  ///
  /// A writer starts another segment before it exceeds them.
  package static let maximumCount = 32_768
  /// Highest generation that a name can express.
  package static let highestGeneration = 999_999

  /// The instructions.
  package private(set) var list: [DeltaInstruction] = []
  /// Number of stream bytes that they produce.
  package private(set) var length: Int64 = 0
  /// Number of these bytes that are literals.
  package private(set) var literalLength: Int64 = 0

  /// Makes an empty list.
  package init() {}

  /// Adds an instruction; one without bytes changes nothing.
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

  /// The form stored in a segment's index.
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

  /// Names have 12 digits for offsets.
  package static let highestOffset: Int64 = 999_999_999_999
}
