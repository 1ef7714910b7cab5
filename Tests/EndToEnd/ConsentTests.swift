import Foundation
import TestServers
import TestSupport
import Testing

/// `consent: metadata`: the store shows that a session existed, and no text of its log.
@Suite(.tags(.large)) struct ConsentTests {
  @Test(arguments: Endpoint.Kind.allCases)
  func `with metadata consent, a session is uploaded without its log`(
    kind: Endpoint.Kind
  ) async throws {
    let endpoint = try Endpoint(kind)
    let program = try Program(scriptsFor: endpoint)
    try await program.run("init", endpoint.url)
    let script = """
      set -u
      sed -i 's/^consent: .*/consent: metadata/' home/tidemark.yaml
      "$T" run --app withheld -- sh -c 'echo only-here-4711; exit 3' >/dev/null
      "$T" upload --wait 600s
      id=$("$T" list --json | jq -r .sessionId)
      "$T" upload --json | jq -c '[.objects, .status]'
      "$T" status --json | jq -c '[.consent, .openSessions, .unsentBytes, .stale]'
      "$T" list --remote | tail -n 1
      "$T" list --remote --json | jq -c '[.status, .cause, .consent, .uploadedBytes, .fileSizeBytes > 0]'
      "$T" show "$id" | grep -c only-here-4711
      code() { "$@" >out 2>told; echo "$? $(grep -c 'log not sent (consent: metadata)' told)"; }
      code "$T" show --remote "$id"
      code "$T" export --remote "$id" -o text
      code "$T" export --remote --app withheld --format tar -o archive.tar
      code "$T" grep --remote only-here "$id"
      code "$T" tail --remote "$id"
      code "$T" redact --apply-remote
      code "$S/export-session.sh" "$id"
      "$T" verify | cut -c 28-
      "$T" pull mirror 2>&1 | sed 's/.*: log/log/'
      find mirror -type f | sed 's/.*[.]//'
      """
    let told = try await program.script(script)
    let lines = told.text.split(separator: "\n").map(String.init)
    let listed = lines.first { $0.contains("TERMINATED exit 3") } ?? ""
    #expect(listed.hasSuffix("log not sent (consent: metadata)"), "\(listed)")
    #expect(!listed.contains("%"))
    #expect(
      lines.filter { $0 != listed } == [
        "[0,0]", #"["metadata",0,0,false]"#, #"["TERMINATED","exit 3","metadata",0,true]"#, "1",
        "77 1", "77 1", "77 1", "77 1", "77 1", "77 0", "77 1",
        "ok  log not sent (consent: metadata)", "log not sent (consent: metadata)", "json",
      ], "\(told.text) \(told.errors)")
    #expect(try endpoint.segments().isEmpty)
    #expect(try Self.stored(endpoint, "only-here-4711").isEmpty)

    let later = try await program.script(
      """
      sed -i 's/^consent: .*/consent: logs/' home/tidemark.yaml
      "$T" run --app sent -- echo allowed >/dev/null
      "$T" upload --wait 600s
      "$T" verify | cut -c 28- | sort
      "$T" show --plain --remote "$("$T" list --json | jq -r 'select(.appName == "sent").sessionId')"
      sed -i 's/^consent: .*/consent: everything/' home/tidemark.yaml
      "$T" list
      """)
    #expect(later.status == 78, "\(later.errors)")
    #expect(later.text.contains("ok  log not sent (consent: metadata)\n"), "\(later.text)")
    #expect(later.text.hasSuffix("\nallowed\n"), "\(later.text)")
    #expect(try endpoint.segments().count == 1)
  }

  /// Files of an endpoint that contain a text.
  private static func stored(_ endpoint: Endpoint, _ text: String) throws -> [String] {
    let found = FileManager.default.enumerator(atPath: endpoint.files)
    return (found?.compactMap { $0 as? String } ?? []).filter {
      FileManager.default.contents(atPath: "\(endpoint.files)/\($0)")?
        .range(of: Data(text.utf8)) != nil
    }
  }
}
