import Platform

/// Matching a pass's news against a rule.
extension AlertPlan {
  mutating func matches(of rule: AlertRule, in reading: AlertReading) -> [AlertMatch] {
    switch rule.condition {
    case .crash(let includesFailures):
      return reading.crashes
        .filter { ($0.isCrash || includesFailures) && rule.filter.admits($0.subject) }
        .map { AlertMatch(rule, $0, now: now) }
    case .records:
      return reading.records.filter { $0.rule == rule.name }.map { AlertMatch(rule, $0) }
    case .rate(_, let limit, let span):
      return frequent(rule, limit, span, in: reading)
    case .silence(let limit):
      return silent(rule, limit, in: reading)
    }
  }

  private mutating func frequent(
    _ rule: AlertRule, _ limit: Int, _ span: Duration, in reading: AlertReading
  ) -> [AlertMatch] {
    var windows = ledger.rates[rule.name] ?? [:]
    var found: [AlertMatch] = []
    for records in reading.records where records.rule == rule.name {
      let key = rule.key(of: records.subject)
      let new = RateWindow(of: records.subject.device)
      if windows[key, default: new].add(records.minutes, within: span) > limit {
        found.append(AlertMatch(rule, records))
      }
    }
    let minute = now.milliseconds / 60_000
    setRates(windows.filter { $0.value.isOpen(at: minute, within: span) }, of: rule)
    return found
  }

  private mutating func silent(
    _ rule: AlertRule, _ limit: Duration, in reading: AlertReading
  ) -> [AlertMatch] {
    var hours = ServerTime(milliseconds: .min)
    if let rules = rule.hours {
      guard let beginning = rules.beginning(of: now) else { return [] }
      hours = beginning
    }
    var newest: [String: AlertReading.Heard] = [:]
    for heard in reading.heard
    where (heard.subject.session == nil) == !rule.readsSessionsForSilence
      && rule.filter.admits(heard.subject)
    {
      let key = rule.key(of: heard.subject)
      if newest[key].map({ $0.newest < heard.newest }) ?? true { newest[key] = heard }
    }
    for alert in firing(rule) where newest[alert.key] == nil {
      setEnd(rule.reasonOfLoss(alert.sample.subject), of: alert.key, rule)
    }
    let newsSince = ledger.newsSince ?? now
    return newest.sorted { $0.key < $1.key }.compactMap { key, heard in
      let newest = heard.newest
      guard newest >= newsSince else { return nil }
      if let longest = rule.givesUpAfter, now - newest > longest {
        setEnd("silent for more than \(Age.compact(longest)), and given up", of: key, rule)
        return nil
      }
      let known = alert(rule, key)
      // No new silence begins at the start of the hours; an earlier one continues.
      let from = known?.phase == .firing ? newest : max(newest, hours)
      guard now - from > limit else { return nil }
      return AlertMatch(
        key: key, count: known == nil ? 1 : 0, first: newest, last: newest,
        sample: AlertSample(heard.subject))
    }
  }
}

extension AlertRule {
  var isOfCrashes: Bool {
    if case .crash = condition { return true }
    return false
  }

  var isOfSilence: Bool {
    if case .silence = condition { return true }
    return false
  }

  /// Whether the silence is of programs or users, which only sidecars name.
  package var readsSessionsForSilence: Bool {
    isOfSilence && (filter.needsSidecar || scope == .app || scope == .user)
  }
}

extension AlertRule {
  /// Why a silent subject is no longer found.
  fileprivate func reasonOfLoss(_ subject: AlertSubject) -> String {
    if !filter.admits(subject) { return "the rule does not look at it any more" }
    return readsSessionsForSilence
      ? "it has sent nothing for two weeks" : "nothing of it is left in the store"
  }
}

extension AlertMatch {
  init(_ rule: AlertRule, _ crash: CrashReport, now: ServerTime) {
    var sample = AlertSample(crash.subject)
    (sample.cause, sample.signature) = (crash.cause, crash.signature)
    (sample.lines, sample.headline) = (crash.lines, crash.headline)
    // Already corrected by the sidecar's clock offset, if it has one; else a device's clock that is
    // ahead must not date a crash in the future.
    let time = min(crash.endedAt.assumingSynchronizedClocks, now)
    self.init(
      key: rule.key(of: crash.subject, signature: crash.signature.id), count: 1, first: time,
      last: time, sample: sample)
  }

  init(_ rule: AlertRule, _ records: MatchedRecords) {
    var sample = AlertSample(records.subject)
    (sample.level, sample.lines, sample.offset) = (records.level, records.lines, records.offset)
    self.init(
      key: rule.key(of: records.subject), count: records.count, first: records.times.lowerBound,
      last: records.times.upperBound, sample: sample)
  }
}
