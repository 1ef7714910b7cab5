import Foundation
import TestServers
import TestSupport

extension Program {
  /// Runs a bash script as root in a separate mount namespace, with an empty file system at `/mnt`.
  ///
  /// `$T` is the program, in a place where every user may run it; `as USER COMMAND…` runs a command
  /// as another user. `daemon` and `bin` exist on every system.
  func shellInMountNamespace(_ script: String) async throws -> Command.Result {
    let preamble = """
      set -eu
      umask 077
      mount -t tmpfs -o mode=755 tidemark-test /mnt
      # The build and its libraries may lie where only their owner can go.
      cp "$T" /mnt/tidemark
      mkdir /mnt/lib
      cp $(ldd "$T" | awk '/swift/ && $3 ~ /^\\// { print $3 }') /mnt/lib/
      chmod -R a+rX /mnt
      export T=/mnt/tidemark LD_LIBRARY_PATH=/mnt/lib
      unset TIDEMARK_HOME
      as() { user=$1; shift; setpriv --reuid=$user --regid=$user --init-groups "$@"; }
      """
    let file = folder.path + "/script.sh"
    try (preamble + "\n" + script).write(toFile: file, atomically: true, encoding: .utf8)
    // A user namespace provides root's rights to other users, if the system allows it.
    let namespace =
      getuid() == 0 ? "unshare --mount" : "unshare --user --map-root-user --map-auto --mount"
    return try await shell("exec \(namespace) bash '\(file)'")
  }
}
