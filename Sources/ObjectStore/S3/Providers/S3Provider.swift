import Foundation
package import Platform

/// What is known of an S3 service: a row of `providers.json`.
///
/// A column that a row leaves out has the value of the first row, the conservative one.
package struct S3Provider: Sendable, Hashable {
  /// How a bucket stands in an address.
  package enum Addressing: String, Decodable, Sendable { case path, virtual }
  /// Whether many keys can be deleted by one request.
  package enum BatchDelete: String, Decodable, Sendable {
    case none
    case works
    case needsMD5 = "needs-md5"
  }
  /// What becomes of the condition of a conditional PUT.
  package enum ConditionalPut: String, Decodable, Sendable { case honoured, refused, ignored }

  /// The name in settings.
  package let id: String
  /// The name for people.
  package let name: String
  /// The hosts of its endpoints: `*` and `{region}` stand for (a part of) one label.
  package let hosts: [String]
  /// What a region never begins with, where a pattern would take it for one.
  package let notRegions: [String]
  /// How a bucket stands in its addresses.
  package let addressing: Addressing
  /// The region to sign for where neither the settings nor the endpoint tell.
  package let region: String
  /// Whether many keys can be deleted by one request.
  package let batchDelete: BatchDelete
  /// Whether the ETag of an object that was sent in one piece is the MD5 of its bytes.
  package let etagIsMD5: Bool
  /// The largest object that one PUT may send, in bytes.
  package let largestPut: ByteCount
  /// What becomes of the condition of a conditional PUT.
  package let conditionalPut: ConditionalPut
  /// Whether its lifecycle subresource is one.
  package let lifecycle: Bool
  /// The storage classes whose objects can be read at once; empty: not known.
  package let storageClasses: [String]
  /// Where this is known from.
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

  /// A row as it is written.
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
