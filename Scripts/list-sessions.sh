#!/usr/bin/env bash
# Lists a store's sessions, newest first: Scripts/list-sessions.sh [--device ID] [--json] [STORE]
#
# Needs bash, curl and what every system has; store.sh and sessions.sh lie beside it. It reads names
# alone and downloads nothing. A line is id, device, status, start, length of the log, bytes of it
# that are there without a gap. The status is "-" where there is no sidecar: the session is on its
# way out. Of a session whose log was not sent (consent: metadata) both lengths are 0: how long it was
# stands in its sidecar. With --json a line is an object with sessionId, deviceId, status, startedAt,
# fileSizeBytes, uploadedBytes and storedBytes.
#
# STORE is s3://bucket/prefix, https://host/folder, http://localhost/folder or file:///folder; else
# $TIDEMARK_STORE. The login comes from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
# AWS_REGION and AWS_ENDPOINT_URL, or from TIDEMARK_WEBDAV_USER and TIDEMARK_WEBDAV_PASSWORD or
# TIDEMARK_WEBDAV_PASSWORD_FILE, or ~/.netrc.
#
# Exit codes: 0 ok, 64 usage, 65 integrity, 69 a tool is missing, 75 try later, 77 authentication,
# 78 configuration.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
# shellcheck source=sessions.sh
. "$(dirname "${BASH_SOURCE[0]}")/sessions.sh"

device='' json=0 store=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) help ;;
    --json) json=1 ;;
    --device)
      needs_value "$@"
      device=$2
      shift
      ;;
    -*) fail 64 "unknown option; see --help" ;;
    *)
      [ -z "$store" ] || fail 64 "one store at a time; see --help"
      store=$1
      ;;
  esac
  shift
done

open_store "$store"
session_rows "$device" >"$work/rows"
# Of a session the segments come first, by start, then its sidecars.
sort -k1,1r -k2,2 -k3,3 -k5,5n "$work/rows" | awk -v json="$json" "$highest_sidecar"'
  function show(start) {
    if (id == "") return
    start = substr(id, 1, 4) "-" substr(id, 5, 2) "-" substr(id, 7, 2) "T" substr(id, 10, 2) ":" \
      substr(id, 12, 2) ":" substr(id, 14, 2) "Z"
    there = mark[generation] + 0
    if (there > length_) length_ = there
    if (json) {
      printf "{\"sessionId\":\"%s\",\"deviceId\":\"%s\",\"status\":%s,", id, device, \
        (status == "-" ? "null" : "\"" toupper(status) "\"")
      printf "\"startedAt\":\"%s\",\"fileSizeBytes\":%.0f,\"uploadedBytes\":%.0f,", start, \
        length_, there
      printf "\"storedBytes\":%.0f}\n", stored
    } else printf "%s  %s  %-10s  %s  %12.0f  %12.0f\n", id, device, status, start, length_, there
  }
  $1 != id || $2 != device {
    show()
    id = $1; device = $2; status = "-"
    length_ = stored = 0
    generation = 1
    forget_sidecar()
    split("", mark)
  }
  { stored += $9 }
  # What has another size than its name says does not exist.
  $8 != $9 { next }
  $3 == "s" && outranks($4, $5, $6, $7) { status = $5; length_ = $6 + 0; generation = $13 }
  $3 == "g" && $5 + 0 <= mark[$4] + 0 && $6 + 0 > mark[$4] + 0 { mark[$4] = $6 + 0 }
  END { show() }'
