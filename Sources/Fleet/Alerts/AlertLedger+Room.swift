import Platform

/// Keeping within the room of the file between passes.
extension AlertLedger {
  /// Forgets alerts that have no room: of the devices that have the most, first those that were
  /// reported, and of these the ones that were not seen for the longest time.
  ///
  /// - Parameters:
  ///   - limit: the total size that fits.
  ///   - size: the size of an alert.
  /// - Returns: the number of alerts that were not reported yet, by the device's name.
  mutating func limitAlerts(to limit: Int, size: (Alert) -> Int) -> [String: Int] {
    let sizes = alerts.mapValues(size)
    guard sizes.values.reduce(0, +) > limit else { return [:] }
    let known = alerts.sorted { one, other in
      (one.value.isUnreported ? 1 : 0, one.value.seenAt, one.key)
        < (other.value.isUnreported ? 1 : 0, other.value.seenAt, other.key)
    }
    let excess = FairShare.excess(
      known.map { fingerprint, alert in
        (key: fingerprint, holder: alert.sample.subject.device, size: sizes[fingerprint] ?? 0)
      }, within: limit)
    var lost: [String: Int] = [:]
    for fingerprint in excess {
      guard let alert = alerts.removeValue(forKey: fingerprint), alert.isUnreported
      else { continue }
      lost[alert.sample.subject.deviceName, default: 0] += 1
    }
    return lost
  }

  /// Forgets counts of rates that have no room, of the devices that have the most.
  ///
  /// - Returns: the number of forgotten counts, by the device's id.
  mutating func limitRates(to limit: Int, size: (RateWindow) -> Int) -> [String: Int] {
    var known: [(key: (rule: String, key: String), holder: String, size: Int)] = []
    for (rule, windows) in rates.sorted(by: { $0.key < $1.key }) {
      for (key, window) in windows.sorted(by: { $0.key < $1.key }) {
        known.append((key: (rule, key), holder: window.device ?? key, size: size(window)))
      }
    }
    var lost: [String: Int] = [:]
    for (rule, key) in FairShare.excess(known, within: limit) {
      guard let window = rates[rule]?.removeValue(forKey: key) else { continue }
      lost[window.device ?? key, default: 0] += 1
    }
    rates = rates.filter { !$0.value.isEmpty }
    return lost
  }
}

extension Alert {
  /// Whether no message about it was sent yet.
  fileprivate var isUnreported: Bool { toldAt == nil }
}
