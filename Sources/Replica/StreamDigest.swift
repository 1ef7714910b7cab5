import ObjectStore

/// How digests of streams are written: SHA-256 in lower-case hex.
public enum StreamDigest {
  /// The hex form.
  public static func hex(_ digest: some Sequence<UInt8>) -> String { NameField.hex(digest) }
}
