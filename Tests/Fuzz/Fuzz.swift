import Foundation

/// What libFuzzer calls with each input; `TIDEMARK_FUZZ` says what is to be tried with it.
///
/// A target traps where a property does not hold; errors that are thrown are right answers.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
  fuzzTarget(Array(UnsafeRawBufferPointer(start: start, count: count)))
  return 0
}

private let fuzzTarget: @Sendable ([UInt8]) -> Void =
  switch ProcessInfo.processInfo.environment["TIDEMARK_FUZZ"] {
  case "codec": fuzzCodec
  case "delta": fuzzDelta
  case "index": fuzzIndex
  case "markup": fuzzMarkup
  case "names": fuzzNames
  case "records": fuzzRecords
  case "redaction": fuzzRedaction
  case "rows": fuzzRows
  case "sidecars": fuzzSidecars
  default: fatalError("TIDEMARK_FUZZ names no target; see Scripts/fuzz --help")
  }
