package import Platform

/// The decisions of a pass: which alerts fire, and which messages to send.
///
/// | from | event | to | message |
/// |---|---|---|---|
/// | none | the condition holds | pending, or firing where `for` is 0 | |
/// | pending | no match for `keep` | none | |
/// | pending | holds for `for` | firing | once, together with others of its rule |
/// | firing | holds, and `repeat` has passed | firing | again |
/// | firing | no match for `keep` | none | its end, if its beginning was reported |
/// | firing, of a silence | gone from the store, or given up | none | the same, with the reason |
/// | firing, of a crash | reported | told | |
/// | told | another crash of its kind | firing | where `repeat` has passed |
///
/// Muted alerts are counted and never reported later. Outside a rule's hours no message is sent;
/// alerts that fire then wait for them.
///
/// No device takes another's room: messages, and the places of remembered alerts, go to the first
/// alert of each device before the second of any, and a message names the devices of what it does
/// not show.
package struct AlertPlan: Sendable {
  /// The ledger for the next pass.
  package private(set) var ledger: AlertLedger
  /// The messages to send, in order.
  package private(set) var outgoing: [OutgoingAlert] = []
  /// Fingerprints of the alerts that fire in this pass.
  package private(set) var firing: Set<String> = []
  /// Names of devices with the number of their alerts that had no room, before they were reported.
  package private(set) var leftOut: [String: Int] = [:]
  let now: ServerTime
  /// How far the server's clock is ahead of this machine's.
  private let offset: Duration
  /// Why silences end although their devices are still silent, by fingerprint.
  private var ends: [String: String] = [:]

  /// A kind of crash that has not occurred for this long begins again.
  private static let crashMemory = Duration.days(30)
  /// Tolerance for cron's delays.
  private static let slack = Duration.seconds(10)
  /// Maximum number of alerts kept.
  package static let mostAlerts = 10_000
  /// The first pass reports nothing older than this.
  package static let newsAge = Duration.hours(1)

  /// Makes the decisions.
  ///
  /// - Parameters:
  ///   - rules: the rules; alerts of others are dropped.
  ///   - ledger: the ledger of the previous pass.
  ///   - reading: the news; nil if the store could not be read.
  ///   - now: the time by the server's clock.
  ///   - offset: how far that clock is ahead of this machine's.
  ///   - newsAge: the maximum age of events that a first pass reports.
  ///   - most: maximum number of messages per target and pass.
  ///   - mostAlerts: maximum number of alerts to remember.
  package init(
    _ rules: [AlertRule], _ ledger: AlertLedger, _ reading: AlertReading?, now: ServerTime,
    offset: Duration, newsAge: Duration = AlertPlan.newsAge, most: Int = 20,
    mostAlerts: Int = AlertPlan.mostAlerts
  ) {
    self.ledger = ledger
    (self.now, self.offset) = (now, offset)
    self.ledger.newsSince = ledger.newsSince ?? now - newsAge
    let localNow = now.asLocal(offset: offset)
    self.ledger.silences.removeAll { $0.until <= localNow }
    let names = Set(rules.map(\.name))
    self.ledger.alerts = ledger.alerts.filter { names.contains($0.value.rule) }
    self.ledger.toldAt = ledger.toldAt.filter { names.contains($0.key) }
    self.ledger.rates = ledger.rates.filter { names.contains($0.key) }
    for rule in rules {
      if let reading {
        let matches = matches(of: rule, in: reading)
        record(matches, of: rule)
        advance(rule, Set(matches.map { fingerprint(rule, $0.key) }))
      }
      sendMessages(rule, isSeen: reading != nil)
    }
    limitMessages(to: most)
    leftOut = self.ledger.limitAlerts(to: mostAlerts) { _ in 1 }
  }

  private func fingerprint(_ rule: AlertRule, _ key: String) -> String {
    AlertFingerprint.make([rule.name, key])
  }

  /// The alert of a rule with a key; nil if there is none.
  func alert(_ rule: AlertRule, _ key: String) -> Alert? {
    ledger.alerts[fingerprint(rule, key)]
  }

  /// The alerts of a rule that fire.
  func firing(_ rule: AlertRule) -> [Alert] {
    ledger.alerts.values.filter { $0.rule == rule.name && $0.phase == .firing }
  }

  mutating func setEnd(_ reason: String, of key: String, _ rule: AlertRule) {
    ends[fingerprint(rule, key)] = reason
  }

  mutating func setRates(_ windows: [String: RateWindow], of rule: AlertRule) {
    ledger.rates[rule.name] = windows.isEmpty ? nil : windows
  }

  /// The time by the clock of this machine.
  private var localNow: Timestamp { now.asLocal(offset: offset) }

  private func isSilenced(_ alert: Alert) -> Bool {
    ledger.silences.contains { $0.covers(alert.rule, alert.sample.subject, at: localNow) }
  }

  /// Whether the rule sends messages at this time.
  private func isOpen(_ rule: AlertRule) -> Bool {
    rule.hours.map { $0.beginning(of: now) != nil } ?? true
  }

  /// Time between now and a date; positive even if the clock was set back.
  private func age(_ time: ServerTime) -> Duration { (now - time).magnitude }

  // MARK: States

  private mutating func record(_ matches: [AlertMatch], of rule: AlertRule) {
    for match in matches {
      let fingerprint = fingerprint(rule, match.key)
      let known = ledger.alerts[fingerprint].flatMap { hasLapsed($0, rule) ? nil : $0 }
      var alert = known ?? Alert(rule: rule.name, key: match.key, match, at: now)
      alert.add(match, at: now)
      if alert.phase == .told { alert.phase = .firing }
      ledger.alerts[fingerprint] = alert
    }
  }

  /// Whether a pending alert has ended: nothing matched it for the rule's `keep`.
  private func hasLapsed(_ alert: Alert, _ rule: AlertRule) -> Bool {
    alert.phase == .pending && age(alert.seenAt) >= rule.keep
  }

  private mutating func advance(_ rule: AlertRule, _ matched: Set<String>) {
    let alerts = ledger.alerts.filter { $0.value.rule == rule.name }
      .sorted { ($0.value.since, $0.key) < ($1.value.since, $1.key) }
    for (fingerprint, alert) in alerts {
      let isHeld = matched.contains(fingerprint) || age(alert.seenAt) < rule.keep
      switch alert.phase {
      case .told:
        if age(alert.last) > Self.crashMemory { ledger.alerts[fingerprint] = nil }
      case .pending where rule.isOfCrashes || (isHeld && age(alert.begunAt) >= rule.delay):
        ledger.alerts[fingerprint]?.phase = .firing
      case .pending:
        if !isHeld { ledger.alerts[fingerprint] = nil }
      case .firing:
        // An unreported alert has no end to report, and outside the hours no end is sent.
        guard !isHeld, !rule.isOfCrashes, alert.toldAt != nil, isOpen(rule) else { continue }
        ledger.alerts[fingerprint] = nil
        guard alert.messages > 0, rule.reportsEnd, !isSilenced(alert) else { continue }
        let end = AlertNotification(
          alert, .resolved, fingerprint: fingerprint, new: alert.count - alert.toldCount,
          reason: ends[fingerprint], at: now)
        send(end, rule)
      }
    }
  }

  // MARK: Messages

  /// - Parameter isSeen: whether the store was read, so that a silence is known to continue.
  private mutating func sendMessages(_ rule: AlertRule, isSeen: Bool) {
    var due: [(fingerprint: String, alert: Alert)] = []
    for (fingerprint, alert) in ledger.alerts
    where alert.rule == rule.name && alert.phase == .firing {
      firing.insert(fingerprint)
      let isNews = alert.count > alert.toldCount || (rule.isOfSilence && isSeen)
      guard alert.toldAt.map({ isNews && age($0) >= rule.repeatsEvery }) ?? true else { continue }
      if isSilenced(alert) {
        markTold(fingerprint, rule, isQuiet: true)
      } else if isOpen(rule) {
        due.append((fingerprint, alert))
      }
    }
    due.sort { ($0.alert.since, $0.fingerprint) < ($1.alert.since, $1.fingerprint) }
    guard let first = due.first,
      rule.isOfCrashes
        || ledger.toldAt[rule.name].map({ age($0) + Self.slack >= rule.group }) ?? true
    else { return }
    func message(_ one: (fingerprint: String, alert: Alert)) -> AlertNotification {
      AlertNotification(
        one.alert, .firing, fingerprint: one.fingerprint,
        new: one.alert.count - one.alert.toldCount, at: now)
    }
    if rule.isOfCrashes {
      for one in due { send(message(one), rule) }
    } else {
      var all = message(first)
      let inTurns = FairShare.inTurns(due) { $0.alert.sample.subject.device }
      if due.count > 1 { all.add(Array(inTurns.dropFirst())) }
      send(all, rule)
    }
    for one in due { markTold(one.fingerprint, rule, isQuiet: false) }
    ledger.toldAt[rule.name] = now
  }

  private mutating func markTold(_ fingerprint: String, _ rule: AlertRule, isQuiet: Bool) {
    ledger.alerts[fingerprint]?.markTold(at: now, isQuiet: isQuiet)
    if rule.isOfCrashes {
      ledger.alerts[fingerprint]?.phase = .told
      ledger.alerts[fingerprint]?.reduce()
    }
  }

  private mutating func send(_ message: AlertNotification, _ rule: AlertRule) {
    for target in rule.targets.isEmpty ? [""] : rule.targets {
      outgoing.append(OutgoingAlert(target: target, notification: message, decidedAt: localNow))
    }
  }

  private mutating func limitMessages(to most: Int) {
    var kept: [OutgoingAlert] = []
    for (_, messages) in Dictionary(grouping: outgoing, by: \.target).sorted(by: { $0.key < $1.key }
    ) {
      let turns = FairShare.inTurns(Array(messages.indices)) { messages[$0].notification.turn }
      let shown = Set(turns.prefix(max(1, most)))
      var told = messages.indices.filter(shown.contains).map { messages[$0] }
      let omitted = turns.dropFirst(max(1, most)).map { messages[$0].notification }
      if !omitted.isEmpty {
        let devices = Set(told.map(\.notification.device.id))
        told[told.count - 1].add(omitted: omitted, besides: devices)
      }
      kept += told
    }
    outgoing = kept
  }
}
