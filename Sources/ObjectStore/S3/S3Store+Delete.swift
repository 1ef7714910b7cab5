import Crypto
import Foundation
import HTTPTransport

extension S3Store {
  /// See ``ObjectStore/delete(_:)``; up to 1000 keys per request.
  package func delete(_ keys: [String]) async throws -> [DeleteOutcome] {
    for key in keys { try ObjectKey.check(key, operation: "DELETE") }
    var outcomes: [DeleteOutcome] = []
    for start in stride(from: 0, to: keys.count, by: 1000) {
      let batch = Array(keys[start..<min(start + 1000, keys.count)])
      do {
        outcomes += try await deleteBatch(batch)
      } catch let error as StoreError where error.code != .cancelled && start > 0 {
        outcomes += batch.map { DeleteOutcome(key: $0, error: error) }
      }
    }
    return outcomes
  }

  private func deleteBatch(_ keys: [String]) async throws -> [DeleteOutcome] {
    guard service.provider.batchDelete != .none else { return try await deleteOneByOne(keys) }
    let objects = keys.map { "<Object><Key>\(XMLText.escaped(fullKey($0)))</Key></Object>" }
    let body = Array(
      ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
        + "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(objects.joined())</Delete>")
        .utf8)
    let digest = Data(Insecure.MD5.hash(data: body)).base64EncodedString()
    let call = S3Call(
      method: "POST", operation: "DELETE", query: [("delete", "")],
      headers: [
        (name: "Content-MD5", value: digest), (name: "Content-Type", value: "application/xml"),
      ], body: body)
    do {
      let answer = try await answer(to: call)
      return try outcomes(keys, answer.response, failure(call, hiding: answer.secrets))
    } catch let error as StoreError where error.code == .unsupported {
      return try await deleteOneByOne(keys)
    }
  }

  /// Reads the result of each key; a key that the answer omits has none.
  func outcomes(_ keys: [String], _ response: HTTPResponse, _ failure: HTTPFailure) throws
    -> [DeleteOutcome]
  {
    guard let root = try? XMLScanner.parse(response.body), root.name == "DeleteResult" else {
      throw failure.garbage(response, "not the result of a delete")
    }
    var results: [String: StoreError?] = [:]
    for deleted in root.all("Deleted") {
      if let key = deleted.child("Key")?.text { results[key] = .some(nil) }
    }
    for refused in root.all("Error") {
      guard let key = refused.child("Key")?.text else { continue }
      let one = HTTPFailure(
        operation: "DELETE", target: "s3://\(bucket)/\(key)", secrets: failure.secrets)
      let error = S3Failure(refused).error(HTTPResponse(status: 200), one, bucket: bucket)
      results[key] = .some(error.isNotFound ? nil : error)
    }
    return keys.map { key in
      guard let result = results[fullKey(key)] else {
        return DeleteOutcome(key: key, error: failure.garbage(response, "no result for \(key)"))
      }
      return DeleteOutcome(key: key, error: result)
    }
  }

  private func deleteOneByOne(_ keys: [String]) async throws -> [DeleteOutcome] {
    var outcomes: [DeleteOutcome] = []
    for key in keys {
      do {
        _ = try await perform(S3Call(method: "DELETE", operation: "DELETE", key: key))
        outcomes.append(DeleteOutcome(key: key))
      } catch let error as StoreError where error.code != .cancelled {
        outcomes.append(DeleteOutcome(key: key, error: error.isNotFound ? nil : error))
      }
    }
    return outcomes
  }
}
