import Simulation
import Testing

/// A history that lost data, or stalled, in an earlier version, with its subject.
struct NamedHistory: Sendable, CustomTestStringConvertible {
  let name: String
  let history: History

  var testDescription: String { name }

  init(_ name: String, store: String = "bucket", homes: Int = 1, _ steps: [Step]) {
    self.init(name, History(store: store, homes: homes, steps))
  }

  init(_ name: String, _ history: History) {
    (self.name, self.history) = (name, history)
  }

  static let hour: Int64 = 3600
  static let day: Int64 = 86_400

  /// A program that runs and ends.
  static func session(_ bytes: Int = 500) -> [Step] {
    [
      Step(.start(home: 0)), Step(.write(home: 0, session: 0, bytes: bytes)),
      Step(.end(home: 0, session: 0)), Step(.pass(seconds: 1)),
    ]
  }

  static func upload(_ home: Int = 0) -> Step { Step(.upload(home: home)) }

  static func pass(_ seconds: Int64) -> Step { Step(.pass(seconds: seconds)) }

  /// Every history, in the order of the dangers.
  static let all = both + one + deadEnds + found + attached

  // MARK: Both copies lost

  private static let both = ["bucket", "webdav", "folder"].flatMap { store in
    [
      NamedHistory(
        "a clock 40 days ahead, \(store)", store: store,
        (0..<25).flatMap { _ in session(100) } + [
          upload(), pass(2 * hour), Step(.step(home: 0, seconds: 40 * day)), upload(), upload(),
          pass(25 * hour), upload(),
        ]),
      NamedHistory(
        "a home set back within a boot, \(store)", store: store,
        [
          Step(.start(home: 0)), Step(.write(home: 0, session: 0, bytes: 3000)), upload(),
          Step(.snapshot(home: 0)), Step(.write(home: 0, session: 0, bytes: 3000)), upload(),
          Step(.rollBack(home: 0, reboots: false)), upload(), pass(8 * day), upload(),
        ]),
      NamedHistory(
        "an object of the same range and another size, \(store)", store: store,
        session() + [
          upload(), Step(.forge(object: 0, .otherSize)), pass(2 * hour), upload(), pass(8 * day),
          upload(), pass(day), upload(),
        ]),
      NamedHistory(
        "a clone with the same machine id, \(store)", store: store,
        [
          Step(.start(home: 0)), Step(.write(home: 0, session: 0, bytes: 3000)), upload(),
          Step(.clone(home: 0, keepsMachineId: true)),
          Step(.write(home: 0, session: 0, bytes: 6000)), upload(),
          Step(.end(home: 0, session: 0)), upload(1), pass(8 * day), upload(1), upload(), upload(1),
        ]),
      NamedHistory(
        "a cache that confirms and loses, \(store)", store: store,
        session() + [
          Step(
            .upload(home: 0), faults: (0..<12).map { .init($0, .swallow(50)) }), pass(8 * day),
          upload(), pass(day), upload(),
        ]),
    ]
  }

  // MARK: One copy lost, or bytes that never leave

