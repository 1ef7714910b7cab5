import SessionLog

/// JSON that parses as a sidecar is written and read as the same.
func fuzzSidecars(_ input: [UInt8]) {
  guard let sidecar = try? Sidecar(json: input) else { return }
  do {
    let again = try Sidecar(json: sidecar.json())
    precondition(again == sidecar)
    _ = try Sidecar(json: sidecar.metadataForm.json())
  } catch {
    fatalError("a sidecar that was just written: \(error)")
  }
}
