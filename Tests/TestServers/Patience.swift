/// How long tests wait for an event that must occur.
///
/// Only a hang reaches it: a busy machine may delay a thread for minutes.
package enum Patience {
  /// The seconds.
  package static let seconds = 1800.0
  /// The milliseconds, for `poll`.
  package static let milliseconds: Int32 = 1_800_000
}
