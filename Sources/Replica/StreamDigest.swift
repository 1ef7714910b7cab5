import ObjectStore

/// How digests of streams are written: SHA-256 in lower-case hex.
package enum StreamDigest {
  /// The hex form.
  package static func hex(_ digest: some Sequence<UInt8>) -> String { NameField.hex(digest) }
}
