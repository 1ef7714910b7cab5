# shellcheck shell=bash
# The sessions of a store, read off the names of their objects: what the scripts beside this file
# share. It is sourced, not run. The format is in Sources/Replica/Replica.docc/Format.md.
# shellcheck source-path=SCRIPTDIR
# shellcheck source=store.sh
. "$(dirname "${BASH_SOURCE[0]}")/store.sh"

# For awk, about the highest sidecar of a session so far: forgetting it, and whether another one outranks
# it, which then takes its place. Of two with one number the one that seals counts, then the longer one,
# then the higher hash.
# shellcheck disable=SC2034 # Used by the scripts that source this file.
highest_sidecar='
  function forget_sidecar() { number = seals = sidecar_length = 0; sidecar_hash = "" }
  function outranks(n, status, reach, hash, is_higher) {
    if (n + 0 != number) is_higher = n + 0 > number
    else if ((status != "active") != seals) is_higher = status != "active"
    else if (reach + 0 != sidecar_length) is_higher = reach + 0 > sidecar_length
    else is_higher = hash "" > sidecar_hash ""
    if (!is_higher) return 0
    number = n + 0; seals = status != "active"; sidecar_length = reach + 0; sidecar_hash = hash ""
    return 1
  }'

# The ids of the devices that have sent something, or the one that was asked for.
devices() { # [DEVICE]
  if [ -n "$1" ]; then
    [[ $1 =~ ^[a-z0-9]{1,64}$ ]] || fail 64 "--device takes an id of the characters a-z 0-9."
    printf '%s\n' "$1"
    return
  fi
  store_list devices/ >"$work/devices"
  if [ ! -s "$work/devices" ] && ! $has_marker; then
    fail 78 "there is nothing of Tidemark's at $location. Correct the store's URL."
  fi
  awk -F '\t' '$1 == "d" && $2 ~ /^[a-z0-9]+$/ && length($2) <= 64 { print $2 }' "$work/devices"
}

# One line an object, of the sessions whose id begins with START:
#
#   1 session  2 device  3 "g" for a segment, "s" for a sidecar  4 generation, number
#   5 start, status  6 end, length  7 hash16  8 size by its name  9 size found
#   10 time of writing  11 key  12 the server's time  13 "log" or "delta", generation
#
# With $holds also "k" for a hold, whose last day by its name, 20270220, is 5.
session_rows() { # DEVICE [START]
  local device day wanted=${2:-}
  wanted=${wanted:0:8}
  # The day is in the id.
  if [ ${#wanted} -gt 6 ]; then wanted=${wanted:0:6}-${wanted:6}; fi
  if [ ${#wanted} -gt 4 ]; then wanted=${wanted:0:4}-${wanted:4}; fi
  devices "$1" >"$work/ids"
  while read -r device; do
    store_list "devices/$device/$wanted" >"$work/days"
    awk -F '\t' '$1 == "d" { print $2 }' "$work/days" >"$work/folders"
    while read -r day; do
      [[ $day =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] || continue
      store_list "devices/$device/$day/${2:-}" >"$work/names"
      rows_of_names "$device" "$day" <"$work/names"
    done <"$work/folders"
  done <"$work/ids"
}

rows_of_names() { # DEVICE DAY
  awk -F '\t' -v OFS='\t' -v device="$1" -v day="$2" -v holds="${holds:-false}" '
    function digits(text, from, to) {
      return text ~ /^[0-9]+$/ && length(text) >= from && length(text) <= to
    }
    # Without zeros in front.
    function number(text) { return digits(text, 1, 15) && text ~ /^([1-9]|0$)/ }
    # Some take what begins with a zero for an octal number.
    function plain(text) { sub(/^0+/, "", text); return (text == "" ? 0 : text) }
    function is_session(id, date) {
      date = substr(day, 1, 4) substr(day, 6, 2) substr(day, 9, 2)
      return length(id) == 25 && substr(id, 1, 9) == date "t" && digits(substr(id, 10, 6), 6, 6) \
        && substr(id, 16, 2) == "z-" && substr(id, 18) ~ /^[a-z0-9]+$/
    }
    function is_date(text, y, m, d) {
      if (!digits(text, 8, 8)) return 0
      y = plain(substr(text, 1, 4)) + 0; m = plain(substr(text, 5, 2)) + 0; d = plain(substr(text, 7)) + 0
      if (m == 2) return d >= 1 && d <= 28 + (y % 4 == 0 && (y % 100 != 0 || y % 400 == 0))
      return m >= 1 && m <= 12 && d >= 1 && d <= 30 + (m + int(m / 8)) % 2
    }
    function is_hash(text) { return length(text) == 16 && text ~ /^[0-9a-f]+$/ }
    function is_generation(text, from, rank) {
      rank = substr(text, 2)
      return text ~ /^g/ && number(rank) && rank + 0 >= from && rank + 0 < 1000000
    }
    $1 != "f" { next }
    # No writer makes a larger object; where the size is not known it is "-".
    $3 + 0 > 8388608 || ($2 ~ /\.json$/ && $3 + 0 > 1048576) { next }
    {
      fields = split($2, p, ".")
      generation = 1
      # A sidecar names its generation only where it is not the first.
      if (fields == 8 && is_generation(p[4], 2)) {
        generation = substr(p[4], 2)
        for (; fields > 7; fields--) for (i = 4; i < 8; i++) p[i] = p[i + 1]
        if (p[7] != "json") next
      }
      rank = substr(p[2], 2)
      key = "devices/" device "/" day "/" $2
    }
    holds == "true" && fields == 4 && is_session(p[1]) && p[2] == "keep" && is_date(p[3]) \
      && p[4] == "json" {
      print p[1], device, "k", 0, p[3], 0, "-", $3, $3, $4, key, $5, 1
    }
    fields != 7 || !is_session(p[1]) { next }
    p[7] == "zst" && (p[6] == "log" ? is_generation(p[2], 1) : \
      p[6] == "delta" && is_generation(p[2], 2)) && split(p[3], span, "-") == 2 && digits(span[1], 12, 12) && digits(span[2], 12, 12) \
      && span[1] "" < span[2] "" && is_hash(p[4]) && number(p[5]) && p[5] + 0 <= 8388608 {
      print p[1], device, "g", rank, plain(span[1]), plain(span[2]), p[4], p[5], $3, $4, key, $5, \
        p[6]
    }
    p[7] == "json" && p[2] ~ /^s/ && digits(rank, 4, 6) && (length(rank) == 4 || rank !~ /^0/) \
      && p[3] ~ /^(active|terminated|crashed)$/ && digits(p[4], 12, 12) && is_hash(p[5]) \
      && number(p[6]) && p[6] + 0 <= 1048576 {
      print p[1], device, "s", plain(rank), p[3], plain(p[4]), p[5], p[6], $3, $4, key, $5, \
        generation
    }'
}
