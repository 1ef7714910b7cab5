import TestSupport

/// An action and its frequency.
struct Weighted {
  /// In which histories an action occurs.
  enum Occurrence {
    /// In all.
    case always
    /// In every third one: after it, less is expected of what readers get.
    case sometimes
    /// Where it is asked for: the product may not withstand it.
    case onRequest
  }

  let weight: Int
  let name: String
  let occurrence: Occurrence
  let make: @Sendable (inout SeededGenerator) -> Action

  init(
    _ weight: Int, _ name: String, _ occurrence: Occurrence = .always,
    _ make: @escaping @Sendable (inout SeededGenerator) -> Action
  ) {
    (self.weight, self.name, self.occurrence, self.make) = (weight, name, occurrence, make)
  }

  private static func home(_ random: inout SeededGenerator) -> Int {
    Int.random(in: 0..<4, using: &random)
  }

  private static func some(_ random: inout SeededGenerator) -> Int {
    Int.random(in: 0..<12, using: &random)
  }

  private static let spans: [Int64] = [
    1, 60, 600, 3600, 7200, 21_600, 86_400, 3 * 86_400, 8 * 86_400, 31 * 86_400,
  ]

  static let all: [Weighted] = [
    Weighted(6, "start") { .start(home: home(&$0)) },
    Weighted(14, "write") {
      .write(home: home(&$0), session: some(&$0), bytes: Int.random(in: 1...9000, using: &$0))
    },
    Weighted(5, "end") { .end(home: home(&$0), session: some(&$0)) },
    Weighted(2, "kill") { .kill(home: home(&$0), session: some(&$0)) },
    Weighted(8, "append") {
      .append(home: home(&$0), file: some(&$0), lines: Int.random(in: 1...40, using: &$0))
    },
    Weighted(2, "appendLate") {
      .appendLate(home: home(&$0), file: some(&$0), lines: Int.random(in: 1...9, using: &$0))
    },
    Weighted(3, "rotate") {
      .rotate(
        home: home(&$0), file: some(&$0),
        Action.Rotation.allCases.randomElement(using: &$0) ?? .create)
    },
    Weighted(1, "nights") {
      .nights(
        home: home(&$0), file: some(&$0), count: Int.random(in: 2...6, using: &$0),
        Action.Rotation.allCases.randomElement(using: &$0) ?? .create)
    },
    Weighted(1, "rewrite") { .rewrite(home: home(&$0), file: some(&$0)) },
    Weighted(1, "unlink") { .unlink(home: home(&$0), file: some(&$0)) },
    Weighted(20, "upload") { .upload(home: home(&$0)) },
    Weighted(2, "reap") {
      .reap(
        home: home(&$0), olderThan: [nil, 1, 3600, 86_400].randomElement(using: &$0) ?? nil,
        isRemote: Bool.random(using: &$0))
    },
    Weighted(1, "reapWithoutStore") { .reapWithoutStore(home: home(&$0)) },
    Weighted(3, "pull") { .pull(home: home(&$0)) },
    Weighted(3, "repair") { .repair(home: home(&$0)) },
    Weighted(1, "redact") { .redact(home: home(&$0)) },
    Weighted(1, "delete") {
      .delete(
        home: home(&$0), session: some(&$0), isLocal: Bool.random(using: &$0),
        isRemote: Bool.random(using: &$0))
    },
    Weighted(1, "keep") { .keep(home: home(&$0), session: some(&$0)) },
    Weighted(2, "restore") { .restore(home: home(&$0), session: some(&$0)) },
    Weighted(1, "retry") { .retry(home: home(&$0), session: some(&$0)) },
    Weighted(3, "read") { .read(home: home(&$0), session: some(&$0)) },
    Weighted(14, "pass") { .pass(seconds: spans.randomElement(using: &$0) ?? 60) },
    Weighted(2, "step") {
      .step(
        home: home(&$0),
        seconds: (spans.randomElement(using: &$0) ?? 60) * (Bool.random(using: &$0) ? 1 : -1))
    },
    Weighted(1, "setRight") { .setRight(home: home(&$0)) },
    Weighted(1, "stepServer") {
      let isLong = Int.random(in: 0..<4, using: &$0) == 0
      let most: Int64 = isLong ? 40 * 86_400 : 90_000
      return .stepServer(seconds: Int64.random(in: -most...most, using: &$0))
    },
    Weighted(2, "reboot") {
      .reboot(home: home(&$0), losesTime: Int.random(in: 0..<4, using: &$0) == 0)
    },
    Weighted(1, "cutPower") { .cutPower(home: home(&$0)) },
    Weighted(1, "fill", .sometimes) {
      .fill(
        home: home(&$0), room: [0, 1000, 5000, 20_000].randomElement(using: &$0) ?? 0)
    },
    Weighted(1, "fail", .sometimes) {
      .fail(home: home(&$0), every: Int.random(in: 2...200, using: &$0))
    },
    Weighted(1, "recover") { .recover(home: home(&$0)) },
    Weighted(1, "snapshot", .sometimes) { .snapshot(home: home(&$0)) },
    Weighted(1, "rollBack", .sometimes) {
      .rollBack(home: home(&$0), reboots: Bool.random(using: &$0))
    },
    Weighted(1, "clone", .sometimes) {
      .clone(home: home(&$0), keepsMachineId: Bool.random(using: &$0))
    },
    Weighted(2, "lose") {
      .lose(
        home: home(&$0),
        [.cache, .open, .lived, .stores].randomElement(using: &$0) ?? .cache)
    },
    Weighted(1, "loseIdentity", .sometimes) {
      .lose(home: home(&$0), [.device, .sidecar].randomElement(using: &$0) ?? .device)
    },
    Weighted(1, "loseState", .sometimes) {
      .lose(
        home: home(&$0), [.uploadState, .rules, .part].randomElement(using: &$0) ?? .uploadState)
    },
    Weighted(1, "putBack") { .putBack(home: home(&$0)) },
    Weighted(1, "edit", .sometimes) {
      .edit(home: home(&$0), session: some(&$0), isCut: Bool.random(using: &$0))
    },
    Weighted(1, "identify", .sometimes) {
      .identify(home: home(&$0), id: [nil, 1, 2].randomElement(using: &$0) ?? nil)
    },
    Weighted(1, "consent") {
      .consent(home: home(&$0), allowsLogs: Bool.random(using: &$0))
    },
    Weighted(1, "rules") { .rules(home: home(&$0), some(&$0)) },
    Weighted(1, "unmount") { _ in .unmount }, Weighted(2, "mount") { _ in .mount },
    Weighted(1, "empty", .onRequest) { _ in .empty },
    Weighted(2, "remove", .onRequest) { .remove(object: some(&$0)) },
    Weighted(1, "forge") { .forge(object: some(&$0), .foreign) },
    Weighted(1, "forgeSize", .onRequest) { .forge(object: some(&$0), .otherSize) },
    Weighted(1, "forgeText", .onRequest) { .forge(object: some(&$0), .otherText) },
    Weighted(1, "forgeCut", .onRequest) { .forge(object: some(&$0), .cut) },
    Weighted(1, "forgeRevision", .onRequest) {
      .forge(object: some(&$0), Bool.random(using: &$0) ? .revision : .replay)
    },
    Weighted(1, "retain") {
      .retain(
        home: home(&$0), seconds: [0, 60, 3600, 86_400, 7 * 86_400].randomElement(using: &$0) ?? 0)
    },
    Weighted(6, "round") { .round(home: home(&$0)) },
    Weighted(2, "obstruct", .sometimes) {
      .obstruct(home: home(&$0), isLocked: Bool.random(using: &$0))
    },
    Weighted(2, "refuse", .sometimes) {
      .refuse(home: home(&$0), session: some(&$0), isLasting: Bool.random(using: &$0))
    },
  ]
}
