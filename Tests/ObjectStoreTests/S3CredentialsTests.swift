import ObjectStore
import TestServers
import Testing

@Suite struct S3CredentialsTests {
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

  @Test(arguments: [
    ([:], "FILE", "eu-west-1"),
    (["AWS_PROFILE": "other"], "OTHER", "us-west-2"),
    (["AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"], "ENV", "eu-west-1"),
    (["AWS_DEFAULT_REGION": "r1"], "FILE", "r1"),
    (["AWS_DEFAULT_REGION": "r1", "AWS_REGION": "r2"], "FILE", "r2"),
    (["AWS_CONFIG_FILE": "/nonexistent"], "FILE", "us-east-1"),
  ])
  func finds(_ variables: [String: String], id: String, region: String) throws {
    let environment = variables.merging(["HOME": home.path]) { first, _ in first }
    let settings = StoreSettings.S3()
    let found = try S3Credentials.resolve(environment: environment, settings: settings)
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
  func namesWhatIsMissing(_ variables: [String: String], _ name: String) {
    let environment = variables.merging(["HOME": home.path]) { first, _ in first }
    let error = #expect(throws: StoreError.self) {
      try S3Credentials.resolve(environment: environment, settings: StoreSettings.S3())
    }
    #expect(error?.code == .configuration)
    #expect(error?.description.contains(name) == true)
    #expect(error?.description.contains("hush") == false)
  }

  @Test func theEnvironmentOverridesTheEndpoint() throws {
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
  func opensAWebDAVStore(_ environment: [String: String], fails: Bool) throws {
    let url = try StoreURL("https://dav.example/x")
    if fails {
      let error = #expect(throws: StoreError.self) {
        try openStore(url, settings: StoreSettings(), environment: environment)
      }
      #expect(error?.code == .configuration)
    } else {
      let store = try openStore(url, settings: StoreSettings(), environment: environment)
      #expect(store.location == "https://dav.example/x")
    }
  }
}
