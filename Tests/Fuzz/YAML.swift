import Foundation
import Platform

@testable import tidemark

/// Any text as a configuration is read, or is an error, which does not show a password.
func fuzzYAML(_ input: [UInt8]) {
  let text = Array("proxy: \"http://user:\(password)@proxy.example\"\n".utf8) + input
  do {
    try AtomicFile.write(text, to: path, isDurable: false)
  } catch {
    fatalError("\(path): \(error)")
  }
  check { _ = try Settings(path: path) }
  check { _ = try Settings(path: path) { expectNoPassword("\($0)") } }
  check { _ = try AlertSettings(path: path) }
}

private let password = "Tr0ub4dor"
private let path = NSTemporaryDirectory() + "tidemark-fuzz-" + UUID().uuidString + ".yaml"

private func check(_ body: () throws -> Void) {
  do {
    try body()
  } catch {
    expectNoPassword("\(error)")
    guard error is Failure else { fatalError("not an error for a person: \(error)") }
  }
}

private func expectNoPassword(_ text: String) {
  if text.contains(password) { fatalError("a password in an error: \(text)") }
}