  private static let one = [
    NamedHistory(
      "a lost device id and an attached log",
      [
        Step(.append(home: 0, file: 0, lines: 5)), upload(), Step(.lose(home: 0, .device)),
        Step(.append(home: 0, file: 0, lines: 5)), upload(),
      ]),
    NamedHistory(
      "another machine id and an attached log",
      [
        Step(.append(home: 0, file: 0, lines: 5)), upload(), Step(.identify(home: 0, id: 1)),
        Step(.append(home: 0, file: 0, lines: 5)), upload(),
      ]),
    NamedHistory(
      "objects of an open session deleted by others",
      [
        Step(.start(home: 0)), Step(.write(home: 0, session: 0, bytes: 3000)), upload(),
        Step(.remove(object: 1)), Step(.remove(object: 1)),
        Step(.write(home: 0, session: 0, bytes: 3000)), upload(),
      ]),
    NamedHistory(
      "a share that is not mounted", store: "folder",
      session() + [
        upload(), pass(2 * hour), Step(.unmount), pass(8 * day), upload(), upload(), Step(.mount),
      ]),
    NamedHistory(
      "a mirror and a partial listing",
      [
        Step(.start(home: 0)), Step(.write(home: 0, session: 0, bytes: 3000)), upload(),
        Step(.write(home: 0, session: 0, bytes: 3000)), upload(), Step(.pull(home: 0)),
      ]
        + (1...6).map {
          Step(.pull(home: 0), seed: $0, faults: (0..<8).map { .init($0, .partial) })
        }),
    NamedHistory(
      "reaping without the store's address",
      session() + [pass(8 * day), Step(.reapWithoutStore(home: 0))] + session() + [
        upload(), pass(8 * day), Step(.reapWithoutStore(home: 0)),
      ]),
    NamedHistory(
      "a covering object that was damaged on its way", store: "webdav",
      (0..<6).flatMap { _ in
        [
          Step(.start(home: 0)), Step(.write(home: 0, session: 0, bytes: 300)), upload(),
          Step(.write(home: 0, session: 0, bytes: 300)), upload(),
        ]
      } + [
        Step(.reboot(home: 0, losesTime: false)),
        Step(.upload(home: 0), faults: (0..<30).map { .init($0, .damage) }), pass(2 * hour),
        upload(), pass(day), upload(),
      ]),
    NamedHistory(
      "a remote copy deleted on request and sent again",
      session() + [
        upload(), pass(2 * hour),
        Step(.delete(home: 0, session: 0, isLocal: false, isRemote: true)),
        Step(.repair(home: 0)), upload(), pass(8 * day), upload(),
      ]),
    NamedHistory(
      "a lost marker",
      [
        Step(.start(home: 0)), Step(.write(home: 0, session: 0, bytes: 500)),
        Step(.lose(home: 0, .open)),
      ]),
    NamedHistory(
      "one pass in the future",
      [
        Step(.step(home: 0, seconds: 400 * day)), upload(), Step(.setRight(home: 0)),
      ] + session() + [upload(), pass(8 * day), upload()]),
    NamedHistory(
      "a power cut after the first lines",
      [Step(.start(home: 0)), Step(.cutPower(home: 0), seed: 889_567_097)]),
    NamedHistory(
      "a power cut after the seal",
      session(3000) + [upload(), Step(.cutPower(home: 0), seed: 3), upload()]),
  ]

  // MARK: Dead ends

  private static let deadEnds = [
    NamedHistory(
      "an empty local sidecar",
      session() + [
        upload(), Step(.lose(home: 0, .sidecar)), upload(), pass(8 * day), upload(),
      ]),
    NamedHistory(
      "two machines without an id", homes: 2,
      [
        Step(.identify(home: 0, id: nil)), Step(.start(home: 0)),
        Step(.write(home: 0, session: 0, bytes: 500)), upload(),
        Step(.clone(home: 0, keepsMachineId: false)), Step(.identify(home: 2, id: nil)),
        Step(.write(home: 0, session: 0, bytes: 500)), upload(2), upload(), pass(8 * day),
        upload(2), upload(),
      ]),
    NamedHistory(
      "a late PUT after the session has ended",
      [
        Step(.start(home: 0)), Step(.write(home: 0, session: 0, bytes: 500)),
        Step(.upload(home: 0), faults: (0..<8).map { .init($0, .late(9)) }),
        Step(.write(home: 0, session: 0, bytes: 500)), Step(.end(home: 0, session: 0)), upload(),
        pass(8 * day), upload(),
      ]),
    NamedHistory(
      "a rotation while an upload dies in the attach step",
      (0..<6).flatMap { number in
        [
          Step(.append(home: 0, file: 0, lines: 9)),
          Step(.upload(home: 0), death: 20 + 7 * number),
          Step(.rotate(home: 0, file: 0, .create)),
        ]
      } + [upload()]),
  ]
}
