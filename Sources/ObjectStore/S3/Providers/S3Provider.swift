import Foundation
package import Platform

/// The properties of an S3 service: a row of `providers.json`.
///
/// A column that a row omits has the first row's value, the conservative one.
package struct S3Provider: Sendable, Hashable {
  /// Where the bucket is in an address.
  package enum Addressing: String, Decodable, Sendable { case path, virtual }
  /// Whether one request can delete many keys.
  package enum BatchDelete: String, Decodable, Sendable {
    case none
    case works
    case needsMD5 = "needs-md5"
  }
  /// How the condition of a conditional PUT is treated.
  package enum ConditionalPut: String, Decodable, Sendable { case honoured, refused, ignored }

  /// The name in settings.
  package let id: String
  /// The name for people.
  package let name: String
  /// The hosts of its endpoints: `*` and `{region}` match (a part of) one label.
  package let hosts: [String]
  /// Prefixes that never belong to a region, though a pattern would match them as one.
  package let notRegions: [String]
  /// Where the bucket is in its addresses.
  package let addressing: Addressing
  /// The region to sign for if neither the settings nor the endpoint name one.
  package let region: String
  /// Whether one request can delete many keys.
  package let batchDelete: BatchDelete
  /// Whether the ETag of an object sent in one piece is the MD5 of its bytes.
  package let etagIsMD5: Bool
  /// The largest object that one PUT may send, in bytes.
  package let largestPut: ByteCount
  /// How the condition of a conditional PUT is treated.
  package let conditionalPut: ConditionalPut
  /// Whether it supports the lifecycle subresource.
  package let lifecycle: Bool
  /// Storage classes whose objects can be read immediately; empty if unknown.
  package let storageClasses: [String]
  /// Sources of this information.
  package let sources: [String]
}

extension S3Provider {
  /// All rows, the conservative one first.
  package static let all: [S3Provider] = {
    do {
      return try read(Data(PackageResources.providers_json))
    } catch {
      preconditionFailure("providers.json, which is part of the program: \(error)")
    }
  }()

  /// The row for services that are not in the table.
  package static var unknown: S3Provider { all[0] }

  /// The row with this id.
  package static func named(_ id: String) -> S3Provider? { all.first { $0.id == id } }

  /// Reads a table.
  static func read(_ data: Data) throws -> [S3Provider] {
    let rows = try JSONDecoder().decode([Row].self, from: data)
    guard let first = rows.first else { throw CocoaError(.coderReadCorrupt) }
    return try rows.map { try S3Provider($0, first) }
  }

  /// A row as written in the file.
  private struct Row: Decodable {
    let id: String
    let name: String
    let hosts: [String]
    let notRegions: [String]?
    let addressing: Addressing?
    let region: String?
    let batchDelete: BatchDelete?
    let etagIsMD5: Bool?
    let largestPut: ByteCount?
    let conditionalPut: ConditionalPut?
    let lifecycle: Bool?
    let storageClasses: [String]?
    let sources: [String]
  }

  private init(_ row: Row, _ conservative: Row) throws {
    func value<Value>(_ column: KeyPath<Row, Value?>) throws -> Value {
      guard let value = row[keyPath: column] ?? conservative[keyPath: column] else {
        throw CocoaError(.coderValueNotFound)
      }
      return value
    }
    id = row.id
    name = row.name
    hosts = row.hosts
    notRegions = row.notRegions ?? []
    addressing = try value(\.addressing)
    region = try value(\.region)
    batchDelete = try value(\.batchDelete)
    etagIsMD5 = try value(\.etagIsMD5)
    largestPut = try value(\.largestPut)
    conditionalPut = try value(\.conditionalPut)
    lifecycle = try value(\.lifecycle)
    storageClasses = try value(\.storageClasses)
    sources = row.sources
  }
}
