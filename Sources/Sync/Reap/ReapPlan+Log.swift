import Logging

extension ReapPlan {
  /// Logs deletions at level info and kept sessions at level debug, with the reasons.
  func log(to logger: Logger, side: String) {
    if let postponement { logger.warning("\(side) deletion put off: \(postponement.reason)") }
    for removal in local + remote + superseded {
      logger.info("\(removal.session): \(side) deletion is due: \(removal.explanation)")
    }
    for kept in kept { logger.debug("\(kept.session): \(side) copy stays: \(kept.reason)") }
  }
}
