# shellcheck shell=bash
# A store over curl: what the scripts beside this file share. It is sourced, not run.
#
# open_store URL      decides where the store is and who asks
# store_list PREFIX   what lies in a folder and has a name that begins so
# store_get KEY FILE  fetches an object; false when there is none
# store_delete KEY    deletes an object; false, and $refusal says why, when it stays
#
# An entry of a listing is a line: "f" or "d", name, size, time of writing, the server's time; "-"
# where that is not known, times in seconds since 1970. Names with other characters than the format
# has are left out, and nothing else that a server says is passed on.

# Bytes, not characters: names are compared and sorted as the format means it.
export LC_ALL=C
program=${0##*/}
umask 077
work=$(mktemp -d "${TMPDIR:-/tmp}/tidemark.XXXXXX")
part=
trap 'rm -rf "$work" ${part:+"$part"}' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Says what is wrong and ends: 64 usage, 65 integrity, 69 a tool is missing, 75 try later,
# 77 authentication, 78 configuration.
fail() { # STATUS MESSAGE
  printf '%s: %s\n' "$program" "$2" >&2
  exit "$1"
}

# The comment at the head of the script.
help() {
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit 0
}

# For an option that takes a value, called with the rest of the arguments.
needs_value() { [ $# -gt 1 ] || fail 64 "$1 takes a value; see --help."; }

require() { # TOOL...
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null || fail 69 "$tool is missing; install it, e.g. apt install $tool"
  done
}

# SHA-256 of standard input in hex.
sha256() { { sha256sum 2>/dev/null || shasum -a 256; } | cut -d ' ' -f 1; }

size() { wc -c <"$1" | tr -d ' '; } # FILE

# Percent-encodes standard input.
encoded() {
  od -An -v -tx1 | awk '
    BEGIN {
      for (i = 33; i < 127; i++) {
        c = sprintf("%c", i)
        if (c ~ /[A-Za-z0-9._~-]/) plain[sprintf("%02x", i)] = c
      }
    }
    { for (i = 1; i <= NF; i++) printf "%s", ($i in plain) ? plain[$i] : "%" toupper($i) }'
}

# The text percent-decoded, or as it is where an escape is broken.
decoded() { # TEXT
  local text=${1//\\/\\\\}
  case ${1//\%[0-9A-Fa-f][0-9A-Fa-f]/} in
    *%*) printf '%s' "$1" ;;
    *) printf '%b' "${text//\%/\\x}" ;;
  esac
}

# Seconds since 1970 of the two kinds of dates that stores write; "-" for anything else.
dates='
  # Two digits; the 1 in front because some take what begins with a zero for an octal number.
  function two(text, at) { return ("1" substr(text, at, 2)) - 100 }
  function epoch(text, y, m, d, at) {
    if (text ~ /^[0-9-]+T[0-9:]+(\.[0-9]+)?Z$/ && length(text) >= 20) {
      y = substr(text, 1, 4); m = two(text, 6); d = two(text, 9); at = 12
    } else if (text ~ /^[A-Za-z]+, [0-9]+ [A-Z][a-z]+ [0-9: ]+ GMT$/ && length(text) == 29) {
      y = substr(text, 13, 4); d = two(text, 6); at = 18
      m = (index("JanFebMarAprMayJunJulAugSepOctNovDec", substr(text, 9, 3)) + 2) / 3
    }
    if (y < 1900 || m < 1) return "-"
    if (m <= 2) { y--; m += 12 }
    d += 365 * y + int(y / 4) - int(y / 100) + int(y / 400) + int((153 * (m - 3) + 2) / 5)
    d = 24 * (d - 719469) + two(text, at)
    return sprintf("%.0f", 60 * (60 * d + two(text, at + 3)) + two(text, at + 6))
  }'

# XML, one tag and the text after it at a time, whatever the prefix of its namespace is. It knows no
# comments and no CDATA: what stands there is no name of ours, and so it is passed over.
# shellcheck disable=SC2016 # $0 is awk's
xml='
  BEGIN { RS = "<"; for (i = 1; i < 256; i++) byte[sprintf("%02x", i)] = sprintf("%c", i) }
  # Leave text longer than the path of any object encoded: awk would take long.
  function decoded(text, parts, count, i, out, hex) {
    if (length(text) > 16384) return text
    count = split(text, parts, "%"); out = parts[1]
    for (i = 2; i <= count; i++) {
      hex = tolower(substr(parts[i], 1, 2))
      out = out (hex in byte ? byte[hex] substr(parts[i], 3) : "%" parts[i])
    }
    return out
  }
  function unescaped(text) {
    gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text)
    gsub(/&quot;|&#34;|&#x22;/, "\"", text); gsub(/&apos;|&#39;|&#x27;/, "\047", text)
    gsub(/&#43;|&#x2[bB];/, "+", text); gsub(/&amp;|&#38;|&#x26;/, "\\&", text)
    return text
  }
  {
    gt = index($0, ">")
    tag = substr($0, 1, gt - 1); text = substr($0, gt + 1)
    is_end = sub(/^\//, "", tag)
    sub(/[ \t\r\n\/].*/, "", tag); sub(/^.*:/, "", tag)
    gsub(/^[ \t\r\n]+|[ \t\r\n]+$/, "", text); text = unescaped(text)
  }'

# --- Where the store is, and who asks -----------------------------------------------------------

accepted='Write s3://bucket/prefix, https://host/folder, http://localhost/folder or file:///folder.'

open_store() { # [URL]
  local url=${1:-${TIDEMARK_STORE:-}}
  [ -n "$url" ] || fail 78 "no store is named. Give its URL or set TIDEMARK_STORE. $accepted"
  case $url in
    *[[:cntrl:]]*) fail 78 "the store's URL holds control characters. $accepted" ;;
    file://*) ;;
    *[\ \?\#]*) fail 78 "the store's URL holds a blank, ? or #. $accepted" ;;
  esac
  login='' secrets='' options=(--disable)
  case $url in
    file://*) open_folder "${url#file://}" ;;
    s3://*) open_s3 "${url#s3://}" ;;
    https://* | http://*) open_webdav "$url" ;;
    *) fail 78 "that is not a store's URL. $accepted" ;;
  esac
  read_marker
}

# Reads a web address into $web, the path percent-encoded whether or not it was, and $web_path.
read_web_url() { # URL
  local scheme=${1%%://*} rest=${1#*://} authority segment path=''
  authority=${rest%%/*}
  case $authority in
    *@*) fail 78 "a login in the URL ends up in logs. Put it into the environment; see --help." ;;
  esac
  [[ $authority =~ ^(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$ ]] ||
    fail 78 "there is no valid host name in the URL. $accepted"
  if [ "$scheme" = http ]; then
    [[ $authority =~ ^(localhost|\[::1\]|127(\.[0-9]{1,3}){3})(:[0-9]+)?$ ]] ||
      fail 78 "http:// sends login and logs unencrypted. Use https://, or http://localhost."
    # What is sent in clear to this machine must not leave it by way of a proxy.
    options+=(--noproxy '*')
  fi
  rest=${rest#"$authority"}/
  while [ -n "$rest" ]; do
    segment=$(decoded "${rest%%/*}")
    rest=${rest#*/}
    case $segment in
      '') continue ;;
      . | ..) fail 78 "the path of the URL holds . or .. segments." ;;
    esac
    path+=/$(printf '%s' "$segment" | encoded)
  done
  web=$scheme://$authority$path web_path=$path
}

# A login, in the form in which it stands in a URL.
userinfo() { # USER PASSWORD
  printf '%s:%s@' "$(printf '%s' "$1" | encoded)" "$(printf '%s' "$2" | encoded)"
}

open_webdav() { # URL
  local user=${TIDEMARK_WEBDAV_USER:-} password=${TIDEMARK_WEBDAV_PASSWORD:-}
  local file=${TIDEMARK_WEBDAV_PASSWORD_FILE:-}
  require curl
  read_web_url "$1"
  store_kind=webdav location=$web
  if [ -z "$password" ] && [ -n "$file" ]; then
    { [ -r "$file" ] && IFS= read -r password <"$file"; } || [ -n "$password" ] ||
      fail 78 "the password file of TIDEMARK_WEBDAV_PASSWORD_FILE cannot be read, or is empty."
    password=${password%$'\r'}
  fi
  case $user,$password in
    ,) options+=(--netrc-optional) ;;
    ,*) fail 78 "there is a password, but no user. Set TIDEMARK_WEBDAV_USER as well." ;;
    *,) fail 78 "there is a user, but no password. Set TIDEMARK_WEBDAV_PASSWORD as well." ;;
    *) login=$(userinfo "$user" "$password") ;;
  esac
}

