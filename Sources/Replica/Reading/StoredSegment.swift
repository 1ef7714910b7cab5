import Crypto
import Delta
import ObjectStore
import Platform

/// A segment whose frames are read; fetches no more of the object than these need.
///
/// Wanted frames close to each other are fetched by one request; if most of the object is wanted,
/// all of it is.
final class StoredSegment {
  let name: SegmentName
  let layout: SegmentLayout
  /// The ranges of earlier generations that the wanted parts copy.
  let copies: [StreamRange]

  private let key: String
  private let store: any ObjectStore
  private let decoder: SegmentDecoder
  /// Wanted frames, in order.
  private let frames: [Int]
  private let head: (start: Int64, bytes: [UInt8])
  /// Whether each frame is compared with its hash: a reader may stop before the whole segment can be
  /// compared with its name.
  let provesFrames: Bool
  /// The frames fetched last.
  private var run: (start: Int64, bytes: [UInt8])?
  /// The frame decompressed last.
  private var open: (number: Int, bytes: [UInt8])?

  /// Unwanted bytes between two frames that are fetched to save a request.
  private static let gap: Int64 = 64 << 10

  /// - Parameters:
  ///   - head: its index.
  ///   - parts: the parts to be read, as positions in its stream bytes, in order.
  init(
    _ head: SegmentHead, wanting parts: [Range<Int64>], in folder: SessionFolder,
    from store: any ObjectStore, with decoder: SegmentDecoder
  ) {
    name = head.name
    layout = head.layout
    key = folder.key + head.name.fileName
    self.head = head.loaded
    provesFrames = head.isSealed
    self.store = store
    self.decoder = decoder
    var frames: [Int] = []
    var copies: [StreamRange] = []
    var wanted: ByteCount = 0
    // One part at a time: many parts of many frames could have more pieces than fit into memory.
    for part in parts {
      for piece in head.layout.pieces(of: part) {
        switch piece.source {
        case .copy(let source): copies.append(source)
        // Literals between copies may share a frame, which then occurs repeatedly.
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

  /// Its memory in bytes.
  var cost: Int { head.bytes.count + (run?.bytes.count ?? 0) + (open?.bytes.count ?? 0) }

  deinit { close() }

  private func close() {
    guard let bytes = open?.bytes else { return }
    open = nil
    BufferPool.release(bytes)
  }

  /// Whether a frame is the one decompressed last.
  func isOpen(_ number: Int) -> Bool { open?.number == number }

  /// The log bytes of a frame.
  ///
  /// - Throws: ``ReplicaError`` if it is damaged, ``ObjectStore/StoreError``.
  func frame(_ number: Int) async throws -> [UInt8] {
    if let open, open.number == number { return open.bytes }
    close()
    let stored = layout.stored(number)
    if Self.position(of: stored, in: head) == nil,
      run.flatMap({ Self.position(of: stored, in: $0) }) == nil
    {
      run = nil
      let range = frames(from: number)
      run = (range.lowerBound, try await SegmentHead.piece(range, of: name, key, store))
    }
    for held in [head, run].compactMap({ $0 }) {
      guard let position = Self.position(of: stored, in: held) else { continue }
      let bytes = try decode(layout.index.frames[number], held.bytes, at: position)
      open = (number, bytes)
      return bytes
    }
    throw ReplicaError(.damagedObject, "\(name.fileName): frame \(number) is not there")
  }

  private func decode(
    _ frame: FrameSummary, _ bytes: [UInt8], at position: Int
  ) throws -> [UInt8] {
    // The index has no hash of a frame that is the whole segment: the name has it.
    let isSegment = name.kind == .plain && layout.index.frames.count == 1
    if provesFrames, !isSegment {
      try expectSealed(frame.matches(bytes[position..<position + frame.storedLength]))
    }
    let log = try naming(name) { try decoder.decode(frame, of: bytes, from: position) }
    if provesFrames, isSegment {
      try expectSealed(NameField.hash16(SHA256.hash(data: log)) == name.hash)
    }
    return log
  }

  private func expectSealed(_ isSealed: Bool) throws {
    guard !isSealed else { return }
    throw ReplicaError(
      .damagedObject, "\(name.fileName) holds other bytes than its session was sealed with")
  }

  /// The object's bytes from a frame on, as far as wanted frames are close together.
  private func frames(from number: Int) -> Range<Int64> {
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
