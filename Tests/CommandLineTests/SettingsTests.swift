import Foundation
import ObjectStore
import Platform
import SessionLog
import Sync
import TestServers
import TestSupport
import Testing

@testable import tidemark

/// The configuration: as written by `init`, and as shown by `config show`.
@Suite(.tags(.medium)) struct SettingsTests {
  private func setting(_ key: String, _ value: String) -> SavedCredentials.Setting {
    .init(section: "webdav", key: key, value: value)
  }

  @Test(arguments: [
    ("store: x\n", "store: x\nwebdav:\n  user: anna\n"),
    ("webdav:\n  #user:\ns3:\n  #user:\n", "webdav:\n  user: anna\ns3:\n  #user:\n"),
    (
      "webdav:\n    user: bob\n    token-file: /t\n",
      "webdav:\n    user: anna\n    token-file: /t\n"
    ),
    ("webdav:\n    token-file: /t\n", "webdav:\n    user: anna\n    token-file: /t\n"),
    ("webdav: # login\n\ns3:\n", "webdav: # login\n  user: anna\n\ns3:\n"),
    ("webdav: {user: bob}\n", nil),
  ])
  func `a setting is written to its existing line or section`(text: String, changed: String?) {
    #expect(SettingsTemplate.setting(setting("user", "anna"), in: text) == changed)
  }

  @Test func `settings written by init are read back unchanged`() throws {
    let folder = try TemporaryDirectory()
    var text = SettingsTemplate.text(store: "https://host.example/dav")
    for one in [setting("user", "o'neil: x"), setting("password-file", "/a b/c")] {
      text = try #require(SettingsTemplate.setting(one, in: text))
    }
    try folder.write(text, to: "tidemark.yaml")
    let settings = try Settings(path: folder.path + "/tidemark.yaml")
    #expect(settings.storeSettings.webdavUser == "o'neil: x")
    #expect(settings.storeSettings.webdavPasswordFile == "/a b/c")
  }

  @Test func `only the chosen store's credentials are saved from the environment`() throws {
    let environment = [
      "TIDEMARK_WEBDAV_USER": "anna", "TIDEMARK_WEBDAV_PASSWORD": "p", "AWS_ACCESS_KEY_ID": "k",
      "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "eu-central-1",
    ]
    let webdav = SavedCredentials(
      for: try StoreURL("https://host.example/dav"), environment: environment, in: "/home")
    #expect(webdav.secrets == ["/home/webdav-password": "p"])
    #expect(webdav.settings.map(\.key) == ["user", "password-file"])
    let s3 = SavedCredentials(for: try StoreURL("s3://logs"), environment: environment, in: "/home")
    #expect(s3.secrets == ["/home/s3-secret-access-key": "s"])
    #expect(s3.settings.map(\.key) == ["region", "access-key-id", "secret-access-key-file"])
    let temporary = SavedCredentials(
      for: try StoreURL("s3://logs"),
      environment: environment.merging(["AWS_SESSION_TOKEN": "t"]) { $1 }, in: "/home")
    #expect(temporary.secrets.isEmpty && temporary.refusal != nil)
    let folder = SavedCredentials(
      for: try StoreURL("file:///srv"), environment: environment, in: "/home")
    #expect(folder.settings.isEmpty && folder.secrets.isEmpty)
  }

  /// The defaults that `config show` names are those in the configuration.
  @Test func `effective defaults equal those shown in the template`() {
    var section = ""
    var shown: [String: String] = [:]
    for line in SettingsTemplate.text(store: "x").split(separator: "\n") {
      if line.hasSuffix(":"), !line.hasPrefix(" "), !line.hasPrefix("#") {
        section = line.dropLast() + "."
      }
      let isInside = line.hasPrefix(" ")
      let text = line.drop { $0 == " " }
      guard text.hasPrefix("#"), let colon = text.firstIndex(of: ":") else { continue }
      let key = String(text.dropFirst()[..<colon])
      let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      shown[(isInside ? section : "") + key] = value
    }
    for (key, value) in EffectiveSetting.defaults { #expect(shown[key] == value, "\(key)") }
    // Every other value shown is an example, or empty.
    let others = Settings.keys.map(\.name).filter { EffectiveSetting.defaults[$0] == nil }
    let examples = others.filter { shown[$0]?.isEmpty == false }
    #expect(examples == ["s3.endpoint", "s3.region", "s3.path-style"])
  }

  @Test(arguments: Settings.keys.filter { $0.standard != nil }.map(\.name))
  func `a default is a valid value, and is read as it is written`(name: String) throws {
    let row = try #require(Settings.keys.first { $0.name == name })
    let text = try #require(row.standard)
    var settings = Settings()
    #expect(row.takeOver(&settings, text) && row.value(settings) == text)
    #expect(settings.staleAfter == .hours(1) && settings.uploadEvery == .seconds(60))
  }

  @Test func `each effective setting names its origin and masks secrets`() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/tidemark.yaml"
    try folder.write(
      "store: s3://a\nproxy: http://me:pw@proxy:3128\nretention:\n  local: 2d\n",
      to: "tidemark.yaml")
    let all = EffectiveSetting.all(
      try Settings(path: path), path,
      ["TIDEMARK_STORE": "s3://b", "TIDEMARK_WEBDAV_PASSWORD": "secret"])
    func one(_ key: String) -> EffectiveSetting? { all.first { $0.key == key } }
    #expect(
      one("store") == .init(key: "store", value: "s3://b", origin: .environment("TIDEMARK_STORE")))
    #expect(one("proxy")?.value == "http://***@proxy:3128")
    let urls = EffectiveSetting.all(
      try Settings(path: path), path,
      ["TIDEMARK_STORE": "https://u:secret@h/dav?sig=secret", "HTTPS_PROXY": "http://u:secret@p:1"])
    #expect(!urls.contains { $0.value?.contains("secret") == true })
    #expect(urls.first { $0.key == "store" }?.value == "https://h/dav?…")
    #expect(one("retention.local")?.origin == .file(path: path, line: 4))
    #expect(
      one("retention.remote") == .init(key: "retention.remote", value: "30d", origin: .standard))
    #expect(one("webdav.password-file")?.value == "***")
    #expect(one("s3.profile")?.value == nil)
  }

  @Test(.enabled(if: getuid() == 0, "only root can give a file away"))
  func `who may change a configuration is asked of the file that was read`() throws {
    let folder = try TemporaryDirectory()
    let path = try folder.write("on-crash: [/bin/evil]\n", to: "tidemark.yaml")
    #expect(try Settings(path: path).isOursAlone)
    chmod(path, 0o666)
    #expect(try !Settings(path: path).isOursAlone)
    chmod(path, 0o644)
    #expect(chown(path, 65534, 65534) == 0)
    let settings = try Settings(path: path)
    try File.remove(path)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/hosts")
    #expect(!settings.isOursAlone && settings.hooks.onCrash == ["/bin/evil"])
  }

  @Test func `an environment is described without the login in its store's URL`() async throws {
    let folder = try TemporaryDirectory()
    let report = await EnvironmentReport(
      "cron", home: Home(path: folder.path),
      environment: ["TIDEMARK_STORE": "https://u:PLANTED@store.example/x?sig=PLANTED"])
    #expect(report.store == "https://store.example/x?…")
    #expect(report.problem?.contains("PLANTED") == false, "\(report)")
  }

  @Test func `a heartbeat in a file that everybody can read is noticed`() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/tidemark.yaml"
    try folder.write("heartbeat: https://hc.example/ping/x\n", to: "tidemark.yaml")
    chmod(folder.path, 0o755)
    let settings = try Settings(path: path)
    for (mode, isExposed) in [(mode_t(0o644), true), (0o640, false)] {
      chmod(path, mode)
      #expect(try settings.exposesHeartbeat(in: path) == isExposed)
    }
    chmod(path, 0o644)
    chmod(folder.path, 0o700)
    #expect(try !settings.exposesHeartbeat(in: path))
  }

  @Test(arguments: [
    ("retention:\n  local: soon\n", "for 'retention.local'; use a time such as"),
    ("rotate-at: big\n", "for 'rotate-at'; use a size such as"),
    ("consent: maybe\n", "none, metadata"),
    ("retentoin:\n", "did you mean 'retention'?"),
    ("sources:\n- paht: /var/log/x\n", ":2: unknown key 'paht'; did you mean 'path'?"),
    ("sources:\n- app: x\n", "lacks its 'path'"),
  ])
  func `an invalid value is reported with the valid forms`(text: String, says: String) throws {
    let folder = try TemporaryDirectory()
    try folder.write(text, to: "tidemark.yaml")
    let error = #expect(throws: Failure.self) {
      try Settings(path: folder.path + "/tidemark.yaml")
    }
    #expect(error?.description.contains(says) == true, "\(String(describing: error))")
  }

  @Test func `every error of a configuration is reported, and the rest is read`() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/tidemark.yaml"
    try folder.write(
      "upload-every: 10 bananas\ntransfers: 900\nretention:\n  local: -3d\n  remote: 9d\n"
        + "  trahs: 1d\nsources:\n- app: x\nstore: s3://logs\nstale-after: 2h\n",
      to: "tidemark.yaml")
    var lines: [String] = []
    let settings = try Settings(path: path) { failure in
      lines.append(String(failure.description.dropFirst(path.count + 1).prefix { $0 != ":" }))
    }
    #expect(lines == ["1", "2", "4", "6", "8"])
    #expect(settings.store == "s3://logs" && settings.staleAfter == .hours(2))
  }

  /// cron looks for programs in /usr/bin and /bin only, and takes a % for the input.
  @Test(arguments: [
    ("/usr/bin/tidemark", "tidemark"), ("/bin/tidemark", "tidemark"),
    ("/usr/local/bin/tidemark", "/usr/local/bin/tidemark"),
    ("/home/o'neil/100% mine/tidemark", #"'/home/o'\''neil/100\% mine/tidemark'"#),
  ])
  func `a crontab line names the program so that cron finds it`(path: String, named: String) {
    #expect(EnvironmentReport.programInCron(path) == named)
  }

  @Test func `an error is reported at most once an hour`() throws {
    let folder = try TemporaryDirectory()
    let report = HourlyReport(Home(path: folder.path), .uploadError)
    let start = Timestamp(milliseconds: 1_767_225_600_000)
    #expect(report.isDue("a", at: start))
    #expect(!report.isDue("a", at: start + .seconds(60)))
    #expect(!report.isDue("a", at: start + .seconds(3599)))
    #expect(report.isDue("b", at: start + .seconds(60)))
    #expect(report.isDue("a", at: start + .seconds(120)))
    #expect(report.isDue("a", at: start + .seconds(3720)))
    // The clock was set back.
    #expect(report.isDue("a", at: start))
  }

  @Test(arguments: [("true", true), ("yes", true), ("On", true), ("no", false), ("maybe", nil)])
  func `all switches have the same forms`(text: String, value: Bool?) throws {
    let folder = try TemporaryDirectory()
    for (lines, read) in [
      ("allow-plaintext: ", { $0.storeSettings.allowsPlaintext }),
      ("s3:\n  path-style: ", { $0.storeSettings.s3.pathStyle }),
      ("sources:\n  - path: /a\n    follow-links: ", { $0.sources.first?.followsLinks }),
    ] as [(String, (Settings) -> Bool?)] {
      let path = folder.path + "/tidemark.yaml"
      try (lines + text + "\n").write(toFile: path, atomically: true, encoding: .utf8)
      let settings = try? Settings(path: path)
      #expect(settings.flatMap(read) == value && (settings == nil) == (value == nil), "\(lines)")
    }
  }

  @Test func `two lasting problems of different kinds are each reported once an hour`() throws {
    let folder = try TemporaryDirectory()
    let home = Home(path: folder.path)
    let start = Timestamp(milliseconds: 1_767_225_600_000)
    for minute in 0..<59 {
      for kind in HourlyReport.Kind.allCases {
        let isDue = HourlyReport(home, kind).isDue("\(kind)", at: start + .seconds(60 * minute))
        #expect(isDue == (minute == 0), "\(kind) after \(minute) min")
      }
    }
  }

  @Test func `a check notes that remote copies expire before local ones`() {
    var retention = Retention()
    #expect(ConfigCheck.note(on: retention) == nil)
    (retention.local, retention.remote) = (.days(30), .days(30))
    #expect(ConfigCheck.note(on: retention) == nil)
    retention.remote = .days(29)
    let note = ConfigCheck.note(on: retention)
    #expect(
      note?.contains("'local' (30 d) is longer than 'remote' (29 d)") == true, "\(note ?? "")")
  }
}
