import Foundation
import LogRecords
import Logging
import ObjectStore
import SessionLog
import Sync
import TestSupport
import Testing

/// The log of a pass's decisions.
@Suite(.tags(.medium)) struct PassLogTests {
  /// The lines of one pass at level info, without those of the objects.
  private func pass(_ site: inout Site, _ scope: RetryScope = .due) async throws -> [String] {
    let lines = LogLines()
    site.logger = lines.logger(.info)
    defer { site.logger = nil }
    try await site.upload(scope)
    return lines.all
  }

  private func write(_ text: String, _ writer: SessionWriter) {
    Array(text.utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
  }

  @Test func `the pass log says why a session waits`() async throws {
    var site = try Site()
    let writer = try site.local.writer(format: .asIs)
    let session = writer.session
    write("one\n", writer)
    #expect(
      try await pass(&site) == [
        "info \(session): 4 B of log; list the store, then send what it lacks",
        "info plan: 1 session to send, 0 skipped, 0 to clean up",
      ])
    #expect(try await pass(&site).first == "info \(session): waits: nothing new")
    write("two\nunfinished", writer)
    #expect(
      try await pass(&site).first
        == "info \(session): send 4 B from byte 4; the rest waits: its last line is not finished")
    #expect(
      try await pass(&site).first == "info \(session): waits: its last line is not finished")
    write("\n-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n", writer)
    #expect(
      try await pass(&site).first?.hasSuffix("its last lines may turn out to be a secret") == true)
    #expect(
      try await pass(&site).first
        == "info \(session): waits: its last lines may turn out to be a secret")
    try writer.end(.exit(0))
    let last = try await pass(&site)
    #expect(last.first?.hasSuffix("; seal as TERMINATED") == true, "\(last)")
    #expect(last.last == "info \(session): sealed as TERMINATED")
    #expect(
      try await pass(&site).first?.hasPrefix("info plan: 0 sessions to send, 0 skipped, ") == true)
  }

  @Test func `the pass log reports a failure and its backoff`() async throws {
    var site = try Site()
    let session = try site.local.session("one\n".utf8)
    site.store.plan(.failBefore(.conflict), on: "PUT", keyContaining: "\(session)")
    let first = try await pass(&site)
    #expect(first.last?.hasPrefix("warning \(session): failed: PUT ") == true, "\(first)")
    let second = try await pass(&site)
    #expect(second.first?.hasPrefix("warning \(session): waits: tried again after 2026-") == true)

    site.store.plan(.failBefore(.authentication), on: "PUT", times: 9)
    let stopped = try await pass(&site, .all)
    #expect(stopped.contains { $0.hasPrefix("error the pass stops for all sessions: PUT ") })
    let held = try await pass(&site)
    site.store.forgetPlans()
    #expect(held.allSatisfy { !$0.hasPrefix("error ") })
  }

  @Test func `the pass log says that a log is withheld by consent`() async throws {
    var site = try Site()
    site.consent = .metadata
    let writer = try site.local.writer()
    write("one\n", writer)
    let session = writer.session
    #expect(
      try await pass(&site).first
        == "info \(session): send metadata only (consent: metadata)")
    #expect(
      try await pass(&site).first
        == "info \(session): waits: consent is 'metadata', and its metadata is sent")
    try writer.end(.exit(0))
  }

  @Test func `a pass logs nothing unless asked`() async throws {
    var site = try Site()
    try site.local.session("one\n".utf8)
    let lines = LogLines()
    site.logger = lines.logger(.error)
    try await site.upload()
    #expect(lines.all.isEmpty)
  }

  @Test func `the reaper logs why a local copy is deleted`() async throws {
    var site = try Site()
    let session = try site.local.session("one\n".utf8)
    try await site.upload()
    site.local.clock.advance(seconds: 10)
    let lines = LogLines()
    site.logger = lines.logger(.debug)
    let reaper = LocalReaper(try site.context())
    let plan = try await reaper.plan(Retention().asking(.seconds(1)))
    let due = "info \(session): local deletion is due: ended "
    #expect(lines.all.contains { $0.hasPrefix(due) }, "\(lines.all)")
    #expect(try reaper.execute(plan).allSatisfy { $0.error == nil })
    #expect(lines.all.last == "info \(session): local copy moved to the trash")
  }
}
