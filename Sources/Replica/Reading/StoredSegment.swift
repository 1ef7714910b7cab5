import Delta
import ObjectStore
import Platform

/// A segment of which frames are read, and no more of the object is fetched than these need.
///
/// Frames that are wanted and lie close to each other come with one request; where most of the
/// object is wanted, that is all of it.
final class StoredSegment {
  let name: SegmentName
  let layout: SegmentLayout
  /// What it copies from earlier generations within the parts that are wanted.
  let copies: [StreamRange]

  private let key: String
  private let store: any ObjectStore
  private let decoder: SegmentDecoder
  /// Wanted frames, in order.
  private let frames: [Int]
  private let head: (start: Int64, bytes: [UInt8])
  /// The frames fetched last.
  private var run: (start: Int64, bytes: [UInt8])?
  /// The frame decompressed last.
  private var open: (number: Int, bytes: [UInt8])?

  /// Unwanted bytes between two frames that are fetched rather than asked around.
  private static let gap: Int64 = 64 << 10

  /// - Parameters:
  ///   - head: its index.
  ///   - parts: what is going to be read, as positions in its stream bytes, in order.
  init(
    _ head: SegmentHead, wanting parts: [Range<Int64>], in folder: SessionFolder,
    from store: any ObjectStore, with decoder: SegmentDecoder
  ) {
    name = head.name
    layout = head.layout
    key = folder.key + head.name.fileName
    self.head = head.held
    self.store = store
    self.decoder = decoder
    var frames: [Int] = []
    var copies: [StreamRange] = []
    var wanted: ByteCount = 0
    // Part by part: many parts of many frames have more pieces together than there is memory for.
    for part in parts {
      for piece in head.layout.pieces(of: part) {
        switch piece.source {
        case .copy(let source): copies.append(source)
        // The literals between copies may come from one frame, which then comes up again and again.
        case .frame(let number, _) where number > frames.last ?? -1:
          frames.append(number)
          wanted += ByteCount(head.layout.index.frames[number].storedLength)
        case .frame: continue
        }
      }
    }
    self.copies = copies
    self.frames = wanted * 2 > head.name.stored ? Array(layout.index.frames.indices) : frames
  }

  /// Bytes of memory that it takes.
  var cost: Int { head.bytes.count + (run?.bytes.count ?? 0) + (open?.bytes.count ?? 0) }

  deinit { close() }

  private func close() {
    guard let bytes = open?.bytes else { return }
    open = nil
    BufferPool.give(bytes)
  }

  /// Whether a frame is the one decompressed last.
  func isOpen(_ number: Int) -> Bool { open?.number == number }

  /// The log bytes of a frame.
  ///
  /// - Throws: ``ReplicaError`` when it is damaged, ``ObjectStore/StoreError``.
  func frame(_ number: Int) async throws -> [UInt8] {
    if let open, open.number == number { return open.bytes }
    close()
    let stored = layout.stored(number)
    if Self.position(of: stored, in: head) == nil,
      run.flatMap({ Self.position(of: stored, in: $0) }) == nil
    {
      run = nil
      let range = stretch(from: number)
      run = (range.lowerBound, try await SegmentHead.piece(range, of: name, key, store))
    }
    for held in [head, run].compactMap({ $0 }) {
      guard let position = Self.position(of: stored, in: held) else { continue }
      let bytes = try naming(name) {
        try decoder.decode(layout.index.frames[number], of: held.bytes, from: position)
      }
      open = (number, bytes)
      return bytes
    }
    throw ReplicaError(.damagedObject, "\(name.fileName): frame \(number) is not there")
  }

  /// Bytes of the object from a frame on, as far as wanted frames follow each other closely.
  private func stretch(from number: Int) -> Range<Int64> {
    var range = layout.stored(number)
    for next in frames.drop(while: { $0 <= number }) {
      let stored = layout.stored(next)
      guard stored.lowerBound - range.upperBound <= Self.gap else { break }
      range = range.lowerBound..<stored.upperBound
    }
    return range
  }

  private static func position(
    of stored: Range<Int64>, in held: (start: Int64, bytes: [UInt8])
  ) -> Int? {
    let start = stored.lowerBound - held.start
    guard start >= 0, stored.upperBound <= held.start + Int64(held.bytes.count) else { return nil }
    return Int(start)
  }
}
