import Foundation
import LogRecords
import Redaction
import TestSupport
import Testing

/// The proportion of the corpus's secrets that the built-in rules find.
@Suite(.tags(.small)) struct RecallTests {
  /// Found secrets and all secrets of a vendor.
  struct Recall: Equatable {
    var found = 0
    var all = 0
  }

  /// Recall by vendor, for the held-back part of the corpus, or for the rest.
  private static func recall(heldBack: Bool) throws -> [String: Recall] {
    try SecretCorpus().samples.filter { $0.isHeldBack == heldBack }.reduce(into: [:]) {
      $0[$1.vendor, default: Recall()].all += 1
      $0[$1.vendor, default: Recall()].found += $1.isFound(by: .standard) ? 1 : 0
    }
  }

  @Test func `the corpus names its sources and holds back a third of the samples`() throws {
    let corpus = try SecretCorpus()
    #expect(corpus.samples.count >= 150)
    #expect(corpus.formats.allSatisfy { !$0.source.isEmpty && !$0.lines.isEmpty })
    #expect(corpus.samples.allSatisfy { !$0.secret.isEmpty })
    let held = corpus.samples.filter(\.isHeldBack).count
    #expect(abs(held * 3 - corpus.samples.count) < 30)
  }

  @Test(arguments: [false, true])
  func `nine of ten secrets of each vendor are found`(heldBack: Bool) throws {
    let recall = try Self.recall(heldBack: heldBack).sorted { $0.key < $1.key }
    let table = recall.map { "\($0.key) \($0.value.found) of \($0.value.all)" }
    print(heldBack ? "held back:" : "known:", table.joined(separator: ", "))
    for (vendor, recall) in recall {
      #expect(recall.found * 10 >= recall.all * 9, "\(vendor)")
    }
    // The guide says so.
    let missed = try SecretCorpus().samples.filter {
      $0.isHeldBack == heldBack && !$0.isFound(by: .standard)
    }
    #expect(missed.count == (heldBack ? 0 : 1), "\(missed.map(\.name))")
  }
}
