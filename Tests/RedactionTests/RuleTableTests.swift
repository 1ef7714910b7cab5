import Foundation
import TestSupport
import Testing

@testable import Redaction

/// The tables of rules are read like any JSON.
@Suite(.tags(.small)) struct RuleTableTests {
  private struct Group: Decodable {
    let group: String
    let summary: String
    let isOnByDefault: Bool
    let isAlwaysOn: Bool?
    let source: String
    let rules: [RedactionRule]
  }

  @Test func `the groups and their rules are those that a decoder reads`() throws {
    let decoded = try JSONDecoder().decode([Group].self, from: Data(PackageResources.rules_json))
    #expect(decoded.count == BuiltInRules.all.count)
    for (read, group) in zip(BuiltInRules.all, decoded) {
      #expect(read.group == group.group)
      #expect(read.summary == group.summary)
      #expect(read.isOnByDefault == group.isOnByDefault)
      #expect(read.isAlwaysOn == group.isAlwaysOn)
      #expect(read.source == group.source)
      // Most rules of vendors and pairs are in tables of their own.
      let hasTable = ["vendors", "pairs"].contains(group.group)
      let own = hasTable ? Array(read.rules.prefix(group.rules.count)) : read.rules
      #expect(own == group.rules)
    }
  }

  /// A value as a decoder reads it.
  private enum Plain: Decodable, Equatable {
    case text(String)
    case number(Int)
    case truth(Bool)
    case list([Plain])
    case row([String: Plain])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let truth = try? container.decode(Bool.self) {
        self = .truth(truth)
      } else if let number = try? container.decode(Int.self) {
        self = .number(number)
      } else if let text = try? container.decode(String.self) {
        self = .text(text)
      } else if let list = try? container.decode([Plain].self) {
        self = .list(list)
      } else {
        self = .row(try container.decode([String: Plain].self))
      }
    }

    init(_ value: TableValue) {
      switch value {
      case .text(let text): self = .text(text)
      case .number(let number): self = .number(number)
      case .truth(let truth): self = .truth(truth)
      case .list(let values): self = .list(values.map { Plain($0) })
      case .row(let row):
        var members: [String: Plain] = [:]
        for member in row.members { members[member.key] = Plain(member.value) }
        self = .row(members)
      }
    }
  }

  @Test(arguments: [
    PackageResources.rules_json, PackageResources.vendors_json, PackageResources.pairs_json,
    Array(#"[{"a\"\\\/b": "\t\n\r", "c": [], "d": {}, "e": ""}, 0, 1200, true, false]"#.utf8),
  ]) func `a table is read as it is written`(table: [UInt8]) throws {
    let expected = try JSONDecoder().decode(Plain.self, from: Data(table))
    #expect(Plain(TableValue(table)) == expected)
  }
}
