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

  @Test(arguments: [
    (ResultCode.SQLITE_FULL, CacheError.Code.diskFull, "the disk is full"),
    (.SQLITE_CORRUPT, .damaged, "the cache is damaged (bad page)"),
    (.SQLITE_NOTADB, .damaged, "the cache is damaged (bad page)"),
    (.SQLITE_IOERR, .unusable, "the cache cannot be used: bad page; make room"),
  ])
  func `an error of the database says what to do`(
    result: ResultCode, code: CacheError.Code, text: String
  ) throws {
    let error = #expect(throws: CacheError.self) {
      try CacheError.wrapping { throw DatabaseError(resultCode: result, message: "bad page") }
    }
    #expect(error?.code == code && error?.description.hasPrefix(text) == true)
  }
}