open_s3() { # BUCKET/PREFIX
  local bucket=${1%%/*} id=${AWS_ACCESS_KEY_ID:-} secret=${AWS_SECRET_ACCESS_KEY:-}
  local region=${AWS_REGION:-${AWS_DEFAULT_REGION:-us-east-1}}
  local endpoint=${AWS_ENDPOINT_URL_S3:-${AWS_ENDPOINT_URL:-}} version
  require curl
  store_kind=s3
  prefix=$(printf '%s' "${1#"$bucket"}" | tr -s / | sed 's,^/,,; s,/$,,')
  [[ $bucket =~ ^[A-Za-z0-9][A-Za-z0-9._-]{2,254}$ && $bucket != *..* ]] ||
    fail 78 "there is no valid bucket name in the URL. $accepted"
  [[ $prefix =~ ^[A-Za-z0-9._/-]*$ && /$prefix/ != */../* && /$prefix/ != */./* ]] ||
    fail 78 "the prefix holds other characters than A-Z a-z 0-9 . _ - /, as no writer's does."
  location=s3://$bucket${prefix:+/$prefix} prefix=${prefix:+$prefix/}
  if [ -z "$id" ] || [ -z "$secret" ]; then
    fail 78 "no access key. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; no profile is read."
  fi
  [[ $region =~ ^[A-Za-z0-9-]{1,64}$ ]] || fail 78 "AWS_REGION is not the name of a region."
  # Older ones leave headers of ours out of the signature.
  version=$(curl --version | sed -n '1s/^curl \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
  [ "${version% *}" -gt 7 ] || [ "${version#* }" -ge 87 ] ||
    fail 69 "for S3 curl 7.87 or later is needed, and this is ${version/ /.}."
  [ -n "$endpoint" ] || case $region in
    cn-*) endpoint=https://s3.$region.amazonaws.com.cn ;;
    *) endpoint=https://s3.$region.amazonaws.com ;;
  esac
  read_web_url "$endpoint"
  web=$web/$bucket
  login=$(userinfo "$id" "$secret")
  # The digest of an empty body, which curl does not add by itself everywhere.
  options+=(--aws-sigv4 "aws:amz:$region:s3" --header
    'x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  case ${AWS_SESSION_TOKEN:-} in
    *[!A-Za-z0-9+/=_.:-]*) fail 78 "AWS_SESSION_TOKEN is not a session token." ;;
    ?*) secrets="header = \"x-amz-security-token: $AWS_SESSION_TOKEN\"" ;;
  esac
}

open_folder() { # PATH
  local path
  path=$(decoded "${1#localhost}")
  case $path/ in
    */../* | */./*) fail 78 "the path of the URL holds . or .. segments." ;;
    /*[!/]*) ;;
    *) fail 78 "file:// needs an absolute path: file:///folder" ;;
  esac
  store_kind=folder location=file://$path root=${path%/}
}

# The first object of every store says which format it has.
# shellcheck disable=SC2034 # sessions.sh reads $has_marker
read_marker() {
  local known='{"format":1,"name":"tidemark"}' found
  has_marker=false
  store_get tidemark.json "$work/marker" || return 0
  has_marker=true
  found=$(head -c 64 "$work/marker" | tr -d '\0')
  # A cut upload left the start of it.
  case $known in
    "$found"*) ;;
    *) fail 78 "$location/tidemark.json names a format unknown here. Get a newer script." ;;
  esac
}

# No writer makes a larger object, in bytes.
largest_object=8388608

# --- Requests -----------------------------------------------------------------------------------

# Sends a request; the body of the answer goes to FILE, its status to $http_status, its head to
# $work/head.
http() { # METHOD URL FILE [OPTION...]
  local method=$1 url=$2 code=0 said
  answer=$3
  shift 3
  : >"$answer"
  # Address and login go through a pipe: everybody on the machine sees arguments.
  http_status=$(printf 'url = "%s"\n%s\n' "${url%%://*}://$login${url#*://}" "$secrets" |
    curl "${options[@]}" --config - --request "$method" --output "$answer" \
      --dump-header "$work/head" --write-out '%{http_code}' --silent --show-error --globoff \
      --path-as-is --proto '=http,https' --http1.1 --connect-timeout 15 --speed-limit 1 \
      --speed-time 30 --retry 2 --retry-max-time 30 --max-filesize 268435456 \
      "$@" 2>"$work/said") || code=$?
  [ $code != 0 ] || return 0
  said=$(tail -n 1 "$work/said" | tr -cd '[:print:]')
  said="$method $url: ${said//"$login"/}"
  case $code in
    # TLS and its files.
    35 | 51 | 58 | 59 | 60 | 66 | 77 | 80 | 82 | 83 | 90 | 91)
      fail 78 "$said. Check the server's certificate; CURL_CA_BUNDLE names your own authority."
      ;;
    3) fail 78 "$said. $accepted" ;;
    63) fail 65 "$said. The answer is larger than any that a store gives." ;;
    *) fail 75 "$said. Check the host name, the network and the disk here, and try again." ;;
  esac
}

# Ends with what an answer means that was not hoped for.
refused() { # METHOD URL
  local code='' what
  [ "$store_kind" != s3 ] ||
    code=$(tr "\n" " " <"$answer" | sed -n "s|.*<Code>\([A-Za-z]\{1,64\}\)</Code>.*|\1|p")
  what="$1 $2: $http_status${code:+ $code}"
  case $http_status,$code in
    *,NoSuchBucket | *,InvalidBucketName) fail 78 "$what. Correct the bucket in the store's URL." ;;
    *,RequestTimeTooSkewed) fail 78 "$what. Set this machine's clock." ;;
    *,AuthorizationHeaderMalformed | *,PermanentRedirect | *,IllegalLocationConstraintException)
      fail 78 "$what. Set AWS_REGION to the bucket's region, and check AWS_ENDPOINT_URL."
      ;;
    40[13],* | *,AccessDenied | *,ExpiredToken | *,InvalidToken | *,InvalidAccessKeyId)
      fail 77 "$what. Check the login, and its right to do this."
      ;;
    40[45],* | 410,* | 501,* | 3*) fail 78 "$what. Correct the store's URL." ;;
    408,* | 42[359],* | 5*) fail 75 "$what. Try again later." ;;
    *) fail 78 "$what. Check the store's URL; a web page in front of it answers so." ;;
  esac
}

# The server's time of the last answer in seconds since 1970; ours where it tells none.
server_time() {
  local told
  told=$(tr -d '\r' <"$work/head" |
    awk "$dates"' tolower($1) == "date:" { print epoch(substr($0, 7)) }' | tail -n 1)
  case $told in '' | -) date +%s ;; *) printf '%s\n' "$told" ;; esac
}

# --- Listing, fetching, deleting ----------------------------------------------------------------

store_list() { "${store_kind}_list" "$1"; }     # PREFIX
store_get() { "${store_kind}_get" "$1" "$2"; }  # KEY FILE
store_delete() { "${store_kind}_delete" "$1"; } # KEY

s3_list() { # PREFIX
  local token='' next='' query
  while true; do
    # Sorted by name, and every value encoded: curl signs the query as it stands.
    query="delimiter=%2F&encoding-type=url&list-type=2&prefix=$(printf '%s' "$prefix$1" | encoded)"
    [ -z "$token" ] || query="continuation-token=$(printf '%s' "$token" | encoded)&$query"
    http GET "$web/?$query" "$work/body"
    [ "$http_status" = 200 ] || refused LIST "$location/$1"
    : >"$work/token"
    awk -v base="$prefix${1%"${1##*/}"}" -v start="${1##*/}" -v token="$work/token" \
      -v now="$(server_time)" "$dates$xml"'
      function add(kind, key) {
        key = decoded(key)
        if (substr(key, 1, length(base)) != base) return
        key = substr(key, length(base) + 1)
        if (kind == "d") sub(/\/$/, "", key)
        if (key ~ /^[A-Za-z0-9._-]+$/ && substr(key, 1, length(start)) == start)
          printf "%s\t%s\t%s\t%s\t%s\n", kind, key, size, mtime, now
      }
      tag == "Contents" && !is_end { key = ""; size = mtime = "-" }
      tag == "CommonPrefixes" { is_common = !is_end; size = mtime = "-" }
      is_end && tag == "ListBucketResult" { is_whole = 1 }
      is_end && tag == "Contents" { add("f", key) }
      is_end { next }
      tag == "Key" { key = text }
      tag == "Size" && text ~ /^[0-9]+$/ { size = text }
      tag == "LastModified" { mtime = epoch(text) }
      tag == "Prefix" && is_common { add("d", text) }
      tag == "NextContinuationToken" { printf "%s", text >token }
      tag == "IsTruncated" && text == "true" { goes_on = 1 }
      END { exit (!is_whole ? 3 : goes_on ? 4 : 0) }' "$work/body" >"$work/page" || next=$?
    cat "$work/page"
    case $next in
      '') return 0 ;;
      3) fail 75 "LIST $location/$1: $http_status, but no listing. Check the store's URL." ;;
    esac
    next=$(cat "$work/token")
    if [ -z "$next" ] || [ "$next" = "$token" ]; then
      fail 75 "LIST $location/$1: the listing goes on, and does not say where."
    fi
    token=$next next=''
  done
}

