import Logging

extension ReapPlan {
  /// Logs what goes, at level info, and what stays, at level debug, each with the reason.
  func log(to logger: Logger, side: String) {
    if let postponement { logger.warning("\(side) deletion put off: \(postponement.reason)") }
    for decision in local + remote + superseded {
      logger.info("\(decision.session): \(side) deletion is due: \(decision.reason)")
    }
    for decision in kept {
      logger.debug("\(decision.session): \(side) copy stays: \(decision.reason)")
    }
  }
}
