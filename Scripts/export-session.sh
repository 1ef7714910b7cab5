#!/usr/bin/env bash
# Exports the log of one session:
# Scripts/export-session.sh [-o FILE] [--device ID] [--generation N] SESSION [STORE]
#
# Needs bash, curl, jq, zstd and what every system has; store.sh, sessions.sh and deltas.sh lie beside
# it.
# SESSION is the id of a session, open or sealed, or the start of one; list-sessions.sh shows them.
# The log goes to standard output or to FILE, which appears whole or not at all. Every object is
# compared with its name, and a sealed session with its seal, whose objects alone are read. A session may be read while it grows.
# With --generation it is what the file held before it was rewritten.
# A log that was not sent, because the consent was 'metadata', is no log that is empty: exit code 77.
#
# STORE is s3://bucket/prefix, https://host/folder, http://localhost/folder or file:///folder; else
# $TIDEMARK_STORE. The login comes from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
# AWS_REGION and AWS_ENDPOINT_URL, or from TIDEMARK_WEBDAV_USER and TIDEMARK_WEBDAV_PASSWORD or
# TIDEMARK_WEBDAV_PASSWORD_FILE, or ~/.netrc.
#
# Exit codes: 0 ok, 64 usage, 65 integrity, 69 a tool is missing, 75 try later, 77 authentication
# or consent, 78 configuration.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
# shellcheck source=deltas.sh
. "$(dirname "${BASH_SOURCE[0]}")/deltas.sh"

device='' target=- session='' store='' wanted=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) help ;;
    -o)
      needs_value "$@"
      target=$2
      shift
      ;;
    --device)
      needs_value "$@"
      device=$2
      shift
      ;;
    --generation)
      needs_value "$@"
      wanted=$2
      shift
      ;;
    -*) fail 64 "unknown option; see --help" ;;
    *)
      [ -z "$store" ] || fail 64 "one session and one store at a time; see --help"
      if [ -z "$session" ]; then session=$1; else store=$1; fi
      ;;
  esac
  shift
done

# Lists the session's objects, once.
look() {
  session_rows "$device" "$session" >"$work/found"
  sort -u -k1,2 "$work/found" | cut -f 1,2 >"$work/candidates"
  case $(grep -c '' "$work/candidates") in
    1) read -r session device <"$work/candidates" ;;
    0) fail 64 "no session '$session' at $location. list-sessions.sh shows all." ;;
    *)
      {
        echo "$program: '$session' is the start of several ids; give more of it, or --device:"
        sed 's/^/  /' "$work/candidates"
      } >&2
      exit 64
      ;;
  esac
}

