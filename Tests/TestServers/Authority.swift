import Foundation
import Platform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A certificate authority of one test run, with its certificates: PEM files in a folder.
///
/// `ca.pem`, and certificate and key each of `good` (this machine), `expired`, `other` (another
/// host) and `client`, whose key is also in `client-locked.key` with a password.
package final class Authority: Sendable {
  /// The pin of the good server's public key, in libcurl's format.
  package let pin: String
  private let folder: TemporaryDirectory

  /// Makes keys and certificates that are valid for two days.
  ///
  /// Throws `ServerFailure` if `openssl` fails.
  package init() throws {
    folder = try TemporaryDirectory()
    let script = """
      set -e
      cd "$1"
      exec </dev/null >output 2>&1
      key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"; }
      issue() {
        key "$1"
        openssl req -new -key "$1.key" -subj "/CN=$1" -out "$1.csr"
        printf 'subjectAltName=%s\\n' "$2" >"$1.ext"
        openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days "$3" \
          -extfile "$1.ext" -out "$1.pem"
      }
      key ca
      openssl req -x509 -new -key ca.key -subj "/CN=Tide CA" -days 2 -out ca.pem
      issue good "IP:127.0.0.1,DNS:localhost" 2
      issue expired "IP:127.0.0.1" -1
      issue other "DNS:other.invalid" 2
      issue client "DNS:client" 2
      openssl pkey -in client.key -aes256 -passout pass:x -out client-locked.key
      openssl pkey -in good.key -pubout -outform DER | openssl dgst -sha256 -binary | base64 >pin
      """
    let process = ChildProcess(
      ["/bin/sh", "-c", script, "openssl", folder.path],
      environment: ProcessInfo.processInfo.environment
    ).start()
    var status: CInt = -1
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    guard status == 0,
      let text = try? String(contentsOfFile: folder.path + "/pin", encoding: .utf8)
    else {
      let said = (try? String(contentsOfFile: folder.path + "/output", encoding: .utf8)) ?? ""
      throw ServerFailure(
        description: "openssl makes no certificates: \(said). Install openssl again")
    }
    pin = "sha256//" + text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The path of one of its files.
  package func path(_ name: String) -> String { "\(folder.path)/\(name)" }
}
