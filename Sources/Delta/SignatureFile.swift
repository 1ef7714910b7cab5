import Crypto

/// The cached form of a signature: append-only, and trusted only as far as it is valid.
///
/// All integers are little-endian:
///
///     header, 16 bytes: "TDSG", u16 version, u16 shortest, u32 average, u32 longest block of level 0
///     groups: u32 length of the records
///             records: for each block its length (LEB128) and 16 bytes of hash
///             8 bytes: start of SHA-256 over the 8 bytes before the group's length, which end the
///             header or another group, and the records
///
/// A group that a crash truncated, or that was corrupted since, fails its checksum: it and
/// everything after it is dropped, and so is a group that does not follow the one it was written
/// after. With another header nothing is read. A block costs 18 or 19 bytes: 5 MB for a stream of 1
/// GiB.
///
/// There is no weak hash beside the strong one, which rsync needs to check every byte offset: the
/// content determines where blocks begin, so each is looked up once.
package struct SignatureFile: Sendable {
  /// The version this code writes and reads.
  package static let version: UInt16 = 1

  /// The blocks in the file.
  package private(set) var signature = Signature()
  /// Length of the file's valid part in bytes; truncate the rest before appending.
  package private(set) var length = 0

  private var chain: ArraySlice<UInt8> = Self.header.suffix(Self.checksumLength)

  /// Makes an empty file.
  package init() {}

  /// Reads the valid part of a file's bytes.
  package init(_ file: [UInt8]) {
    guard file.starts(with: Self.header) else { return }
    length = Self.header.count
    while let group = Self.group(file[length...], after: chain, from: signature.end) {
      signature.append(group.entries)
      length += group.length
      chain = file[..<length].suffix(Self.checksumLength)
    }
    chain = ArraySlice(Array(chain))
  }

  /// Adds the stream's next blocks.
  ///
  /// - Parameter entries: blocks that begin where ``signature`` ends.
  /// - Returns: the bytes to append to the file: none for no blocks.
  package mutating func append(_ entries: [Signature.Entry]) -> [UInt8] {
    guard !entries.isEmpty else { return [] }
    var records: [UInt8] = []
    for entry in entries {
      Varint.append(UInt64(entry.length), to: &records)
      records += entry.hash.encoded
    }
    var bytes = length == 0 ? Self.header : []
    bytes.append(littleEndian: UInt32(records.count))
    bytes += records
    chain = Self.checksum(chain, records[...])
    bytes += chain
    length += bytes.count
    signature.append(entries)
    return bytes
  }

  private static let magic = Array("TDSG".utf8)
  private static let checksumLength = 8

  private static let header: [UInt8] = {
    var bytes = magic
    bytes.append(littleEndian: version)
    bytes.append(littleEndian: UInt16(BlockSplitter.minimum))
    bytes.append(littleEndian: UInt32(BlockSplitter.average))
    bytes.append(littleEndian: UInt32(BlockSplitter.maximum))
    return bytes
  }()

  /// The group at the start of some bytes; nil if it is torn or corrupt.
  private static func group(
    _ bytes: ArraySlice<UInt8>, after chain: ArraySlice<UInt8>, from start: Int64
  ) -> (entries: [Signature.Entry], length: Int)? {
    guard bytes.count >= 4 else { return nil }
    let recordsLength = Int(bytes.littleEndian32(at: 0))
    let length = 4 + recordsLength + checksumLength
    guard length <= bytes.count else { return nil }
    let records = bytes.dropFirst(4).prefix(recordsLength)
    guard bytes.prefix(length).suffix(checksumLength) == checksum(chain, records) else {
      return nil
    }
    guard let entries = try? decode(records, from: start) else { return nil }
    return (entries, length)
  }

  private static func decode(
    _ records: ArraySlice<UInt8>, from start: Int64
  ) throws(SegmentError) -> [Signature.Entry]? {
    var reader = ByteReader(records)
    var entries: [Signature.Entry] = []
    var offset = start
    while !reader.isAtEnd {
      let length = try reader.count()
      guard BlockLevel.lengths(BlockLevel.of(offset)).contains(length),
        let hash = ContentHash(encoded: try reader.bytes(ContentHash.length))
      else { return nil }
      entries.append(Signature.Entry(length: length, hash: hash))
      offset += Int64(length)
    }
    return entries
  }

  private static func checksum(
    _ chain: ArraySlice<UInt8>, _ records: ArraySlice<UInt8>
  ) -> ArraySlice<UInt8> {
    var hasher = SHA256()
    hasher.update(data: chain)
    hasher.update(data: records)
    return Array(hasher.finalize())[..<checksumLength]
  }
}
