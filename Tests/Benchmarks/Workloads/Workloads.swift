import Crypto
import Delta
import LogRecords
import Platform
import Redaction

@testable import ObjectStore

/// A workload to measure: in time and in instructions.
package struct Workload: Sendable {
  /// The work of one run, as printed.
  package let name: String
  /// Number of runs that count as one, if a run takes microseconds.
  package let scale: Int
  /// Prepares everything that is not measured.
  package let prepare: @Sendable () throws -> () throws -> Void

  private init(
    _ name: String, scale: Int = 1, prepare: @escaping @Sendable () throws -> () throws -> Void
  ) {
    self.name = name
    self.scale = scale
    self.prepare = prepare
  }

  /// All workloads.
  package static let all = codec + [blocks, hashing, signing] + listings + [records] + redaction

  /// Keeps the optimizer from removing the computation of a value.
  @inline(never)
  private static func consume<Value>(_ value: Value) { withExtendedLifetime(value) {} }

  private static let codec = [
    Workload("SegmentEncoder: a frame of 2 MiB") {
      let log = Samples.log(SegmentEncoder.frameLength)
      let encoder = try SegmentEncoder()
      return { consume(try encode(log, with: encoder)) }
    },
    Workload("SegmentDecoder: a frame of 2 MiB") {
      let log = Samples.log(SegmentEncoder.frameLength)
      let segment = try encode(log, with: SegmentEncoder())
      let decoder = try SegmentDecoder()
      return { try decoder.decode(segment, rawLength: log.count) { consume($0.count) } }
    },
  ]

  private static func encode(_ log: [UInt8], with encoder: SegmentEncoder) throws -> [UInt8] {
    let levels = [Int](repeating: 0, count: FrameSummary.levelCount)
    try log.withUnsafeBytes { try encoder.append($0, lines: 0, times: nil, levels: levels) }
    return encoder.finish(link: .start)
  }

  private static let blocks = Workload("BlockSplitter: 2 MiB") {
    let log = Samples.log(SegmentEncoder.frameLength)
    return {
      var splitter = BlockSplitter()
      log.withUnsafeBytes { splitter.append($0) { consume($0.length) } }
    }
  }

  private static let hashing = Workload("SHA-256: 2 MiB") {
    let log = Samples.log(SegmentEncoder.frameLength)
    return {
      var hasher = SHA256()
      log.withUnsafeBytes { hasher.update(bufferPointer: $0) }
      consume(hasher.finalize())
    }
  }

  private static let signing = Workload("SigV4Signer: a PUT", scale: 1000) {
    let signer = SigV4Signer(
      credentials: S3Credentials(
        accessKeyID: "TIDEKEY", secretAccessKey: "mark/secret+key", sessionToken: nil),
      region: "us-east-1")
    let target = "/logs/prefix/" + Samples.keys(1)[0]
    let payload = SigV4Signer.hash([])
    let date = ServerTime(milliseconds: 1_769_092_205_000)
    return {
      let signature = signer.sign(
        method: "PUT", target: target, headers: [(name: "Host", value: "s3.example")],
        payloadHash: payload, date: date)
      consume(signature)
    }
  }

  private static let listings = [
    Workload("S3Listing: 1,000 keys") {
      let answer = Samples.s3Listing(1000)
      return {
        let listing = S3Listing(try XMLScanner.parse(answer))
        let page = try listing.page(fullPrefix: "prefix/", prefix: Samples.folder) {
          StoreError(.transient, operation: "LIST", target: "sample", response: $0)
        }
        precondition(page.objects.count == 1000)
        consume(page)
      }
    },
    Workload("MultiStatus: 1,000 files") {
      let answer = Samples.multiStatus(1000)
      return {
        let status = try MultiStatus(answer)
        precondition(status.responses.count == 1000)
        consume(status)
      }
    },
  ]

  private static let records = Workload("RecordPrefix: the lines of 1 MiB") {
    let lines = Samples.log(1 << 20).split(separator: 0x0a).map(Array.init)
    return {
      for line in lines { consume(line.withUnsafeBytes { RecordPrefix.parse($0) }) }
    }
  }

  private static let redaction = [
    Workload("Redactor: 8 MiB without a secret") {
      let log = Samples.log(8 << 20)
      let redactor = Redactor.standard
      return { consume(redactor.redactions(in: log, format: .lines).count) }
    },
    Workload("Redactor: 8 MiB, a secret in 10,000 lines") {
      var log = Samples.log(8 << 20)
      let key = Array("AKIAIOSFODNN7EXAMPLE".utf8)
      // In one line of 10,000.
      let lines = log.indices.filter { log[$0] == 0x0a }
      for line in stride(from: 5000, to: lines.count, by: 10_000) where lines[line] > key.count {
        log.replaceSubrange(lines[line] - key.count..<lines[line], with: key)
      }
      let redactor = Redactor.standard
      return { [log] in consume(redactor.redactions(in: log, format: .lines).count) }
    },
  ]
}
