import Delta
import ObjectStore
import Platform
import SessionLog

/// A segment's index, fetched from the store with as little else as possible.
struct SegmentHead: Sendable {
  let name: SegmentName
  let layout: SegmentLayout
  /// Bytes of the object that came with it, and their offset in the object.
  let loaded: (start: Int64, bytes: [UInt8])
  /// Whether the session's seal names this index, which then proves the frames.
  let isSealed: Bool

  /// Objects up to this size are fetched whole: a request costs more than the bytes.
  static let wholeLimit: ByteCount = 32 << 10
  /// Bytes fetched from an object's end; nearly every index is shorter.
  private static let guess: Int64 = 4096

  /// Fetches an index.
  ///
  /// - Parameters:
  ///   - verification: what is known of it.
  ///   - whole: whether the rest of the object is needed as well.
  /// - Throws: ``ReplicaError`` if the object or its index is damaged, ``ObjectStore/StoreError``.
  static func fetch(
    _ name: SegmentName, in folder: SessionFolder, from store: any ObjectStore,
    _ verification: SealedContents.Verification, whole: Bool
  ) async throws -> SegmentHead {
    let key = folder.key + name.fileName
    guard !whole, name.stored > wholeLimit else {
      let object = try await store.get(key, atMost: SegmentName.largestObject)
      guard ByteCount(object.count) == name.stored else {
        throw damaged(name, "has \(object.count) bytes, not what its name says")
      }
      return try SegmentHead(name, start: 0, object, verification)
    }
    let size = name.stored.bytes
    var start = size - guess
    var tail = try await piece(start..<size, of: name, key, store)
    let length = Int64(try naming(name) { try SegmentIndex.length(endOf: tail[...]) })
    if length > guess {
      start = size - length
      guard start >= 0 else { throw damaged(name, "is shorter than its index") }
      tail = try await piece(start..<size - guess, of: name, key, store) + tail
    }
    return try SegmentHead(name, start: start, tail, verification)
  }

  private init(
    _ name: SegmentName, start: Int64, _ bytes: [UInt8],
    _ verification: SealedContents.Verification
  ) throws {
    self.name = name
    loaded = (start, bytes)
    if case .index(let hash) = verification {
      let found = try naming(name) { try SegmentIndex.hash(endOf: bytes[...]).text }
      guard found == hash else {
        throw Self.damaged(name, "does not have the index that the session was sealed with")
      }
      isSealed = true
    } else {
      isSealed = false
    }
    layout = try naming(name) {
      let (index, length) = try SegmentIndex.decode(endOf: bytes[...])
      return try SegmentLayout(
        index, indexLength: length, stored: name.stored.bytes, generation: name.generation,
        length: name.length.bytes)
    }
    guard (layout.index.delta == nil) == (name.kind == .plain) else {
      throw Self.damaged(name, "is not of the kind that its name says")
    }
  }

  /// The index without the bytes that came with it.
  var withoutBytes: SegmentHead {
    SegmentHead(
      name: name, layout: layout, held: (name.stored.bytes, []), isSealed: isSealed)
  }

  private init(
    name: SegmentName, layout: SegmentLayout, held: (start: Int64, bytes: [UInt8]), isSealed: Bool
  ) {
    self.name = name
    self.layout = layout
    self.loaded = held
    self.isSealed = isSealed
  }

  /// Fetches a range of an object.
  static func piece(
    _ range: Range<Int64>, of name: SegmentName, _ key: String, _ store: any ObjectStore
  ) async throws -> [UInt8] {
    let count = ByteCount(range.count)
    let bytes = try await store.get(key, range: .bytes(offset: range.lowerBound, count: count))
    guard ByteCount(bytes.count) == count else {
      throw damaged(name, "ends at byte \(range.lowerBound + Int64(bytes.count)), too early")
    }
    return bytes
  }

  private static func damaged(_ name: SegmentName, _ what: String) -> ReplicaError {
    ReplicaError(.damagedObject, "\(name.fileName) \(what)")
  }
}

/// Adds the object's name to errors of lower layers.
func naming<Value>(
  _ object: any CustomStringConvertible, _ work: () throws -> Value
) throws -> Value {
  do {
    return try work()
  } catch let error as SegmentError {
    throw ReplicaError(.damagedObject, "\(object): \(error)")
  } catch let error as DecodingError {
    throw ReplicaError(.damagedObject, "\(object) is not a sidecar: \(error.summary)")
  }
}
