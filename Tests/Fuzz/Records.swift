import LogRecords
import Platform

/// Any bytes have records: fields of a line are within it, and filtering loses nothing of a log,
/// however it is split.
func fuzzRecords(_ input: [UInt8]) {
  let now = Timestamp(milliseconds: 1_769_092_205_123)
  for format in [LogFormat.lines, .asIs] {
    var reader = RecordReader(format, reference: now)
    for line in input.split(separator: 0x0a, omittingEmptySubsequences: false) {
      let line = Array(line)
      line.withUnsafeBytes { bytes in
        guard let head = reader.read(bytes) else { return }
        precondition(head.message.upperBound <= bytes.count)
        precondition(head.category.upperBound <= bytes.count)
        precondition(head.scenario.upperBound <= bytes.count)
      }
    }
    var statistics = LogStatistics(RecordReader(format, reference: now))
    input.withUnsafeBytes { statistics.add($0) }
    statistics.finish()
    precondition(statistics.lines == input.count { $0 == 0x0a })
    for pieces in [1, 3, 7] {
      var filter = RecordFilter()
      filter.reader = RecordReader(format, reference: now)
      var passed: [UInt8] = []
      let size = max(1, input.count / pieces)
      for start in stride(from: 0, to: input.count, by: size) {
        input[start..<min(input.count, start + size)].withUnsafeBytes { bytes in
          filter.add(bytes) { passed += $0.bytes }
        }
      }
      filter.finish { passed += $0.bytes }
      precondition(passed == input)
    }
  }
}
