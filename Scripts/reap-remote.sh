#!/usr/bin/env bash
# Deletes a store's old sessions: Scripts/reap-remote.sh [OPTION...] [STORE]
#
#   --older-than AGE  delete what is older; 30d unless given (1s, 10m, 12h, 30d, 4w)
#   --device ID       only this device's sessions
#   --delete          carry out the plan, one line an object; without it the plan is only shown
#   --force           carry out also a plan that is refused for its size
#
# Needs bash, curl, jq and what every system has; store.sh and sessions.sh lie beside it. A session
# is old when its newest object is, by the server's clock, and so is the time in its sidecar; a time
# in the future does not count. What has no sidecar stays for 7 days at least, and what 'tidemark
# keep' keeps until the hold ends. Whether a session is still
# open is not looked at: one that has been silent for so long goes as well. Sidecars are deleted
# before segments. A plan for more than half of at least 20 sessions is refused while our clock and
# the server's differ by over 5 minutes, or the age is under a day.
#
# STORE is s3://bucket/prefix, https://host/folder, http://localhost/folder or file:///folder; else
# $TIDEMARK_STORE. The login comes from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
# AWS_REGION and AWS_ENDPOINT_URL, or from TIDEMARK_WEBDAV_USER and TIDEMARK_WEBDAV_PASSWORD or
# TIDEMARK_WEBDAV_PASSWORD_FILE, or ~/.netrc.
#
# Exit codes: 0 ok, 1 something could not be deleted, 64 usage or refused, 65 integrity, 69 a tool
# is missing, 75 try later, 77 authentication, 78 configuration.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
# shellcheck source=sessions.sh
. "$(dirname "${BASH_SOURCE[0]}")/sessions.sh"

device='' store='' age=30d delete=false force=false
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) help ;;
    --delete) delete=true ;;
    --force) force=true ;;
    --older-than)
      needs_value "$@"
      age=$2
      shift
      ;;
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

seconds() { # AGE
  local unit=1
  [[ $1 =~ ^[0-9]{1,9}[smhdw]?$ ]] || return 1
  case $1 in *m) unit=60 ;; *h) unit=3600 ;; *d) unit=86400 ;; *w) unit=604800 ;; esac
  printf '%s\n' $((10#${1%[smhdw]} * unit))
}

age_text() { # SECONDS
  local age=$1
  case $((${age#-} >= 86400 ? 3 : ${age#-} >= 3600 ? 2 : ${age#-} >= 60)) in
    3) echo "$((age / 86400)) d" ;;
    2) echo "$((age / 3600)) h" ;;
    1) echo "$((age / 60)) m" ;;
    *) echo "$age s" ;;
  esac
}

# One line a session: id, device, newest object ("-" when unknown), the server's time, bytes, size,
# hash and key of its highest whole sidecar ("-" without one), and a time on the last day of its hold
# (0 without one), which is no later than what 'tidemark keep' allowed when it was written.
sessions() {
  sort -k1,2 "$work/rows" | awk -v OFS='\t' -v longest="$longest_hold" "$dates$highest_sidecar"'
    function last_day(date, written, end) {
      end = epoch(substr(date, 1, 4) "-" substr(date, 5, 2) "-" substr(date, 7) "T00:00:00Z") + 0
      return written != "-" && end > written + longest ? written + longest : end
    }
    function show() {
      if (id != "")
        print id, device, newest, now, bytes, stored, hash, key, sprintf("%.0f", held)
    }
    $1 != id || $2 != device {
      show()
      id = $1; device = $2; now = $12; newest = stored = hash = key = "-"; bytes = held = 0
      forget_sidecar()
    }
    { bytes += $9 }
    $3 == "k" && last_day($5, $10) > held { held = last_day($5, $10) }
    $10 != "-" && (newest == "-" || $10 + 0 > newest + 0) { newest = $10 }
    $3 == "s" && $8 == $9 && outranks($4, $5, $6, $7) { stored = $8; hash = $7; key = $11 }
    END { show() }'
}

# Reads into $said when the sidecar says that the session last lived; false when it cannot be read.
read_sidecar_time() { # SIZE HASH KEY
  store_get "$3" "$work/sidecar" || return 1
  [ "$(size "$work/sidecar")" = "$1" ] || return 1
  [ "$(sha256 <"$work/sidecar" | cut -c 1-16)" = "$2" ] || return 1
  said=$(jq -r '.endedAt // .lastUpdatedAt | strings' "$work/sidecar" 2>/dev/null |
    awk "$dates"' { print epoch($0) }') || return 1
  [[ $said =~ ^-?[0-9]+$ ]]
}

