import Foundation
import Platform
import Replica
import SessionLog
import SessionReading
import TestSupport
import Testing

@testable import Sync

/// A mirror that others than its device may have written.
@Suite(.tags(.medium)) struct MirroredSessionTests {
  private let site: Site
  private let session: SessionID
  private let mirror: Mirror
  private let path: String
  private let stranger: TestHome

  init() async throws {
    site = try Site()
    session = try site.local.session(Array("one\ntwo\n".utf8))
    try await site.upload()
    try await site.expectSealedAndEqual(session)
    mirror = Mirror(of: site)
    #expect(try await mirror.pull().isEmpty)
    path = "\(mirror.place(session))/\(session)"
    stranger = try TestHome()
    try stranger.home.create()
  }

  private func copy() throws -> MirroredSession {
    let keys = KnownKeys(stranger.home, named: [:], own: nil)
    return try MirroredSession.find(ShortenedID("\(session)"), in: mirror.folder, knowing: keys) {
      _ in
    }
  }

  /// Doubts where no key is known, and where the device's is.
  private func doubts() throws -> [MirroredSession.Doubt?] {
    let own = try site.context().signer
    return try [nil, own].map {
      try copy().doubt(knowing: KnownKeys(stranger.home, named: [:], own: $0))
    }
  }

  private func change(_ change: (inout Sidecar) -> Void) throws {
    var sidecar = try Sidecar.load(path + ".json")
    change(&sidecar)
    try sidecar.save(path + ".json")
  }

  private func text(_ doubt: MirroredSession.Doubt?) -> String {
    switch doubt {
    case .contradicted(let text): "contradicted: \(text)"
    case .unproven(let text): "unproven: \(text)"
    case nil: ""
    }
  }

  @Test func `a copy signed with an unknown key is named`() throws {
    let found = try doubts().map(text)
    #expect(found[0].hasPrefix("unproven: ") && found[0].contains("trust:"), "\(found)")
    #expect(found[1] == "")
    // Anybody may have made the copy.
    #expect(!File.exists(stranger.home.path + "/trust.json"))
  }

  @Test func `a copy whose signature was removed is doubted without a key, too`() throws {
    try change { $0.signature = nil }
    let found = try doubts().map(text)
    for text in found {
      #expect(text.hasPrefix("contradicted: ") && text.contains("is not signed"), "\(found)")
    }
  }

  @Test func `a copy of a version that does not sign is named`() throws {
    try change { ($0.signature, $0.previous, $0.indexes) = (nil, nil, nil) }
    let found = try doubts().map(text)
    #expect(found[0].hasPrefix("unproven: ") && found[0].contains("not signed"), "\(found)")
    #expect(found[1].hasPrefix("contradicted: "), "\(found)")
  }

  @Test func `a log that changes after it was proven is not restored`() throws {
    let copy = try copy()
    #expect(
      try copy.doubt(knowing: KnownKeys(stranger.home, named: [:], own: site.context().signer))
        == nil)
    try AtomicFile.write(Array("one\nTWO\n".utf8), to: path + ".log")
    var bytes: [UInt8] = []
    let error = #expect(throws: ReadingError.self) {
      try copy.read(asStated: true) { bytes += $0 }
    }
    #expect(error?.code == .changed)
    try copy.read(asStated: false) { _ in }
  }
}
