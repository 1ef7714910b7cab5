import LogRecords
import Redaction

/// Checks that masking keeps the text's length and newlines, and that masking again reveals
/// nothing.
func fuzzRedaction(_ input: [UInt8]) {
  for format in [LogFormat.asIs, .lines] {
    let once = Redactor.standard.redacted(input, format: format)
    precondition(once.count == input.count)
    for index in input.indices where input[index] == 0x0a || once[index] == 0x0a {
      precondition(once[index] == input[index])
    }
    let twice = Redactor.standard.redacted(once, format: format)
    for index in input.indices where once[index] != input[index] {
      precondition(twice[index] == once[index])
    }
  }
}
