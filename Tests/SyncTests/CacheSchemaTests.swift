import GRDB
@testable import Sync
import TestSupport
import Testing

@Suite(.tags(.small)) struct CacheSchemaTests {
  @Test(arguments: [Manifest.schema, AttachedFiles.schema])
  func `the schema that SQLite stores is recognized`(schema: CacheSchema) throws {
    let database = try DatabaseQueue()
    try database.write { try $0.execute(sql: schema.text) }
    let kept = try database.read { database in
      try String.fetchAll(database, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    }
    #expect(Set(kept) == schema.stored)
  }
}
