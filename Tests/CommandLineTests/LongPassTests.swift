import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@testable import tidemark

/// A command that has a home's lock for long.
@Suite(.tags(.medium)) struct LongPassTests {
  private let local: TestHome
  private let now = Timestamp.now()

  init() throws { local = try TestHome() }

  private func find(after age: Duration, up uptime: Duration = .days(30)) -> LongPass? {
    LongPass(local.home, after: .hours(1), at: now + age, up: uptime)
  }

  @Test func `a lock that is held for longer than the limit is found`() throws {
    #expect(find(after: .hours(2)) == nil)
    do {
      let lock = try #require(try HomeLock.acquire(local.home))
      #expect(find(after: .seconds(3599)) == nil)
      let long = try #require(find(after: .hours(3)))
      // A file's time is that of the kernel's last tick.
      #expect(now - long.since < .seconds(1) && long.since - now < .hours(1))
      let text = long.text(at: long.since + .hours(3))
      #expect(text.contains("has run for 3 h") && text.contains(local.home.lockPath))
      withExtendedLifetime(lock) {}
    }
    #expect(find(after: .hours(2)) == nil)
  }

  @Test func `one that asks for the lock at this moment keeps no upload away`() throws {
    let path = local.home.lockPath
    let asking = Guarded(try FileLock.tryExclusive(path))
    let attempts = Guarded(0)
    let files = TestFiles { effect in
      guard effect.path == path else { return nil }
      attempts.withLock { $0 += 1 }
      // It is done once the upload has found the lock taken.
      if attempts.withLock({ $0 }) == 2 { asking.withLock { $0 = nil } }
      return nil
    }
    let lock = try FileEffect.$hook.withValue(files) { try HomeLock.acquire(local.home) }
    #expect(lock != nil)
  }

  @Test func `a lock that seems to be of the future is counted from its discovery`() throws {
    let lock = try #require(try HomeLock.acquire(local.home))
    try FileManager.default.setAttributes(
      [.modificationDate: (now + .days(300)).date], ofItemAtPath: local.home.lockPath)
    #expect(find(after: .hours(2)) == nil)
    #expect(find(after: .hours(4)) != nil)
    withExtendedLifetime(lock) {}
  }

  @Test func `each command that acquires the lock records when`() throws {
    do { _ = try #require(try HomeLock.acquire(local.home)) }
    try FileManager.default.setAttributes(
      [.modificationDate: (now - .days(3)).date], ofItemAtPath: local.home.lockPath)
    let lock = try #require(try HomeLock.acquire(local.home))
    #expect(find(after: .seconds(60)) == nil)
    withExtendedLifetime(lock) {}
  }

  /// A user can set the time of their home's lock.
  @Test func `no lock is older than this boot`() throws {
    let lock = try #require(try HomeLock.acquire(local.home))
    try FileManager.default.setAttributes(
      [.modificationDate: (now - .days(3000)).date], ofItemAtPath: local.home.lockPath)
    #expect(find(after: .zero, up: .seconds(3000)) == nil)
    #expect(find(after: .zero, up: .hours(2))?.since == now - .hours(2))
    withExtendedLifetime(lock) {}
  }

  @Test func `a shared lock is found, too, as it keeps uploads away`() throws {
    do {
      let lock = try #require(try FileLock.shared(local.home.lockPath))
      #expect(try HomeLock.acquire(local.home) == nil)
      #expect(find(after: .hours(2)) != nil)
      withExtendedLifetime(lock) {}
    }
    #expect(find(after: .hours(2)) == nil)
  }
}
