import Foundation
import LogRecords
import Platform
import TestSupport
import Testing

@testable import SessionLog

/// Records that are written only while their scenario is on.
@Suite(.tags(.medium)) struct ScenarioTests {
  private let home: TestHome
  private let net: ScenarioName

  init() throws {
    home = try TestHome()
    net = try #require(ScenarioName("Network Requests"))
  }

  private func text(_ session: SessionID) throws -> String {
    String(decoding: try home.log(session), as: UTF8.self)
  }

  private func states() throws -> [ScenarioName: ScenarioState] {
    try ControlFile(home.home).scenarios()
  }

  @Test(
    arguments: ["", "a{b", "a}b", "line\n", "tab\t", String(repeating: "x", count: 65)])
  func `an invalid scenario name is refused`(_ text: String) { #expect(ScenarioName(text) == nil) }

  @Test func `records of a disabled scenario are counted but not written`() throws {
    let writer = try home.writer()
    writer.record(.info, category: "Net", "always")
    for _ in 0..<3 { writer.record(.info, category: "Net", "hidden", scenario: net) }
    try writer.end(.exit(0))
    let log = try text(writer.session)
    #expect(log.contains("[Net] always") && !log.contains("hidden"))
    #expect(log.contains("[Session] SCENARIO Network Requests off\n"))
    #expect(log.contains("[Session] SCENARIO Network Requests off: 3 records not written\n"))
    #expect(try Sidecar.load(writer.files.sidecar).scenarios.isEmpty)
  }

  @Test func `records of an enabled scenario are written and named in the sidecar`() throws {
    try home.enable("Network Requests")
    let writer = try home.writer()
    writer.record(.info, category: "Net", "shown", scenario: net)
    try writer.end(.exit(0))
    let log = try text(writer.session)
    #expect(log.contains("[INFO] [Net] {Network Requests} shown\n"))
    #expect(log.contains("SCENARIO Network Requests on by anna\n"))
    #expect(try Sidecar.load(writer.files.sidecar).scenarios == ["Network Requests"])
    // Counting from the bytes gives the same.
    var statistics = LogStatistics()
    try home.log(writer.session).withUnsafeBytes { statistics.add($0) }
    #expect(statistics.scenarioNames == ["Network Requests"])
  }

  @Test func `a running session notices scenario changes and expiry`() throws {
    let writer = try home.writer()
    writer.record(.info, category: "Net", "one", scenario: net)
    try home.enable("Network Requests", until: home.clock.now() + .seconds(60))
    home.clock.advance(seconds: 1)
    writer.tick()
    writer.record(.info, category: "Net", "two", scenario: net)
    // It switches off by itself.
    home.clock.advance(seconds: 60)
    writer.tick()
    writer.record(.info, category: "Net", "three", scenario: net)
    let log = try text(writer.session)
    #expect(!log.contains("one") && log.contains("two") && !log.contains("three"))
    #expect(log.contains("SCENARIO Network Requests on by anna (until 2026-"))
    #expect(log.contains("SCENARIO Network Requests off by expiry\n"))
  }

  @Test func `scenario state survives the end of a session`() throws {
    let first = try home.writer()
    first.declare([net])
    #expect(try states()[net] == ScenarioState(created: home.clock.now()))
    try home.enable("Network Requests")
    #expect(try states()[net]?.revision == 2)
    try first.end(.exit(0))
    #expect(try DeclaredScenarios(home.home).names() == [net])
    #expect(try DeclaredScenarios(home.home).undeclare(first.session) == 1)
    #expect(try DeclaredScenarios(home.home).names().isEmpty)
    let second = try home.writer()
    #expect(second.gate(net).admits())
    #expect(try states()[net]?.isEnabled == true)
  }

  @Test func `a session declares at most 64 scenarios`() throws {
    let writer = try home.writer()
    let names = (0..<70).compactMap { ScenarioName("s\($0)") }
    for name in names { try home.enable(name.description) }
    writer.declare(names)
    #expect(try DeclaredScenarios(home.home).names(of: writer.session).count == 64)
    #expect(writer.gate(names[63]).admits() && !writer.gate(names[69]).admits())
  }

  @Test func `a damaged state file is kept aside, and foreign keys are preserved`() throws {
    let path = home.home.controlPath + "/state.json"
    try Directory.make(home.home.controlPath)
    try AtomicFile.write(
      Array(#"{"format":1,"lanes":[{"lane":"x"}],"scenarios":{"bad":{"isEnabled":7}}}"#.utf8),
      to: path)
    #expect(try states().isEmpty)
    try home.enable("A")
    #expect(String(decoding: try AtomicFile.read(path), as: UTF8.self).contains("\"lane\""))
    try AtomicFile.write(Array("{".utf8), to: path)
    #expect(throws: DecodingError.self) { try states() }
    #expect(!ScenarioSwitch(home.home, machine: home.clock.machine).isOn(net))
    try home.enable("B")
    #expect(try states().count == 1)
    #expect(try AtomicFile.read(path + ".damaged") == [0x7b])
  }
}
