/// The section of an index that states which scenarios occur in which frames.
enum FrameScenarios {
  /// Maximum number of different scenarios in a section.
  static let most = 32
  /// Longest name in bytes.
  private static let longest = 256

  /// The section for some frames; nil if none occurs, too many do, or those of a frame are unknown.
  static func encoded(_ frames: [FrameSummary]) -> [UInt8]? {
    var names: [[UInt8]] = []
    for frame in frames {
      guard let own = frame.scenarios else { return nil }
      for name in own where !names.contains(name) { names.append(name) }
      guard names.count <= most, own.allSatisfy({ (1...longest).contains($0.count) }) else {
        return nil
      }
    }
    guard !names.isEmpty else { return nil }
    var section: [UInt8] = []
    Varint.append(UInt64(names.count), to: &section)
    for name in names {
      Varint.append(UInt64(name.count), to: &section)
      section += name
    }
    for frame in frames {
      let own = frame.scenarios ?? []
      let bits = names.indices.reduce(UInt64(0)) { own.contains(names[$1]) ? $0 | 1 << $1 : $0 }
      Varint.append(bits, to: &section)
    }
    return section
  }

  /// Reads the result of ``encoded(_:)`` into the frames.
  static func decode(
    _ section: ArraySlice<UInt8>, into frames: inout [FrameSummary]
  ) throws(SegmentError) {
    var reader = ByteReader(section)
    let count = try reader.count(upTo: most)
    var names: [[UInt8]] = []
    for _ in 0..<count {
      let name = Array(try reader.bytes(try reader.count(upTo: longest)))
      guard !name.isEmpty, !names.contains(name) else {
        throw SegmentError(.corrupt, "the segment index names a scenario twice, or not at all")
      }
      names.append(name)
    }
    var seen = UInt64(0)
    for index in frames.indices {
      let bits = try reader.varint()
      guard bits >> UInt64(count) == 0 else {
        throw SegmentError(.corrupt, "a frame of the segment index has a scenario without a name")
      }
      seen |= bits
      // Names are in the order in which they first occur.
      guard seen & (seen + 1) == 0 else {
        throw SegmentError(.corrupt, "the segment index has names of scenarios in another order")
      }
      frames[index].scenarios = names.indices.filter { bits & 1 << $0 != 0 }.map { names[$0] }
    }
    guard count > 0, seen + 1 == 1 << UInt64(count) else {
      throw SegmentError(.corrupt, "the segment index names scenarios that do not occur")
    }
    guard reader.isAtEnd else {
      throw SegmentError(.corrupt, "the segment index names scenarios of frames that are not there")
    }
  }
}
