/// How long the tests wait for what must come.
///
/// Only what hangs reaches it: a busy machine may let a thread wait for minutes.
package enum Patience {
  /// The seconds.
  package static let seconds = 1800.0
  /// The milliseconds, as `poll` takes them.
  package static let milliseconds: Int32 = 1_800_000
}