s3_get() { # KEY FILE
  http GET "$web/$prefix$1" "$2" --max-filesize "$largest_object"
  case $http_status in
    200) ;;
    404)
      ! grep -q '<Code>NoSuchBucket<' "$2" || refused GET "$location/$1"
      return 1
      ;;
    *) refused GET "$location/$1" ;;
  esac
}

s3_delete() { # KEY
  http DELETE "$web/$prefix$1" "$work/body"
  settle_delete "$1"
}

webdav_list() { # PREFIX
  local folder=${1%"${1##*/}"} problem=0
  local ask='<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop>'
  ask+='<D:resourcetype/><D:getcontentlength/><D:getlastmodified/></D:prop></D:propfind>'
  # The slash at the end: nginx and Apache answer nothing or a redirection without it.
  http PROPFIND "$web/$folder" "$work/body" --header 'Depth: 1' \
    --header 'Content-Type: application/xml' --data "$ask"
  case $http_status in
    207) ;;
    404 | 410) return 0 ;;
    *) refused PROPFIND "$web/$folder" ;;
  esac
  awk -v base="$web_path/${folder%/}" -v start="${1##*/}" -v now="$(server_time)" "$dates$xml"'
    BEGIN { base = decoded(base) }
    # One resource: its path may come as a path or as a URL, encoded in whatever way.
    function add(path) {
      sub(/^[A-Za-z]+:\/\/[^\/]*/, "", path); path = decoded(path); sub(/\/$/, "", path)
      if (path == base) { saw_folder = 1; return }
      if (substr(path, 1, length(base) + 1) != base "/") { strangers++; return }
      path = substr(path, length(base) + 2)
      if (is_found && path ~ /^[A-Za-z0-9._-]+$/ && substr(path, 1, length(start)) == start)
        printf "%s\t%s\t%s\t%s\t%s\n", is_folder ? "d" : "f", path, size, mtime, now
    }
    is_end && tag == "multistatus" { is_whole = 1 }
    is_end && tag == "response" { add(href) }
    # Properties that were not found stand in a part with another status.
    is_end && tag == "propstat" && is_good {
      is_found = 1; is_folder = part_folder; size = part_size; mtime = part_mtime
    }
    is_end { next }
    tag == "response" { href = ""; is_found = is_folder = 0; size = mtime = "-" }
    tag == "propstat" { is_good = part_folder = 0; part_size = part_mtime = "-" }
    tag == "href" && href == "" { href = text }
    tag == "status" { is_good = text ~ /^HTTP\/[0-9.]+ 2[0-9][0-9]/ }
    tag == "collection" { part_folder = 1 }
    tag == "getcontentlength" && text ~ /^[0-9]+$/ { part_size = text }
    tag == "getlastmodified" { part_mtime = epoch(text) }
    END { exit (!is_whole ? 3 : !saw_folder && strangers ? 4 : 0) }
  ' "$work/body" >"$work/page" || problem=$?
  case $problem in
    0) cat "$work/page" ;;
    4) fail 65 "PROPFIND $web/$folder: the listing of another folder. Check the store's URL." ;;
    *) fail 75 "PROPFIND $web/$folder: $http_status, but no whole listing. Try again later." ;;
  esac
}

