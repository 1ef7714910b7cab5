import Foundation
import HTTPTransport
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.tags(.medium)) struct S3FailureTests {
  struct Answer: Decodable {
    struct HTTP: Decodable {
      let status: Int
      let headers: [[String]]
    }
    struct Expected: Decodable {
      let isError: Bool
      let code: String?
      let action: String
      let region: String?
      let serverTime: String?
      let keys: [String]?
      let nextToken: String?
    }
    let operation: String
    let http: HTTP
    let expected: Expected
  }

  static let meanings: [String: Set<StoreError.Code>] = [
    "retry": [.transient, .damaged], "retry-slow": [.overloaded], "redirect-once": [.transient],
    "fix-region": [.configuration], "clock": [.configuration], "reauth": [.authentication],
    "fatal-auth": [.authentication], "not-found": [.notFound], "precondition": [.conflict],
    "full": [.full], "fatal": [.configuration],
  ]

  static let actions: [String: S3Action] = [
    "redirect-once": .redirectOnce, "fix-region": .fixRegion, "clock": .clock, "reauth": .reauth,
  ]

  @Test(arguments: Fixtures.names("s3-errors"))
  func `S3 responses map to actions and error codes`(_ name: String) throws {
    let answer = try Fixtures.json("s3-errors/\(name).json", as: Answer.self)
    let response = HTTPResponse(
      status: answer.http.status, headers: answer.http.headers.map { (name: $0[0], value: $0[1]) },
      body: try Fixtures.bytes("s3-errors/\(name).body"))
    #expect(S3Failure(response).action(response) == Self.actions[answer.expected.action])
    let failed = response.status >= 300 || S3Failure.isError(response)
    if answer.expected.action == "ok-partial" || !answer.expected.isError {
      #expect(!failed)
      guard let keys = answer.expected.keys else { return }
      let listing = S3Listing(try XMLScanner.parse(response.body))
      #expect(listing.keys == keys)
      let page = try listing.page(fullPrefix: "", prefix: "") {
        StoreError(.integrity, operation: "", target: "", response: $0)
      }
      #expect(page.next == answer.expected.nextToken)
      return
    }
    #expect(failed)
    let failure = S3Failure(response)
    #expect(failure.code == answer.expected.code)
    if let region = answer.expected.region { #expect(failure.region == region) }
    if let time = answer.expected.serverTime {
      #expect(failure.serverTime == HTTPDate.parse(time))
    }
    let error = failure.error(
      response, HTTPFailure(operation: "PUT", target: "s3://b/k"), bucket: "b")
    let meaning = try #require(Self.meanings[answer.expected.action])
    #expect(meaning.contains(error.code), "\(error)")
    #expect(!error.description.contains("FwoGZXIvYXdzEBYaD"))
    #expect(!error.description.contains("\n"))
  }

  private func answer(_ status: Int, _ body: String = "", _ headers: [String: String] = [:])
    -> HTTPResponse
  {
    HTTPResponse(
      status: status, headers: headers.map { (name: $0.key, value: $0.value) },
      body: Array(body.utf8))
  }

  /// Answers of other services and other times than those of the samples.
  @Test(
    arguments: [
      (200, "\n  \n<?xml version=\"1.0\"?>\n<Error><Code>InternalError</Code></Error>", .transient),
      (200, "<Error><Code> SlowDown </Code></Error>", .overloaded),
      (200, "<Error><Code>NeverHeardOf</Code></Error>", .transient),
      (200, "<Error><Code>InternalErr", .transient), (200, "", nil), (204, "", nil),
      (200, "<DeleteResult><Deleted><Key>a</Key></Deleted></DeleteResult>", nil),
      (200, "<html><Error></html>", nil),
      (404, "<Error><Code>NoSuchUpload</Code></Error>", .transient),
      (400, "<Error><Code>InvalidPart</Code></Error>", .transient),
      (403, "<Error><Code>QuotaExceeded</Code></Error>", .full),
      (400, "<Error><Code>XMinioAdminBucketQuotaExceeded</Code></Error>", .full),
      (507, "", .full), (500, "<html>oops</html>", .transient), (502, "", .transient),
      (504, "", .transient), (520, "", .transient), (503, "", .overloaded),
      (429, "", .overloaded), (509, "", .overloaded), (408, "", .transient), (400, "", .other),
      (405, "", .unsupported), (501, "", .unsupported),
      (400, "<Error><Code>MalformedXML</Code></Error>", .other), (401, "", .authentication),
      (403, "", .authentication), (404, "", .notFound), (410, "", .notFound),
      (412, "", .conflict),
      (409, "<Error><Code>ConditionalRequestConflict</Code></Error>", .transient),
      (302, "", .configuration),
      (403, "<e:Error xmlns:e=\"u\"><e:Code>AccessDenied</e:Code></e:Error>", .authentication),
      (404, "<Error><Code>NoSuchBucket</Code>", .configuration),
    ] as [(Int, String, StoreError.Code?)])
  func `unusual S3 responses map to error codes`(
    _ status: Int, _ body: String, _ code: StoreError.Code?
  ) {
    let response = answer(status, body)
    let failure = S3Failure(response)
    #expect((status >= 300 || S3Failure.isError(response)) == (code != nil))
    #expect(failure.action(response) == nil)
    guard let code else { return }
    let place = HTTPFailure(operation: "PUT", target: "s3://b/k")
    #expect(failure.error(response, place, bucket: "b").code == code)
  }

  @Test(
    arguments: [
      (301, "", .fixRegion), (307, "", .redirectOnce),
      (403, "<Error><Code>RequestTimeTooSkewed</Code></Error>", .clock),
      (403, "<ErrorResponse><Error><Code>InvalidToken</Code></Error></ErrorResponse>", .reauth),
      (400, "<Error><Code>TokenRefreshRequired</Code></Error>", .reauth),
      // A known code overrides the status.
      (301, "<Error><Code>NoSuchBucket</Code></Error>", nil),
    ] as [(Int, String, S3Action?)])
  func `a refusal is answered by a change of the request`(
    _ status: Int, _ body: String, _ action: S3Action?
  ) {
    let response = answer(status, body)
    #expect(S3Failure(response).action(response) == action)
  }

  @Test(arguments: [
    ("<Region>eu-central-1</Region>", "eu-central-1"),
    ("<Message>the region 'us-east-1' is wrong; expecting 'eu-west-3'</Message>", "eu-west-3"),
    (
      "<Message>unexpected scope: 20261121/us-east-1/s3/aws4_request, "
        + "expected: 20261121/garage/s3/aws4_request</Message>", "garage"
    ),
    ("<Endpoint>b.s3-eu-west-1.amazonaws.com</Endpoint>", "eu-west-1"),
    ("<Endpoint>b.s3.eu-central-1.amazonaws.com</Endpoint>", "eu-central-1"),
    ("<Endpoint>s3.amazonaws.com</Endpoint>", "us-east-1"),
    ("<Endpoint>elsewhere.example</Endpoint>", ""),
  ])
  func `the right region is found in error responses`(_ inside: String, _ region: String) {
    let body = "<Error><Code>AuthorizationHeaderMalformed</Code>\(inside)</Error>"
    #expect(S3Failure(answer(400, body)).region ?? "" == region)
    let header = answer(301, body, ["x-amz-bucket-region": "sa-east-1"])
    #expect(S3Failure(header).region == "sa-east-1")
  }

  @Test(arguments: [
    ("https://b.s3.eu-west-1.amazonaws.com/x", "https://b.s3.us-east-1.amazonaws.com", true),
    ("https://s3.eu-west-1.amazonaws.com/b/x", "https://b.s3.us-east-1.amazonaws.com", true),
    ("b.s3-us-west-2.amazonaws.com", "https://b.s3.us-east-1.amazonaws.com", true),
    ("http://b.s3.eu-west-1.amazonaws.com/x", "https://b.s3.us-east-1.amazonaws.com", false),
    ("https://evil.example/x", "https://b.s3.us-east-1.amazonaws.com", false),
    ("https://s3.amazonaws.com.evil.example/", "https://b.s3.us-east-1.amazonaws.com", false),
    ("https://s3.amazonaws.com@evil.example/", "https://b.s3.us-east-1.amazonaws.com", false),
    ("https://s3.wasabisys.com/", "https://b.s3.us-east-1.amazonaws.com", false),
    ("https://node2.s3.example/", "https://s3.example", true),
    ("https://other.example/", "https://s3.example", false),
    ("http://127.0.0.1:9001/", "http://127.0.0.1:9000", false), ("", "https://s3.example", false),
  ])
  func `redirects are followed only within the service`(
    _ location: String, from origin: String, follows: Bool
  ) {
    #expect((S3Route(location, bucket: "b", from: origin) != nil) == follows)
  }

  @Test func `a redirect of a bucket with dots uses path style`() throws {
    let route = try #require(
      S3Route(
        "https://bucket.name.s3.eu-central-1.amazonaws.com/", bucket: "bucket.name",
        from: "https://s3.us-east-1.amazonaws.com"))
    #expect(route.origin == "https://s3.eu-central-1.amazonaws.com")
    #expect(route.path == "/bucket.name")
    #expect(route.region == "eu-central-1")
  }
}
