import Foundation
public import ObjectStore

/// `tidemark.json` at the root of a store: the version of the layout, byte-identical whoever writes
/// it, so that two machines can write it at once.
public enum FormatMarker {
  /// The key.
  public static let key = "tidemark.json"
  /// What this version writes.
  public static let content = Array("{\"format\":1,\"name\":\"tidemark\"}\n".utf8)

  /// Reads the marker and, where there is none, writes it.
  ///
  /// - Parameters:
  ///   - store: the store.
  ///   - create: whether a missing marker is written.
  /// - Throws: ``ReplicaError`` when a later version is in use there, and nothing was written;
  ///   ``ObjectStore/StoreError``.
  public static func check(_ store: any ObjectStore, create: Bool) async throws {
    do {
      let found = try await store.get(key)
      guard found != content else { return }
      guard isRemains(found) else {
        throw ReplicaError(
          .unsupportedFormat,
          "\(store.location)/\(key) names a format that this version does not know; "
            + "nothing was written. Use a newer tidemark or another folder.")
      }
      if create { try await write(store) }
    } catch let error as StoreError where error.isNotFound {
      if create { try await write(store) }
    }
  }

  private struct Marker: Decodable {
    let format: Int
  }

  /// Whether this is what is left of a marker of this version that was cut or damaged on its way.
  private static func isRemains(_ found: [UInt8]) -> Bool {
    guard found.count <= content.count, zip(found, content).count(where: !=) <= 1 else {
      return false
    }
    return (try? JSONDecoder().decode(Marker.self, from: Data(found)))?.format ?? 1 == 1
  }

  /// How often a marker is put that is stored otherwise.
  private static let attempts = 3

  /// Puts the marker until it is stored as it was sent: a damaged one would turn everybody away.
  private static func write(_ store: any ObjectStore) async throws {
    for _ in 0..<attempts {
      guard try await !store.put(key, content).provesContent else { return }
      do {
        guard try await store.get(key) != content else { return }
      } catch let error as StoreError where error.isNotFound {
        // Success was said, and nothing stored.
      }
    }
    throw ReplicaError(
      .damagedObject,
      "\(store.location)/\(key) was stored \(attempts) times with other bytes than were sent")
  }
}
