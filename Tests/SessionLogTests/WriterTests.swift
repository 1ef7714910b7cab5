import Foundation
import SessionLog
import Synchronization
import TestSupport
import Testing

@Suite struct WriterTests {
  @Test func aFullDiskCostsAGapRecordAndNoTornLine() throws {
    let room = Mutex(Int.max)
    let home = try TestHome()
    let writer = try home.writer { descriptor, bytes in
      let allowed = room.withLock { min($0, bytes.count) }
      guard allowed > 0 else { return -Int(ENOSPC) }
      room.withLock { if $0 != .max { $0 -= allowed } }
      return write(descriptor, bytes.baseAddress, allowed)
    }
    func capture(_ text: String) {
      Array(text.utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    }
    capture("before\n")
    room.withLock { $0 = 20 }
    capture("torn in the middle\n")
    capture("lost\n")
    room.withLock { $0 = .max }
    capture("after\n")
    try writer.end(.exit(0))

    let log = String(decoding: try home.log(writer.session), as: UTF8.self)
    let lines = log.split(separator: "\n")
    let gap = try #require(lines.first { $0.contains("[GAP ") })
    #expect(gap.contains("[WARNING] [Session] [GAP ") && gap.hasSuffix("bytes: disk full]"))
    let torn = "2026-01-22T14:30:05.123Z [INFO] [stdout] torn in the middle\n".utf8.count - 20
    let lost = "2026-01-22T14:30:05.123Z [INFO] [stdout] lost\n".utf8.count
    #expect(gap.contains("[GAP \(torn + lost) bytes"))
    #expect(log.contains("before\n") && log.contains("after\n") && !log.contains("lost\n"))
  }

  @Test func whatWasCapturedIsOnDiskWithoutAnEnd() throws {
    let home = try TestHome()
    let writer = try home.writer()
    Array("kept\npartial".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    let log = String(decoding: try home.log(writer.session), as: UTF8.self)
    #expect(log.hasSuffix("[stdout] kept\n"))
    #expect(try SessionLock.tryExclusive(writer.files.lock) == nil)
    home.clock.advance(seconds: 61)
    writer.tick()
    #expect(String(decoding: try home.log(writer.session), as: UTF8.self).contains("partial\n"))
  }

  @Test func apiRecordsIndentTheirContinuationLines() throws {
    let home = try TestHome()
    let writer = try home.writer()
    writer.record(.warning, category: "N[e]t", "one\ntwo", scenario: "Sync")
    let log = String(decoding: try home.log(writer.session), as: UTF8.self)
    #expect(log.contains("[WARNING] [N_e_t] {Sync} one\n  two\n"))
    writer.record(.info, category: Category.session, "SESSION END exit 0")
    #expect(try String(decoding: home.log(writer.session), as: UTF8.self).contains("[Session_]"))
  }

  @Test func sidecarTellsWhatHappened() throws {
    let home = try TestHome()
    let session = try home.session(Array("ERROR: x\nfine\n".utf8), cause: .signal(9))
    let sidecar = try Sidecar.load(home.home.files(for: session).sidecar)
    #expect(sidecar.status == .crashed && sidecar.cause == .signal(9))
    #expect(sidecar.levels == ["ERROR": 1, "INFO": 3])
    #expect(sidecar.categories == ["Session", "stdout"])
    #expect(sidecar.fileSizeBytes == Int64(try home.log(session).count))
    #expect(sidecar.deviceId == home.device.deviceId && sidecar.recorder?.pid == getpid())
    #expect(sidecar.remoteForm.recorder == nil)
  }

  @Test func halfASidecarIsDamagedAndNoneIsMissing() throws {
    let home = try TestHome()
    let session = try home.session([])
    let path = home.home.files(for: session).sidecar
    let json = try Data(contentsOf: URL(filePath: path))
    try json.prefix(json.count / 2).write(to: URL(filePath: path))
    #expect { try Sidecar.load(path) } throws: { ($0 as? SidecarError)?.isMissing == false }
    #expect { try Sidecar.load(path + "x") } throws: { ($0 as? SidecarError)?.isMissing == true }
  }

  @Test func aCopiedHomeIsAnotherDevice() throws {
    let home = try TestHome()
    guard home.device.machineId != nil else { return }
    let path = home.home.devicePath
    let text = try String(contentsOfFile: path, encoding: .utf8)
      .replacing(home.device.machineId ?? "", with: "elsewhere")
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    let device = try Device.load(home.home, now: home.clock.now())
    #expect(device.deviceId != home.device.deviceId)
    #expect(device.formerIds == [home.device.deviceId])
    #expect(try Device.load(home.home, now: home.clock.now()) == device)
  }

  @Test func locksAreSharedByWritersAndExclusiveForTheSeal() throws {
    let home = try TestHome()
    let path = home.folder + "/lock"
    let first = try #require(try SessionLock.shared(path))
    let second = try #require(try SessionLock.shared(path))
    #expect(try SessionLock.tryExclusive(path) == nil)
    withExtendedLifetime((first, second)) {}
    let home2 = home.folder + "/other"
    do { _ = try #require(try SessionLock.tryExclusive(home2)) }
    #expect(try SessionLock.shared(home2) != nil)
  }
}
