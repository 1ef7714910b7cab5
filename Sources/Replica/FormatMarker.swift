import Foundation
package import ObjectStore
import Platform

/// `tidemark.json` at the root of a store: the version of the layout.
///
/// Every writer writes the same bytes, so that two machines can write it at once. It also
/// distinguishes the store from an empty folder in its place: a share that is not mounted, a wrong
/// prefix, a bucket that was emptied.
package enum FormatMarker {
  /// The key.
  package static let key = "tidemark.json"
  /// The content that this version writes.
  package static let content = Array("{\"format\":1,\"name\":\"tidemark\"}\n".utf8)
  /// The folder for scratch objects of a probe before there is a marker; may remain, empty.
  package static let probeFolder = "probe/"

  /// Maximum size of a later version's marker, in bytes.
  private static let largest: ByteCount = 64 << 10

  /// The object found at the key.
  private enum Finding {
    case whole, damaged, nothing
  }

  /// Verifies that a store is the intended one.
  ///
  /// A truncated or damaged marker is written again. A missing one is written only if the store is
  /// otherwise empty, is reached over HTTP, and was never used: in all other cases its absence is
  /// the only sign that this is not the store.
  ///
  /// - Parameters:
  ///   - store: the store.
  ///   - isUsed: whether this home has used the store before.
  ///   - create: false to write nothing.
  /// - Returns: whether the store has a marker now; false only for a new store.
  /// - Throws: ``ReplicaError`` if a later version is in use there; ``ObjectStore/StoreError``,
  ///   `configuration` if the marker is missing and must not be written. Nothing was written then.
  @discardableResult package static func check(
    _ store: any ObjectStore, isUsed: Bool, create: Bool
  ) async throws -> Bool {
    let finding = try await find(in: store)
    switch finding {
    case .whole: return true
    case .damaged: break
    case .nothing:
      guard !store.isFolder, !isUsed else { throw missing(in: store, isUsed: isUsed) }
      let root = try await store.list("", after: nil)
      let isEmpty = root.objects.isEmpty && root.directories.allSatisfy { $0 == probeFolder }
      if !isEmpty || root.next != nil {
        // Another device may have started meanwhile; it writes the marker first.
        guard try await find(in: store) == .nothing else { return true }
        throw missing(in: store, isUsed: isUsed)
      }
    }
    if create { try await write(to: store) }
    return create || finding == .damaged
  }

  /// Whether the marker exists, undamaged.
  ///
  /// - Throws: ``ReplicaError`` if a later version is in use there; ``ObjectStore/StoreError``.
  package static func isWhole(in store: any ObjectStore) async throws -> Bool {
    try await find(in: store) == .whole
  }

  /// Reads the marker.
  ///
  /// - Throws: ``ReplicaError`` for a marker of another format; ``ObjectStore/StoreError``, also if
  ///   the store refuses access: a refusal never counts as absence.
  private static func find(in store: any ObjectStore) async throws -> Finding {
    let found: [UInt8]
    do {
      found = try await store.get(key, atMost: largest)
    } catch let error as StoreError where error.isNotFound {
      return .nothing
    }
    if found == content { return .whole }
    guard isDamagedMarker(found) else {
      throw ReplicaError(
        .unsupportedFormat,
        "\(store.location)/\(key) names a format that this version does not know; "
          + "nothing was written. Use a newer tidemark or another folder.")
    }
    return .damaged
  }

  private static func missing(in store: any ObjectStore, isUsed: Bool) -> StoreError {
    let cause = store.isFolder ? "the share is not mounted, or the folder" : "the place"
    let (response, advice) =
      if isUsed {
        (
          "this home has used the store, and its marker is missing: \(cause) was emptied or "
            + "replaced, or the prefix in the configuration is wrong",
          "Look at it; 'tidemark init --restore-marker' puts the marker back."
        )
      } else if store.isFolder {
        (
          "the folder is not a store yet, or the share is not mounted",
          "Mount it, or run 'tidemark init \(store.location)' once."
        )
      } else {
        (
          "the place holds other things, and no marker of a store",
          "Check the prefix; 'tidemark init URL' makes it a store all the same."
        )
      }
    return StoreError(
      .configuration, operation: "GET", target: "\(store.location)/\(key)", response: response,
      advice: advice)
  }

  private struct Marker: Decodable {
    let format: Int
  }

  /// Whether this is the rest of a marker of this version that was truncated or damaged in transit.
  private static func isDamagedMarker(_ found: [UInt8]) -> Bool {
    guard found.count <= content.count, zip(found, content).count(where: !=) <= 1 else {
      return false
    }
    return (try? JSONDecoder().decode(Marker.self, from: Data(found)))?.format ?? 1 == 1
  }

  /// Maximum attempts to put a marker that is stored differently.
  private static let attempts = 3

  /// Puts the marker until it is stored as sent: a damaged one would lock every device out.
  ///
  /// For a store that a person named, or that ``check(_:isUsed:create:)`` found new.
  ///
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``.
  package static func write(to store: any ObjectStore) async throws {
    for _ in 0..<attempts {
      guard try await !store.put(key, content).provesContent else { return }
      do {
        guard try await store.get(key, atMost: largest) != content else { return }
      } catch let error as StoreError where error.isNotFound {
        // The store reported success, but stored nothing.
      }
    }
    throw ReplicaError(
      .damagedObject,
      "\(store.location)/\(key) was stored \(attempts) times with other bytes than were sent")
  }
}
