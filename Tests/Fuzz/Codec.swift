import Delta

/// Bytes that claim to be a segment decode to the length they claim, or throw.
func fuzzCodec(_ input: [UInt8]) {
  // With a valid index after them, any bytes reach zstd.
  let half = input.count / 2
  let frames = [
    FrameSummary(
      storedLength: max(1, half), rawLength: max(1, input.count - half), lines: 0, times: nil,
      levels: Array(repeating: 0, count: FrameSummary.levelCount)),
    FrameSummary(
      storedLength: max(1, input.count - half), rawLength: 100, lines: 0, times: nil,
      levels: Array(repeating: 0, count: FrameSummary.levelCount)),
  ]
  let index = SegmentIndex(frames: frames, link: .start)
  for segment in [input, input + index.encoded()] {
    guard let decoder = try? SegmentDecoder(),
      let length = try? SegmentIndex.decode(endOf: segment[...]).index.rawLength
    else { continue }
    var read = 0
    if (try? decoder.decode(segment, rawLength: length) { read += $0.count }) != nil {
      precondition(read == length)
    }
  }
  roundTrip(input)
}

private func roundTrip(_ input: [UInt8]) {
  guard !input.isEmpty, let encoder = try? SegmentEncoder(), let decoder = try? SegmentDecoder()
  else { return }
  var read: [UInt8] = []
  do {
    try input.withUnsafeBytes {
      try encoder.append(
        $0, lines: 0, times: nil, levels: Array(repeating: 0, count: FrameSummary.levelCount))
    }
    let segment = encoder.finish(link: Link(before: input[...]))
    try decoder.decode(segment, rawLength: input.count) { read += $0 }
  } catch {
    fatalError("a segment that was just written: \(error)")
  }
  precondition(read == input)
}
