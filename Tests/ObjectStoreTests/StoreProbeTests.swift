import Foundation
import HTTPTransport
import ObjectStore
import Platform
import TestServers
import TestSupport
import Testing

/// The findings of a probe, on sound stores and on faulty ones.
@Suite(.tags(.large)) struct StoreProbeTests {
  typealias Outcome = ProbeFinding.Outcome

  private func probe(
    _ store: any ObjectStore, now: @escaping @Sendable () -> Timestamp = { .now() }
  ) async throws -> [ProbeFinding.Check: ProbeFinding] {
    let findings = try await StoreProbe(
      store, prefix: "devices/a/probe/x", now: now, random: Machine.current.random, sleep: { _ in }
    )
    .run()
    #expect(findings.map(\.check) == ProbeFinding.Check.allCases)
    return Dictionary(uniqueKeysWithValues: findings.map { ($0.check, $0) })
  }

  @Test(arguments: Backend.allCases)
  func `a working store passes every check and keeps no objects`(_ backend: Backend) async throws {
    let opened = try backend.open()
    let store = opened.store
    let findings = try await probe(store)
    for finding in findings.values where finding.check != .conditional {
      #expect(finding.outcome == .ok, "\(finding)")
    }
    #expect(findings[.conditional]?.outcome != .failed)
    #expect(try await store.listAll("devices/a/").objects.isEmpty)
    let folder = try await store.listAll("devices/a/probe/")
    #expect(folder.objects.isEmpty && folder.directories.isEmpty)
  }

  @Test func `honoured and ignored write conditions are distinguished`() async throws {
    let folder = try TemporaryDirectory()
    let honest = try await probe(DirectoryStore(path: folder.path, machine: .current))
    #expect(honest[.conditional]?.outcome == .ok)
    let summaries = [
      ProbeFinding.Check.read: "returned the same bytes",
      .list: "returned the object with its size",
      .conditional: "If-None-Match works: overwriting was refused",
      .delete: "all scratch objects deleted",
    ]
    for (check, summary) in summaries { #expect(honest[check]?.summary == summary) }
    #expect(honest[.create]?.summary.hasPrefix("sent ") == true)
    let server = try RcloneS3Server()
    let ignorant = try await probe(Backend.s3(server.url))
    #expect(ignorant[.conditional]?.outcome == .note)
    #expect(ignorant[.conditional]?.received.contains("ignored") == true)
  }

  /// A fault in a store, and the check that has to notice it.
  @Test(arguments: [
    ("PUT", FaultyStore.Fault.flip, ProbeFinding.Check.create),
    ("PUT", .failBefore(.authentication), .create), ("GET", .failBefore(.transient), .create),
    ("LIST", .failBefore(.authentication), .list),
    ("DELETE", .failBefore(.authentication), .listAfterWrite),
  ])
  func `each fault fails its check and leaves no objects`(
    operation: String, fault: FaultyStore.Fault, check: ProbeFinding.Check
  ) async throws {
    let folder = try TemporaryDirectory()
    let store = FaultyStore(DirectoryStore(path: folder.path, machine: .current))
    store.plan(fault, on: operation)
    let findings = try await probe(store)
    #expect(store.unexercised.isEmpty)
    #expect(findings[check]?.outcome == .failed)
    let skipped = findings.values.filter { $0.outcome == .skipped }
    #expect(skipped.isEmpty == (check != .create))
    #expect(try await store.listAll("devices/a/probe/").objects.isEmpty)
  }

  @Test func `the largest accepted body is measured`() async throws {
    let folder = try TemporaryDirectory()
    let store = FaultyStore(DirectoryStore(path: folder.path, machine: .current))
    store.refuseAbove(1_000_000)
    let finding = try await probe(store)[.largestBody]
    #expect(finding?.outcome == .note)
    #expect(finding?.received.contains("512 KiB") == true)
    store.refuseAbove(1000)
    #expect(try await probe(store)[.largestBody]?.error?.code == .tooLarge)
  }

  @Test(arguments: [(0, .ok), (200, .ok), (3600, .note), (-3600, .note)] as [(Int64, Outcome)])
  func `a clock difference of more than five minutes is noted`(
    offset: Int64, outcome: Outcome
  ) async throws {
    let folder = try TemporaryDirectory()
    let finding = try await probe(DirectoryStore(path: folder.path, machine: .current)) {
      .now() - .seconds(offset)
    }[
      .clock]
    #expect(finding?.outcome == outcome)
    if offset > 300 { #expect(finding?.received.contains("ahead") == true) }
  }
}
