import Foundation

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ tryInput: @convention(c) (UnsafeRawPointer?, Int) -> CInt
) -> CInt

// libFuzzer has a `main`, but the package manager starts an executable at its own.
var count = CommandLine.argc
var arguments = CommandLine.unsafeArgv
exit(runDriver(&count, &arguments, fuzzOneInput))
