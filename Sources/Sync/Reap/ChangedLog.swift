package import SessionLog

extension Sidecar.Seal {
  /// Why the local log of a session that was sealed as it had been sent stays, and what ends that.
  package static var changedLogText: String {
    "local log was changed after it was sent, and the store has, or had until it expired, what was sent: 'tidemark import' of "
      + "the file, and of each rotated part, sends what it has now as another session, 'tidemark delete "
      + "--local' deletes them all"
  }
}
