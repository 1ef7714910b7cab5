import Benchmark
import Crypto
import Delta
import Foundation
import LogRecords
import Redaction

@testable import ObjectStore

// What the benchmark package runs; one iteration of each is what its name says.
let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = .init(
    metrics: [.wallClock, .throughput], warmupIterations: 3, maxDuration: .seconds(3))
  codec()
  blocks()
  hashing()
  signing()
  listings()
  records()
  redaction()
}

private func codec() {
  let log = Samples.log(SegmentEncoder.frameLength)
  let levels = [Int](repeating: 0, count: FrameSummary.levelCount)

  @Sendable func encode(with encoder: SegmentEncoder) throws -> [UInt8] {
    try log.withUnsafeBytes {
      try encoder.append($0, lines: 0, times: nil, levels: levels)
    }
    return encoder.finish(link: .start)
  }

  Benchmark("SegmentEncoder: a frame of 2 MiB") { benchmark in
    let encoder = try SegmentEncoder()
    for _ in benchmark.scaledIterations { blackHole(try encode(with: encoder)) }
  }
  Benchmark("SegmentDecoder: a frame of 2 MiB") { benchmark in
    let segment = try encode(with: SegmentEncoder())
    let decoder = try SegmentDecoder()
    benchmark.startMeasurement()
    for _ in benchmark.scaledIterations {
      try decoder.decode(segment, rawLength: log.count) { blackHole($0.count) }
    }
  }
}

private func blocks() {
  let log = Samples.log(SegmentEncoder.frameLength)
  Benchmark("BlockSplitter: 2 MiB") { benchmark in
    for _ in benchmark.scaledIterations {
      var splitter = BlockSplitter()
      log.withUnsafeBytes { splitter.append($0) { blackHole($0.length) } }
    }
  }
}

private func hashing() {
  let log = Samples.log(SegmentEncoder.frameLength)
  Benchmark("SHA-256: 2 MiB") { benchmark in
    for _ in benchmark.scaledIterations {
      var hasher = SHA256()
      log.withUnsafeBytes { hasher.update(bufferPointer: $0) }
      blackHole(hasher.finalize())
    }
  }
}

private func signing() {
  let signer = SigV4Signer(
    credentials: S3Credentials(
      accessKeyID: "TIDEKEY", secretAccessKey: "mark/secret+key", sessionToken: nil),
    region: "us-east-1")
  let target = "/logs/prefix/" + Samples.keys(1)[0]
  let payload = SigV4Signer.hash([])
  let date = Date(timeIntervalSince1970: 1_769_092_205)
  Benchmark("SigV4Signer: a PUT", configuration: .init(scalingFactor: .kilo)) { benchmark in
    for _ in benchmark.scaledIterations {
      let signature = signer.sign(
        method: "PUT", target: target, headers: [(name: "Host", value: "s3.example")],
        payloadHash: payload, date: date)
      blackHole(signature)
    }
  }
}

private func listings() {
  let s3 = Samples.s3Listing(1000)
  Benchmark("S3Listing: 1,000 keys") { benchmark in
    for _ in benchmark.scaledIterations {
      let listing = S3Listing(try XMLScanner.parse(s3))
      let page = try listing.page(fullPrefix: "prefix/", prefix: Samples.folder) {
        StoreError(.transient, operation: "LIST", target: "sample", response: $0)
      }
      precondition(page.objects.count == 1000)
      blackHole(page)
    }
  }
  let webdav = Samples.multiStatus(1000)
  Benchmark("MultiStatus: 1,000 files") { benchmark in
    for _ in benchmark.scaledIterations {
      let status = try MultiStatus(webdav)
      precondition(status.responses.count == 1000)
      blackHole(status)
    }
  }
}

private func records() {
  let lines = Samples.log(1 << 20).split(separator: 0x0a).map(Array.init)
  Benchmark("RecordPrefix: the lines of 1 MiB") { benchmark in
    for _ in benchmark.scaledIterations {
      for line in lines { blackHole(line.withUnsafeBytes { RecordPrefix.parse($0) }) }
    }
  }
}

private func redaction() {
  let clean = Samples.log(8 << 20)
  var marred = clean
  let key = Array("AKIAIOSFODNN7EXAMPLE".utf8)
  // In one line of 10,000.
  let lines = marred.indices.filter { marred[$0] == 0x0a }
  for line in stride(from: 5000, to: lines.count, by: 10_000) where lines[line] > key.count {
    marred.replaceSubrange(lines[line] - key.count..<lines[line], with: key)
  }
  func measure(_ name: String, _ log: [UInt8]) {
    Benchmark(name) { benchmark in
      let redactor = Redactor.standard
      for _ in benchmark.scaledIterations {
        blackHole(redactor.redactions(in: log, format: .lines).count)
      }
    }
  }
  measure("Redactor: 8 MiB without a secret", clean)
  measure("Redactor: 8 MiB, a secret in 10,000 lines", marred)
}
