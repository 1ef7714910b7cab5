import TidemarkUpload

// The code of TidemarkUpload's tutorial, to ensure that it compiles.

struct KioskSettings: Sendable {
  var consent = Consent.none
}

func startUploads(_ settings: KioskSettings) throws {
  let session = Tidemark.start("Kiosk")
  let uploads = try LogUploads(of: session, to: "https://logs.example/kiosk") { settings.consent }
  uploads.start()
}

func goOn(_ uploads: LogUploads) {
  uploads.resume()
}

func end(_ uploads: LogUploads) async {
  await uploads.finish()
}

func sendOne(_ uploads: LogUploads, _ id: SessionID) async throws {
  let outcome = try await uploads.uploadOnce(id)
  print(outcome.problems.isEmpty ? "sent" : outcome.problems.joined(separator: "\n"))
}