# Decides about one session: whether it $goes, and the $reason.
decide() { # NEWEST SERVER-TIME SIZE HASH KEY HELD-UNTIL
  local age said
  goes=false
  if [ "$6" != 0 ] && [ $(($6 / 86400)) -ge $(($2 / 86400)) ]; then
    reason="on hold until $(jq -nr "$6 | strftime(\"%Y%m%d\")")"
    return
  fi
  if [ "$1" = - ]; then
    reason='the server does not tell when it was written'
    return
  fi
  age=$(($2 - $1))
  reason="newest object is $(age_text "$age") old"
  if [ "$5" = - ]; then
    [ "$age" -lt "$limit" ] || [ "$age" -le $leftover_age ] || goes=true
    reason="no sidecar, and $reason"
  elif [ "$age" -ge "$limit" ]; then
    if ! read_sidecar_time "$3" "$4" "$5"; then
      reason='its sidecar cannot be read'
      return
    fi
    said=$((now - said))
    if [ $said -ge 0 ] && [ $said -lt "$limit" ]; then
      reason="its sidecar says that it lived $(age_text $said) ago"
    else
      goes=true
    fi
  fi
}

# Writes the sessions to delete to $work/plan and says why each one goes or stays; $seen, $planned
# and $difference, between the two clocks, are for the guard.
plan() {
  local id device newest server_now bytes stored hash key held verb verb_of_plan='would delete'
  if $delete; then verb_of_plan=delete; fi
  seen=0 planned=0 difference=0
  : >"$work/plan"
  while read -r id device newest server_now bytes stored hash key held; do
    decide "$newest" "$server_now" "$stored" "$hash" "$key" "$held"
    verb=keep
    if $goes; then
      verb=$verb_of_plan
      printf '%s\t%s\n' "$id" "$device" >>"$work/plan"
      planned=$((planned + 1))
    fi
    seen=$((seen + 1))
    printf '%s %s of %s (%s bytes): %s\n' "$verb" "$id" "$device" "$bytes" "$reason"
    server_now=$((server_now - now))
    [ "${server_now#-}" -le "$difference" ] || difference=${server_now#-}
  done <"$work/sessions"
}

# Why a plan is too bold to be carried out without force.
refuse_boldness() {
  local cause
  if [ $seen -lt 20 ] || [ $((planned * 2)) -le $seen ] || $force; then return 0; fi
  if [ "$difference" -gt 300 ]; then
    cause="our clock and the server's differ by $difference s"
  elif [ "$limit" -lt 86400 ]; then
    cause='the age asked for is under a day'
  else
    return 0
  fi
  cause="$planned of $seen sessions would go: $cause. Look at the plan, then use --force."
  if $delete; then fail 64 "refused: $cause"; fi
  printf '%s: --delete would be refused: %s\n' "$program" "$cause" >&2
}

# Deletes what is planned, each session's sidecars before its segments; a sidecar that stays keeps
# the segments that it speaks of.
carry_out() {
  local id device key kind failed=0
  while read -r id device; do
    awk -v id="$id" -v device="$device" '$1 == id && $2 == device { print $3, $11 }' \
      "$work/rows" | sort -k1,1r -k2,2 >"$work/keys"
    while read -r kind key; do
      if store_delete "$key"; then
        echo "deleted $key"
      else
        echo "failed $key: $refusal"
        failed=$((failed + 1))
        [ "$kind" = g ] || break
      fi
    done <"$work/keys"
  done <"$work/plan"
  [ $failed = 0 ] || fail 1 "$failed objects could not be deleted. Look at the rights on the store."
}

leftover_age=$((7 * 86400))
longest_hold=$((3650 * 86400))
if ! limit=$(seconds "$age") || [ "$limit" -lt 1 ]; then
  fail 64 "--older-than takes an age such as 1s, 12h or 30d."
fi
require jq
open_store "$store"
now=$(date +%s)
holds=true
session_rows "$device" >"$work/rows"
sessions >"$work/sessions"
plan
refuse_boldness
if $delete; then carry_out; fi