# Leaves in $work/found the segments that the seal in $work/object names, and no others: any writer
# to the store can add one that reaches further.
keep_named() { # KEY
  jq -r 'def names: if type == "array" and all(type == "string") then .[] else error end;
    (.basis // []) as $basis
    | (.objects | names | "objects \(.)"), ($basis | names | "basis \(.)")' \
    "$work/object" >"$work/lists" 2>/dev/null ||
    fail 65 "$1 seals the session, but does not name its objects."
  # The stream's are of the seal's generation, and what these copy from is of earlier ones.
  if grep -qvE "^(objects|basis) $session\.g[1-9][0-9]*\.[0-9]{12}-[0-9]{12}\.[0-9a-f]{16}\.[0-9]+\.(log|delta)\.zst$" \
    "$work/lists" || ! awk -v generation="$generation" '{ split($2, part, "."); own = substr(part[2], 2) + 0 }
      $1 == "basis" ? own >= generation + 0 : own != generation + 0 { exit failed = 1 }
      END { exit failed }' "$work/lists"; then
    fail 65 "$1 seals the session, but names other things than its objects."
  fi
  jq -e '.indexes == null or (.indexes | length) == (.objects + (.basis // []) | length)' \
    "$work/object" >/dev/null 2>&1 || fail 65 "$1 does not list one index for each object."
  jq -r '[(.objects + (.basis // [])), .indexes // []] | transpose[] | "\(.[0]) \(.[1])"' \
    "$work/object" >"$work/indexes" 2>/dev/null || fail 65 "$1 lists indexes that cannot be read."
  cut -d ' ' -f 2 "$work/lists" >"$work/named"
  awk -F '\t' 'FILENAME == ARGV[1] { named[$0]; next }
    { name = $11; sub(/.*\//, "", name) }
    $3 != "g" || name in named' "$work/named" "$work/found" >"$work/kept"
  mv "$work/kept" "$work/found"
}

# Reads the highest whole sidecar. That gives the $generation, and for a sealed session $length and
# $digest; an open one is as long as the segments reach. Where the log was not sent, nothing follows.
read_sidecar() {
  local status=active sealed hash stored key
  length='' digest='' generation=1
  rm -f "$work/indexes"
  # Of two with one number the one that seals counts, then the longer one, then the higher hash.
  awk -v OFS='\t' '$3 == "s" && $8 == $9 { print ($5 != "active"), $0 }' "$work/found" |
    sort -k5,5n -k1,1n -k7,7n -k8,8 | tail -n 1 | cut -f 2- >"$work/sidecar"
  read -r _ _ _ _ status sealed hash stored _ _ key _ generation <"$work/sidecar" ||
    status=active generation=1
  [ -s "$work/sidecar" ] || [[ $wanted =~ ^1?$ ]] ||
    fail 64 "$session has no generation $wanted; its newest is 1."
  # Of an open session without segments the sidecar tells why there are none.
  if [ "$status" = active ] && [[ -z $wanted || ! -s $work/sidecar ]] &&
    { [ ! -s "$work/sidecar" ] || awk '$3 == "g" { n = 1 } END { exit !n }' "$work/found"; }; then
    return 0
  fi
  store_get "$key" "$work/object" || return 1
  check "$work/object" "$stored" "$hash" "$key"
  [ "$(jq -r '.generation // 1' "$work/object" 2>/dev/null)" = "$generation" ] ||
    fail 65 "$key speaks of another generation than its name."
  [ "$(jq -r --arg session "$session" --arg device "$device" \
    '"\(.sessionId // $session) \(.deviceId // $device)"' "$work/object" 2>/dev/null)" \
    = "$session $device" ] || fail 65 "$key is the sidecar of another session or device."
  jq -e --argjson now "$generation" '[.former[]?.generation] | length <= 32 and . == unique
    and all(. > 0 and . < $now)' "$work/object" >/dev/null 2>&1 ||
    fail 65 "$key lists former streams that no session has."
  if [ -n "$wanted" ] && [ "$wanted" != "$generation" ]; then
    length=$(jq -r --argjson n "$wanted" '.former[]? | select(.generation == $n) | .length | numbers' \
      "$work/object" 2>/dev/null) || length=''
    [[ $length =~ ^[0-9]{1,12}$ ]] ||
      fail 64 "$session has no generation $wanted; its newest is $generation."
    [ "$status" = active ] || keep_named "$key"
    generation=$wanted
    return 0
  fi
  if [ "$(jq -r '.consent // ""' "$work/object" 2>/dev/null)" = metadata ]; then
    [ "$sealed" -gt 0 ] || fail 77 "$session: log not sent (consent: metadata)."
    echo "$program: $session: log sent only up to byte $sealed (consent: metadata)." >&2
    length=$sealed
    # A session that has ended names what was sent of it.
    if [ "$status" != active ] &&
      [ "$(jq -r '.objects // .digest | type' "$work/object" 2>/dev/null)" != null ]; then
      keep_named "$key"
    fi
    return 0
  fi
  [ "$status" != active ] || return 0
  digest=$(jq -r '.digest | strings' "$work/object" 2>/dev/null) || digest=''
  [[ $digest =~ ^[0-9a-f]{64}$ ]] || fail 65 "$key seals the session, but has no digest."
  keep_named "$key"
  length=$sealed
}

# Chooses the segments to read from $at on: of those that hold an offset, the one with the greatest
# end. Writes their rows, and last a line that begins with "!" where bytes are missing.
choose() {
  sort -k5,5n -k6,6nr "$work/found" | awk -v at="$at" -v length_="$length" \
    -v generation="$generation" '
    $3 != "g" || $4 != generation { next }
    $8 != $9 { cut = cut " " $11 " has " $9 " bytes."; next }
    {
      n++; start[n] = $5 + 0; end[n] = $6 + 0; row[n] = $0
    }
    END {
      while ((length_ == "" || at < length_ + 0)) {
        for (; next_ < n && start[next_ + 1] <= at; next_++)
          if (end[next_ + 1] > end[best]) best = next_ + 1
        if (end[best] <= at) break
        print row[best]
        at = end[best]
      }
      upper = next_ < n ? start[next_ + 1] : length_
      if (length_ != "" && upper > length_ + 0) upper = length_
      if (upper != "" && at < upper + 0)
        wrong = sprintf("bytes %.0f to %.0f are not there.%s", at, upper, cut)
      if (wrong != "") print "! " wrong
    }'
}

# Appends the chosen segments to $part; false when one has been replaced since the listing.
append_segments() {
  local start end hash stored key kind wrong
  choose >"$work/chosen" || fail 75 "no room for the list of segments in $work."
  wrong=$(sed -n 's/^! //p' "$work/chosen")
  [ -z "$wrong" ] || fail 65 "$session: $wrong"
  while read -r _ _ _ _ start end hash stored _ _ key _ kind; do
    store_get "$key" "$work/object" || return 1
    [ "$(size "$work/object")" = "$stored" ] ||
      fail 65 "$key came with $(size "$work/object") bytes, not $stored as its name says."
    check_index "$work/object" "$key"
    decode "$work/object" "$kind" $((end - start)) "$work/content" || {
      [ "$kind" = log ] || return 1
      fail 65 "$key cannot be decompressed, or holds more bytes than its name says."
    }
    check "$work/content" $((end - start)) "$hash" "$key"
    # A segment that was listed later may begin before what is already here, or end after the seal.
    [ -z "$length" ] || [ "$end" -le "$length" ] || end=$length
    if [ "$start" -lt "$at" ]; then
      head -c $((at - start)) "$work/content" >"$work/join"
      tail -c $((at - start)) "$part" | cmp -s - "$work/join" ||
        fail 65 "$key overlaps what stands before it, and differs from that."
    fi
    head -c $((end - start)) "$work/content" | tail -c +$((at - start + 1)) >>"$part" ||
      fail 75 "$part cannot be written. Make room."
    at=$end
  done <"$work/chosen"
}

[[ -z $wanted || $wanted =~ ^[1-9][0-9]{0,5}$ ]] || fail 64 "a generation is a number from 1."
[ -n "$session" ] || fail 64 "which session? See --help."
[[ $session =~ ^[0-9a-z-]{1,25}$ ]] ||
  fail 64 "that is no session id, nor the start of one (20260122t143005z-k3f9a7c2)."
if [ -e "$target" ] && [ "$target" != - ] && [ ! -f "$target" ]; then
  fail 64 "the target is not a plain file."
fi
require jq zstd
open_store "$store"
look

if [ "$target" = - ]; then part=$work/log; else
  part=$(mktemp "$(dirname -- "$target")/.tidemark-export.XXXXXX") ||
    fail 78 "no file can be made beside $target. Check the folder and its rights."
fi
: >"$part"
at=0
if ! read_sidecar || ! append_segments; then
  look
  if ! read_sidecar || ! append_segments; then
    fail 75 "$session: its objects are being replaced. Try again later."
  fi
fi
if [ -n "$digest" ]; then
  [ "$(size "$part") $(sha256 <"$part")" = "$length $digest" ] ||
    fail 65 "$session: the objects are whole, but their content is not what the seal says."
fi

if [ "$target" != - ]; then
  mv -f -- "$part" "$target"
elif [ -t 1 ]; then
  # Control bytes of a hostile log are made visible.
  cat -v "$part"
else
  cat "$part"
fi