webdav_get() { # KEY FILE
  http GET "$web/$1" "$2" --max-filesize "$largest_object"
  case $http_status in
    200) ;;
    404 | 410) return 1 ;;
    *) refused GET "$web/$1" ;;
  esac
}

webdav_delete() { # KEY
  http DELETE "$web/$1" "$work/body"
  settle_delete "$1"
}

# shellcheck disable=SC2034 # the script that deletes prints $refusal
settle_delete() { # KEY
  case $http_status in
    200 | 202 | 204 | 404 | 410) ;;
    401 | 403) refused DELETE "$location/$1" ;;
    *)
      refusal="DELETE answered $http_status"
      return 1
      ;;
  esac
}

# Links below the store are not followed: they could lead to files of somebody else.
folder_path() { # KEY
  local path=$root rest=$1/
  while [ -n "$rest" ]; do
    path=$path/${rest%%/*} rest=${rest#*/}
    [ ! -L "$path" ] || return 1
  done
  printf '%s\n' "$path"
}

folder_list() { # PREFIX
  local folder name names=(.) format=(-c '%F/%s/%Y/%n')
  folder=$(folder_path "${1%/*}") || return 0
  [ -d "$folder" ] || return 0
  if [ ! -r "$folder" ] || [ ! -x "$folder" ]; then
    fail 78 "$folder cannot be read. Check its rights."
  fi
  stat "${format[@]}" / >/dev/null 2>&1 || format=(-f '%HT/%z/%m/%N')
  (
    cd "$folder" || exit 0
    for name in "${1##*/}"*; do
      case $name in *[!A-Za-z0-9._-]*) ;; *) names+=("$name") ;; esac
    done
    # What vanishes meanwhile is not there to be listed; the dot stands for a folder without names.
    printf '%s\0' "${names[@]}" | xargs -0 stat "${format[@]}" -- 2>/dev/null || true
  ) | awk -F / -v OFS='\t' -v now="$(date +%s)" '
    $4 == "." { next }
    tolower($1) ~ /^directory/ { print "d", $4, "-", "-", now }
    tolower($1) ~ /^regular/ { print "f", $4, $2, $3, now }'
}

folder_get() { # KEY FILE
  local path
  path=$(folder_path "$1") || return 1
  [ -f "$path" ] || return 1
  # No more of what may be a disk full of zeros than it takes to see that it is too long.
  head -c $((largest_object + 1)) <"$path" >"$2" 2>"$work/said" || fail 78 "$path cannot be read. Check its rights."
}

# shellcheck disable=SC2034 # as above
folder_delete() { # KEY
  local path
  refusal='the file cannot be removed; check the rights of its folder'
  path=$(folder_path "$1") && rm -f "$path" 2>/dev/null
}
