import ArgumentParser
import Foundation
import Replica
import SessionReading
import TestSupport
import Testing

@testable import tidemark

/// `--device`: the device that it selects, and commands for which a device alone is not enough.
@Suite(.tags(.small)) struct DeviceChoiceTests {
  private static let devices = [
    ("aaaa1111bbbb2222", "vm"), ("aaaa3333bbbb4444", "vm"), ("cccc5555dddd6666", "web"),
    ("eeee7777ffff8888", "cccc"),
  ]

  private func records() throws -> [DeviceRecord] {
    try Self.devices.map { id, name in
      let json =
        #"{"deviceId":"\#(id)","deviceName":"\#(name)","osVersion":"x","#
        + #""created":"2026-01-22T14:30:05.123Z"}"#
      return try JSONDecoder().decode(DeviceRecord.self, from: Data(json.utf8))
    }
  }

  @Test(arguments: [
    ("web", "cccc5555dddd6666"), ("aaaa3333bbbb4444", "aaaa3333bbbb4444"),
    ("aaaa3", "aaaa3333bbbb4444"), ("ee", "eeee7777ffff8888"),
    // A name counts before the beginning of an id.
    ("cccc", "eeee7777ffff8888"),
  ])
  func `a device is chosen by its name, its id or the beginning of its id`(
    given: String, id: String
  ) throws {
    #expect(try DeviceChoice.device(given, among: records()).deviceId == id)
  }

  @Test(arguments: [
    (
      "vm",
      "'vm' is the name of 2 devices; give the id of one: aaaa1111bbbb2222, aaaa3333bbbb4444"
    ),
    (
      "aaaa",
      "'aaaa' is the start of the ids of 2 devices; give the id of one: aaaa1111bbbb2222, "
        + "aaaa3333bbbb4444"
    ),
    (
      "db",
      "no device 'db' in the store; there are: cccc (eeee7777ffff8888), vm (aaaa1111bbbb2222), "
        + "vm (aaaa3333bbbb4444), web (cccc5555dddd6666)"
    ),
    ("", "no device '' in the store; there are: "),
  ])
  func `a text that matches several devices or none is refused`(
    given: String, says: String
  ) throws {
    let error = #expect(throws: ReadingError.self) {
      try DeviceChoice.device(given, among: records())
    }
    #expect(error?.description.hasPrefix(says) == true, "\(error?.description ?? "")")
  }

  @Test func `deleting all sessions of a device needs --all`() throws {
    let refused = [
      ["--device", "vm"], ["--all-devices"], ["--all", "--app", "x"],
      ["--all", "--since", "1d ago"],
      ["id", "--all"], [],
    ]
    for arguments in refused {
      #expect(throws: (any Error).self, "\(arguments)") { try Delete.parse(arguments) }
    }
    let accepted = [
      ["--device", "vm", "--all"], ["--all-devices", "--all"], ["--device", "vm", "--app", "x"],
      ["--all-devices", "--until", "30d ago"], ["--all"], ["--failed"], ["id"],
    ]
    for arguments in accepted {
      #expect(throws: Never.self, "\(arguments)") { try Delete.parse(arguments) }
    }
  }
}
