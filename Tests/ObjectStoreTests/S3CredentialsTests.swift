import HTTPTransport
import Platform
import TestServers
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.tags(.medium)) struct S3CredentialsTests {
  private let home: TemporaryDirectory

  init() throws {
    home = try TemporaryDirectory()
    try home.write(
      """
      # comment
      [default]
      aws_access_key_id = FILE
      aws_secret_access_key=a=b
      [other]
      aws_access_key_id = OTHER
      aws_secret_access_key = s
      aws_session_token = t
      [half]
      aws_access_key_id = X

      """, to: ".aws/credentials")
    try home.write(
      """
      [default]
      region = eu-west-1
      [profile other]
      region = us-west-2
      s3 =
        region = nested

      """, to: ".aws/config")
  }

  private func chain(
    _ environment: [String: String], _ settings: StoreSettings.S3 = StoreSettings.S3()
  ) throws -> CredentialChain {
    try CredentialChain(
      environment: environment, settings: settings, transport: .patient(), now: Timestamp.now)
  }

  @Test(arguments: [
    ([:], "FILE", "eu-west-1"),
    (["AWS_PROFILE": "other"], "OTHER", "us-west-2"),
    (["AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"], "ENV", "eu-west-1"),
    (["AWS_DEFAULT_REGION": "r1"], "FILE", "r1"),
    (["AWS_DEFAULT_REGION": "r1", "AWS_REGION": "r2"], "FILE", "r2"),
    (["AWS_CONFIG_FILE": "/nonexistent"], "FILE", "us-east-1"),
  ])
  func `credentials and region are found in order of precedence`(
    _ variables: [String: String], id: String, region: String
  ) async throws {
    let environment = variables.merging(["HOME": home.path]) { first, _ in first }
    let settings = StoreSettings.S3()
    let found = try await chain(environment).credentials()
    #expect(found.accessKeyID == id)
    #expect(try S3Service.resolve(environment: environment, settings: settings).region == region)
    #expect(!"\(found)".contains(id))
    var dumped = ""
    dump(found, to: &dumped)
    #expect(!dumped.contains(id))
  }

  @Test(arguments: [
    (["AWS_ACCESS_KEY_ID": "ENV"], "AWS_SECRET_ACCESS_KEY"),
    (["AWS_SECRET_ACCESS_KEY": "hush"], "AWS_ACCESS_KEY_ID"),
    (["AWS_PROFILE": "half"], "aws_secret_access_key"), (["AWS_PROFILE": "none"], "none"),
    (["HOME": "/nonexistent"], "AWS_ACCESS_KEY_ID"),
  ])
  func `missing credentials are named without showing secrets`(
    _ variables: [String: String], _ name: String
  ) async {
    let environment = variables.merging(
      ["HOME": home.path, "AWS_EC2_METADATA_DISABLED": "true"]
    ) { first, _ in first }
    let error = await #expect(throws: StoreError.self) {
      try await chain(environment).credentials()
    }
    #expect(error?.code == .configuration)
    #expect(error?.description.contains(name) == true)
    #expect(error?.description.contains("hush") == false)
  }

  @Test(arguments: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
  func `half a key pair is refused at once`(_ name: String) {
    #expect(throws: StoreError.self) { try chain(["HOME": home.path, name: "hush"]) }
  }

  @Test func `the origin of the key is reported`() async throws {
    let base = ["HOME": home.path]
    #expect(try await chain(base).origin() == "profile default in ~/.aws/credentials")
    let key = ["AWS_ACCESS_KEY_ID": "I", "AWS_SECRET_ACCESS_KEY": "S"]
    #expect(try await chain(base.merging(key) { $1 }).origin() == "the environment")
    var settings = StoreSettings.S3()
    settings.accessKeyID = "I"
    settings.secretAccessKeyFile = home.path + "/secret"
    try home.write(" a/b+c \n", to: "secret")
    #expect(try await chain(base, settings).origin() == "the configuration")
    #expect(try await chain(base, settings).credentials().secretAccessKey == "a/b+c")
  }

  @Test func `keys are read from files named by variables`() async throws {
    try home.write("FROMFILE\n", to: "id")
    try home.write("a/b+c\n", to: "secret")
    let environment = [
      "HOME": home.path, "AWS_ACCESS_KEY_ID_FILE": home.path + "/id",
      "AWS_SECRET_ACCESS_KEY_FILE": home.path + "/secret",
    ]
    let found = try await chain(environment).credentials()
    #expect((found.accessKeyID, found.secretAccessKey) == ("FROMFILE", "a/b+c"))
    let error = #expect(throws: StoreError.self) {
      try chain(environment.merging(["AWS_SECRET_ACCESS_KEY_FILE": "/nonexistent"]) { $1 })
    }
    #expect(error?.code == .configuration)
    #expect(error?.description.contains("AWS_SECRET_ACCESS_KEY_FILE") == true)
  }

  /// Under `sudo`, they may be another user's, who waits for root to open them.
  @Test(arguments: ["mkfifo credentials", "ln -s /dev/zero credentials"])
  func `a profile is read from a regular file only`(_ making: String) async throws {
    let script = "cd '\(home.path)/.aws' && rm -f credentials config && \(making)"
    #expect(try await Command(["/bin/sh", "-c", script]).run().status == 0)
    let environment = ["HOME": home.path, "AWS_EC2_METADATA_DISABLED": "true"]
    let error = await #expect(throws: StoreError.self) {
      try await chain(environment).credentials()
    }
    #expect(error?.code == .configuration)
  }

  @Test(arguments: ["role_arn", "credential_process", "sso_session"])
  func `an unsupported profile setting is named with advice`(_ name: String) throws {
    try home.write("[profile odd]\n\(name) = x\nsource_profile = default\n", to: ".aws/config")
    let error = #expect(throws: StoreError.self) {
      try chain(["HOME": home.path, "AWS_PROFILE": "odd"])
    }
    #expect(error?.code == .configuration)
    #expect(error?.description.contains("odd has \(name)") == true)
    #expect(error?.advice.contains("export-credentials") == true)
  }

  @Test func `variables override the configured endpoint`() throws {
    var settings = StoreSettings.S3()
    settings.endpoint = "https://settings.example/"
    let home = ["HOME": "/nonexistent"]
    #expect(
      try S3Service.resolve(environment: home, settings: settings).endpoint
        == "https://settings.example")
    let environment = home.merging([
      "AWS_ENDPOINT_URL": "https://general.example", "AWS_ENDPOINT_URL_S3": "http://localhost:9000",
    ]) { first, _ in first }
    #expect(
      try S3Service.resolve(environment: environment, settings: settings).endpoint
        == "http://localhost:9000")
    settings.endpoint = "http://minio.example:9000"
    let error = #expect(throws: StoreError.self) {
      try S3Service.resolve(environment: home, settings: settings)
    }
    #expect(error?.code == .configuration)
  }

  @Test(arguments: [
    ([:], false), (["TIDEMARK_WEBDAV_USER": "u"], true), (["TIDEMARK_WEBDAV_PASSWORD": "p"], true),
    (["TIDEMARK_WEBDAV_USER": "u", "TIDEMARK_WEBDAV_PASSWORD": "p"], false),
    (["TIDEMARK_WEBDAV_USER": "u", "TIDEMARK_WEBDAV_PASSWORD_FILE": "/nonexistent"], true),
  ])
  func `a WebDAV store opens with a complete login or none`(
    _ environment: [String: String], fails: Bool
  ) throws {
    let url = try StoreURL("https://dav.example/x")
    if fails {
      let error = #expect(throws: StoreError.self) {
        try openStore(url, settings: StoreSettings(machine: .current), environment: environment)
      }
      #expect(error?.code == .configuration)
    } else {
      let store = try openStore(
        url, settings: StoreSettings(machine: .current), environment: environment)
      #expect(store.location == "https://dav.example/x")
    }
  }
}
