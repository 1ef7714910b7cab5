import TestSupport

/// A stream described by the input reads back from a delta against another.
func fuzzDelta(_ input: [UInt8]) {
  var rest = input[...]
  let maximumInstructions = 1 + Int(rest.popFirst() ?? 0)
  let basis = stretches(&rest, upTo: input.count / 2)
  let stream = stretches(&rest, upTo: 0)
  guard !basis.isEmpty else { return }
  do {
    var generations = try Generations(maximumInstructions: maximumInstructions)
    try generations.grow(basis[...], of: basis)
    try generations.replace(with: stream, in: [stream])
    let (first, second) = (try generations.read(1), try generations.read(2))
    precondition(first == basis)
    precondition(second == stream)
  } catch {
    fatalError("what was just written: \(error)")
  }
}

/// Expands each byte of the input to a longer run, so that a short input makes many blocks.
private func stretches(_ rest: inout ArraySlice<UInt8>, upTo left: Int) -> [UInt8] {
  var out: [UInt8] = []
  while rest.count > left, out.count < 200_000, let byte = rest.popFirst() {
    switch byte & 3 {
    case 0: out += Array(repeating: byte, count: 40 * Int(byte))
    case 1:
      var generator = SeededGenerator(case: Int(byte))
      out += EditScript.random(64 * Int(byte), &generator)
    default: out += rest.prefix(Int(byte))
    }
  }
  return out
}
