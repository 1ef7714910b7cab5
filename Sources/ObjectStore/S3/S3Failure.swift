import Foundation
import HTTPTransport
import Platform

/// An S3 service's error document and its meaning.
struct S3Failure {
  /// The code, such as `NoSuchKey`; nil without an error document.
  var code: String?
  var message: String?
  /// The bucket's region, if the answer names it.
  var region: String?
  /// The target of a redirect: a URL or a host.
  var location: String?
  /// The server's clock, if the answer shows it.
  var serverTime: ServerTime?

  /// Reads an answer's headers and, if it is an error document, its body.
  init(_ response: HTTPResponse) {
    self.init(
      Self.document(response.body), region: response.header("x-amz-bucket-region"),
      serverTime: response.header("Date").flatMap(HTTPDate.parse),
      location: response.header("Location"))
  }

  /// Reads an `Error` element.
  ///
  /// Reads only these fields: others echo the signed request and tokens.
  init(
    _ element: XMLElement?, region: String? = nil, serverTime: ServerTime? = nil,
    location: String? = nil
  ) {
    func text(_ name: String) -> String? {
      element?.child(name).flatMap { $0.text.isEmpty ? nil : $0.text }
    }
    code = text("Code")
    message = text("Message")
    self.location = location ?? text("Endpoint")
    self.serverTime = text("ServerTime").flatMap(HTTPDate.parse) ?? serverTime
    self.region = region ?? text("Region")
    guard self.region == nil, code.flatMap(S3Meaning.of)?.action == .fixRegion else { return }
    self.region = Self.region(in: message) ?? text("Endpoint").flatMap(Self.region(of:))
  }

  /// The region in `expecting 'eu-central-1'`, which some services give only in words.
  private static func region(in message: String?) -> String? {
    guard let message, let mark = message.range(of: "expecting") ?? message.range(of: "expected:")
    else { return nil }
    let rest = message[mark.upperBound...].drop { " '\"`".contains($0) }
    // Either the region alone or a whole scope, `20261121/eu-central-1/s3/aws4_request`.
    let word = rest.prefix { !" '\"`".contains($0) }.split(separator: "/")
    return (word.count == 4 ? word[1] : word.first).map(String.init)
  }

  /// The region in an endpoint's name; the service's default if the name has none.
  private static func region(of endpoint: String) -> String? {
    S3Host(endpoint).map { $0.region ?? $0.provider.region }
  }

  /// The error element of a body; nil if it is something else.
  private static func document(_ body: [UInt8]) -> XMLElement? {
    guard !body.isEmpty else { return nil }
    guard let root = try? XMLScanner.parse(body) else { return cut(body) }
    if root.name == "Error" { return root }
    return root.name == "ErrorResponse" ? root.child("Error") : nil
  }

  /// The readable part of a truncated error document.
  private static func cut(_ body: [UInt8]) -> XMLElement? {
    let head = String(decoding: body.prefix(8192), as: UTF8.self)
    guard let start = head.range(of: "<Error"),
      head[..<start.lowerBound].allSatisfy({ !"{".contains($0) }),
      !head.contains("<html"), !head.contains("<HTML")
    else { return nil }
    var root = XMLElement(namespace: "", name: "Error")
    for name in ["Code", "Message", "Region"] {
      guard let open = head.range(of: "<\(name)>"),
        let close = head.range(of: "</\(name)>", range: open.upperBound..<head.endIndex)
      else { continue }
      let text = head[open.upperBound..<close.lowerBound]
        .trimmingCharacters(in: .whitespacesAndNewlines)
      root.children.append(XMLElement(namespace: "", name: name, text: text))
    }
    return root
  }

  /// Whether a 2xx answer is an error in disguise.
  static func isError(_ response: HTTPResponse) -> Bool { document(response.body) != nil }

  /// The change with which to repeat the request at once; nil if none helps.
  func action(_ response: HTTPResponse) -> S3Action? {
    guard let meaning = code.flatMap(S3Meaning.of) else {
      return S3Meaning.action(status: response.status)
    }
    return meaning.action
  }

  /// The error for the user, without what the server repeats of the request's secrets; `bucket`
  /// appears in the advice.
  func error(_ response: HTTPResponse, _ failure: HTTPFailure, bucket: String) -> StoreError {
    let detail = [code, message].compactMap { $0 }.joined(separator: ": ")
    if let meaning = code.flatMap(S3Meaning.of) {
      let shown = region.map { " to \(String(oneLine: failure.mask.maskHead(of: $0), limit: 64))" }
      let advice = meaning.advice.replacing("BUCKET", with: bucket)
        .replacing("REGION", with: shown ?? "")
      return failure.error(response, meaning.error, detail: detail, advice: advice)
    }
    // An error document in a 200 without a known code: nothing was proven. And a new bucket is
    // unknown to some of a service's hosts for a while.
    if (200..<300).contains(response.status) || response.status == 307 {
      return failure.error(response, .transient, detail: detail, advice: "Try again later.")
    }
    return failure.error(response, detail: detail)
  }
}
