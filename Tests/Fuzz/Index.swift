import Crypto
import Delta

/// Bytes that claim to be an index or a signature equal what would be written again, or throw.
func fuzzIndex(_ input: [UInt8]) {
  for candidate in [input, sealed(input)] {
    guard let index = try? SegmentIndex.decode(endOf: candidate[...]).index else { continue }
    guard let again = try? SegmentIndex.decode(endOf: index.encoded()[...]).index else {
      fatalError("an index that was just written cannot be read")
    }
    precondition(again == index)
  }
  let file = SignatureFile(input)
  precondition(file.length <= input.count)
  precondition(SignatureFile(Array(input.prefix(file.length))).signature == file.signature)
}

/// The input as an index's sections, with a valid header and footer.
private func sealed(_ sections: [UInt8]) -> [UInt8] {
  var out: [UInt8] = [0x5e, 0x2a, 0x4d, 0x18]
  append(sections.count + 16, to: &out)
  out += sections
  append(sections.count + 24, to: &out)
  out += SHA256.hash(data: sections).prefix(4)
  return out + [1, 0, 0, 0] + Array("TDMK".utf8)
}

private func append(_ value: Int, to out: inout [UInt8]) {
  for shift in [0, 8, 16, 24] { out.append(UInt8(truncatingIfNeeded: value >> shift)) }
}
