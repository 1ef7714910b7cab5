/// Faulty versions of a change.
extension ModelStore.Change {
  /// The change with half of the body.
  var halved: ModelStore.Change {
    guard case .put(let key, let bytes) = self else { return self }
    return .put(key, Array(bytes.prefix(bytes.count / 2)))
  }

  /// The change with one bit flipped.
  var damaged: ModelStore.Change {
    guard case .put(let key, var bytes) = self, !bytes.isEmpty else { return self }
    bytes[bytes.count / 2] ^= 1
    return .put(key, bytes)
  }
}
