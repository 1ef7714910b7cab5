package import Platform

extension AlertNotification {
  /// An example message of a rule, and its targets.
  package static func example(
    of rule: AlertRule, at now: Timestamp
  ) -> (notification: AlertNotification, targets: [String]) {
    // A made-up match is at the same time by each clock.
    let now = now.assumingSynchronizedClocks
    var subject = AlertSubject(device: "example", deviceName: "example-device")
    (subject.app, subject.user) = ("example", "nobody")
    var sample = AlertSample(subject)
    sample.lines = ["This is a test of alert \(rule.name); nothing has happened."]
    if rule.isOfCrashes { sample.cause = "signal 11 (SIGSEGV)" }
    if rule.records != nil { sample.level = "ERROR" }
    let match = AlertMatch(key: "example", count: 1, first: now, last: now, sample: sample)
    var alert = Alert(rule: rule.name, key: match.key, match, at: now)
    alert.add(match, at: now)
    let fingerprint = AlertFingerprint.make([rule.name, "example"])
    return (
      AlertNotification(alert, .firing, fingerprint: fingerprint, new: 1, at: now), rule.targets
    )
  }
}
