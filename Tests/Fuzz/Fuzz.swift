import Foundation

/// The function that libFuzzer calls with each input; `TIDEMARK_FUZZ` names the target.
///
/// A target traps if a property does not hold; thrown errors are correct results.
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
  case "yaml": fuzzYAML
  default: fatalError("TIDEMARK_FUZZ names no target; see Scripts/fuzz --help")
  }
