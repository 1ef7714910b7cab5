# shellcheck shell=bash
# Deltas: what a segment is made of that copies from segments of earlier generations. It is sourced,
# not run; `$work/found` has the session's objects. The format is in
# Sources/Replica/Replica.docc/Format.md.
# shellcheck source-path=SCRIPTDIR
# shellcheck source=sessions.sh
. "$(dirname "${BASH_SOURCE[0]}")/sessions.sh"

# Fails unless a file has this length and the hash of the name.
check() { # FILE LENGTH HASH16 KEY
  [ "$(size "$1")" = "$2" ] || fail 65 "$4 holds $(size "$1") bytes, not $2 as its name says."
  [ "$(sha256 <"$1" | cut -c 1-16)" = "$3" ] || fail 65 "$4 holds other bytes than its name says."
}

# Writes a segment's index, its whole skippable frame, to $work/index. Fails where it has none.
read_index() { # OBJECT
  local frame
  frame=$(tail -c 16 "$1" | od -An -v -tu1 |
    awk '{ for (i = 1; i <= NF; i++) b[n++] = $i }
      END {
        if (n == 16 && b[8] == 1 && b[12] == 84 && b[13] == 68 && b[14] == 77 && b[15] == 75)
          print b[0] + 256 * (b[1] + 256 * (b[2] + 256 * b[3]))
      }')
  if [ -z "$frame" ] || [ "$frame" -lt 24 ] || [ "$frame" -gt 1048576 ]; then return 1; fi
  tail -c "$frame" "$1" >"$work/index"
}

# Fails unless an object's index is the one that the seal names, if it names one.
check_index() { # OBJECT KEY
  local wanted
  [ -e "$work/indexes" ] || return 0
  wanted=$(awk -v name="${2##*/}" '$1 == name { print $2 }' "$work/indexes")
  case $wanted in '' | null) return 0 ;; esac
  { read_index "$1" && [ "$(sha256 <"$work/index" | cut -c 1-32)" = "$wanted" ]; } ||
    fail 65 "$2 has another index than its seal names."
}

# Prints a delta's instructions, one a line: kind, generation, start and bytes; kind "l" is literals,
# "c" a copy. Fails where the index cannot be one.
instructions() { # OBJECT LENGTH
  local frame checksum
  read_index "$1" || return 1
  frame=$(size "$work/index")
  checksum=$(head -c $((frame - 16)) "$work/index" | tail -c +9 | sha256 | cut -c 1-8)
  # The checksum comes in the footer's next four bytes.
  [ "$checksum" = "$(tail -c 12 "$work/index" | head -c 4 | od -An -v -tx1 | tr -d ' \n')" ] ||
    return 1
  od -An -v -tu1 "$work/index" | awk -v length_="$2" '
    function number(value, scale) {
      value = 0
      for (scale = 1; at < end; scale *= 128) {
        value += (b[at] % 128) * scale
        if (b[at++] < 128) return value
      }
      exit failed = 1
    }
    { for (i = 1; i <= NF; i++) b[n++] = $i }
    END {
      if (failed || b[0] != 94 || b[1] != 42 || b[2] != 77 || b[3] != 24) exit 1
      end = n - 16
      for (at = 8; at < end; at = next_) {
        tag = number()
        size_ = number()
        next_ = at + size_
        if (next_ > end) exit 1
        if (tag == 3) { begin = at; stop = next_ }
      }
      generation = 0
      for (at = begin; at < stop;) {
        value = number()
        kind = value % 4
        bytes = (value - kind) / 4
        made += bytes
        if (kind == 0) { print "l", 0, 0, bytes; continue }
        if (kind == 2) generation = number()
        distance = number()
        distance = distance % 2 ? -(distance + 1) / 2 : distance / 2
        start = copied + distance
        copied = start + bytes
        if (kind == 3 || !bytes || !generation || start < 0) exit 1
        print "c", generation, start, bytes
      }
      exit made != length_ + 0
    }'
}

# Fails where more is to be unpacked than the program unpacks: above 1 GiB, 250 times what is stored.
check_ratio() { # OBJECT LENGTH FILE
  [ "$2" -le 1073741824 ] || [ "$2" -le $((250 * $(size "$1"))) ] ||
    fail 65 "$(basename "$3"): $2 bytes are said to be in $(size "$1") stored ones; that is not unpacked."
}

# Writes the log bytes of an object. Of a delta that others copy from only the literals are wanted:
# the rest is filled with zeros. False when an object has been replaced since the listing.
decode() { # OBJECT KIND LENGTH FILE [only-literals]
  local kind generation start bytes literal=0
  if [ "$2" = log ]; then
    check_ratio "$1" "$3" "$4"
    # One byte more than the name says is enough to see that it is wrong.
    zstd -dcq <"$1" 2>/dev/null | head -c $(($3 + 1)) >"$4"
    return
  fi
  local list=$4.list literals=$4.literals
  instructions "$1" "$3" >"$list" || fail 65 "$(basename "$4"): a delta has no index that can be read."
  bytes=$(awk '$1 == "l" { bytes += $4 } END { printf "%.0f", bytes }' "$list")
  check_ratio "$1" "$bytes" "$4"
  zstd -dcq <"$1" 2>/dev/null | head -c $((bytes + 1)) >"$literals" || true
  : >"$4"
  while read -r kind generation start bytes; do
    if [ "$kind" = l ]; then
      tail -c +$((literal + 1)) "$literals" | head -c "$bytes" >>"$4" || true
      literal=$((literal + bytes))
    elif [ "${5:-}" ]; then
      head -c "$bytes" /dev/zero >>"$4"
    else
      append_copy "$generation" "$start" $((start + bytes)) "$4" || return 1
    fi
  done <"$list"
  rm -f "$list" "$literals"
}

# Appends a range of an earlier generation's stream.
append_copy() { # GENERATION START END FILE
  local at=$2 row start end hash stored key kind source
  while [ "$at" -lt "$3" ]; do
    row=$(awk -v at="$at" -v generation="$1" '
      BEGIN { best = at + 0 }
      $3 == "g" && $4 == generation && $8 == $9 && $5 + 0 <= at + 0 && $6 + 0 > best {
        best = $6 + 0
        row = $5 " " $6 " " $7 " " $8 " " $11 " " $13
      }
      END { print row }' "$work/found")
    [ "$row" ] || fail 65 "a delta copies from byte $at of generation $1, which is not there."
    read -r start end hash stored key kind <<<"$row"
    source=$work/source.${key##*/}
    if [ ! -e "$source" ]; then
      store_get "$key" "$work/basis" || return 1
      [ "$(size "$work/basis")" = "$stored" ] ||
        fail 65 "$key came with $(size "$work/basis") bytes, not $stored as its name says."
      check_index "$work/basis" "$key"
      decode "$work/basis" "$kind" $((end - start)) "$source" only-literals
      [ "$kind" != log ] || check "$source" $((end - start)) "$hash" "$key"
    fi
    [ "$end" -le "$3" ] || end=$3
    tail -c +$((at - start + 1)) "$source" | head -c $((end - at)) >>"$4" || true
    at=$end
  done
}
