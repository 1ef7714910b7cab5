import Foundation
import HTTPTransport
import Testing

@testable import ObjectStore

@Suite struct S3FailureTests {
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
    "retry": [.transient], "retry-slow": [.transient], "redirect-once": [.transient],
    "fix-region": [.configuration], "clock": [.configuration], "reauth": [.authentication],
    "fatal-auth": [.authentication], "not-found": [.notFound], "precondition": [.conflict],
    "full": [.full], "fatal": [.configuration],
  ]

  @Test(arguments: Fixtures.names("s3-errors"))
  func meansWhatTheServiceSays(_ name: String) throws {
    let answer = try Fixtures.json("s3-errors/\(name).json", as: Answer.self)
    let response = HTTPResponse(
      status: answer.http.status, headers: answer.http.headers.map { (name: $0[0], value: $0[1]) },
      body: try Fixtures.bytes("s3-errors/\(name).body"))
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
}
