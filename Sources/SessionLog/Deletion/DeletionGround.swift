/// Why bytes of a log may be deleted.
package enum DeletionGround: String, Sendable, Codable {
  /// The store has every byte.
  case proven
  /// Another object has the bytes of an object that this home put: a larger one with proven
  /// content, or those that a seal names.
  case replaced
  /// The retention has passed.
  case expired
  /// A person asked for it.
  case asked
  /// They were missing already, and a repair that a person asked for gives them up.
  case lost
}
