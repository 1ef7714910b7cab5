import Foundation
import Platform
import SessionLog

/// How a seal is signed.
///
/// What is signed is the JSON byte for byte but for the member `signature`, which stands in lines of
/// its own: so whoever has `sed` and `openssl` can check it, and members that are not known yet are
/// signed as well. The first line says what kind of thing it is, the second where in the store it
/// belongs, the third whose key it is and from when on it counts.
enum SealSignature {
  /// What the signed bytes begin with.
  private static let title = "tidemark seal 1"

  /// The JSON of a seal with its signature.
  ///
  /// - Parameters:
  ///   - sidecar: the seal, without one.
  ///   - revision: its name as it would be without one; hash and size do not count.
  ///   - folder: where it belongs.
  static func sign(
    _ sidecar: Sidecar, as revision: RevisionName, in folder: SessionFolder, by key: DeviceKey
  ) throws -> [UInt8] {
    var sidecar = sidecar
    sidecar.signature = nil
    let bare = try sidecar.json()
    var signature = Sidecar.Signature(
      by: key.publicKey.id, key: key.publicKey.description, sig: "", since: key.created)
    let message = message(bare, signature, revision, folder)
    signature.sig = Data(try key.signature(of: message)).base64EncodedString()
    sidecar.signature = signature
    let json = try sidecar.json()
    guard try Self.bare(json, signature) == bare else {
      throw ReplicaError(.damagedObject, "\(revision.session): its seal cannot be signed")
    }
    return json
  }

  /// The key that a seal is signed with; nil for one without a signature.
  ///
  /// - Throws: ``ReplicaError`` for a signature that is not of this seal.
  static func signer(
    of json: [UInt8], _ sidecar: Sidecar, _ revision: RevisionName, in folder: SessionFolder
  ) throws -> (key: PublicKey, since: Timestamp)? {
    guard let signature = sidecar.signature else { return nil }
    guard let key = PublicKey(signature.key), signature.by == key.id,
      let sig = Data(base64Encoded: signature.sig), let bare = try bare(json, signature),
      key.signed(message(bare, signature, revision, folder), Array(sig))
    else {
      throw ReplicaError(
        .damagedObject,
        "\(folder.key)\(revision.fileName) has a wrong signature: it is not what device "
          + "\(folder.device) sealed. Where the device still has the log, 'tidemark verify --repair' "
          + "there sends it again")
    }
    return (key, signature.since)
  }

  private static func message(
    _ bare: [UInt8], _ signature: Sidecar.Signature, _ revision: RevisionName,
    _ folder: SessionFolder
  ) -> [UInt8] {
    // Without hash, size and ending.
    let place =
      folder.key + revision.fileName.split(separator: ".").dropLast(3).joined(separator: ".")
    return Array("\(title)\n\(place)\n\(signature.key) \(signature.since)\n".utf8) + bare
  }

  /// The JSON without the lines of a signature; nil where they are not there, once and as written.
  private static func bare(_ json: [UInt8], _ signature: Sidecar.Signature) throws -> [UInt8]? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    let object = String(decoding: try encoder.encode(["signature": signature]), as: UTF8.self)
    let lines = object.split(separator: "\n").dropFirst().dropLast()
    let block = Array((lines.joined(separator: "\n") + ",\n").utf8)
    let text = Data(json)
    guard let place = text.range(of: Data(block)), place.lowerBound > 0,
      text[place.lowerBound - 1] == 0x0a
    else { return nil }
    return Array(text[..<place.lowerBound] + text[place.upperBound...])
  }
}
