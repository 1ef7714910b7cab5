#!/bin/bash

__tidemark_cursor_index_in_current_word() {
    local remaining="${COMP_LINE}"

    local word
    for word in "${COMP_WORDS[@]::COMP_CWORD}"; do
        remaining="${remaining##*([[:space:]])"${word}"*([[:space:]])}"
    done

    local -ir index="$((COMP_POINT - ${#COMP_LINE} + ${#remaining}))"
    if [[ "${index}" -le 0 ]]; then
        printf 0
    else
        printf %s "${index}"
    fi
}

# positional arguments:
#
# - 1: the current (sub)command's count of positional arguments
#
# required variables:
#
# - repeating_flags: the repeating flags that the current (sub)command can accept
# - non_repeating_flags: the non-repeating flags that the current (sub)command can accept
# - repeating_options: the repeating options that the current (sub)command can accept
# - non_repeating_options: the non-repeating options that the current (sub)command can accept
# - positional_number: value ignored
# - unparsed_words: unparsed words from the current command line
#
# modified variables:
#
# - non_repeating_flags: remove flags for this (sub)command that are already on the command line
# - non_repeating_options: remove options for this (sub)command that are already on the command line
# - positional_number: set to the current positional number
# - unparsed_words: remove all flags, options, and option values for this (sub)command
__tidemark_offer_flags_options() {
    local -ir positional_count="${1}"
    positional_number=0

    local was_flag_option_terminator_seen=false
    local is_parsing_option_value=false

    local -ar unparsed_word_indices=("${!unparsed_words[@]}")
    local -i word_index
    for word_index in "${unparsed_word_indices[@]}"; do
        if "${is_parsing_option_value}"; then
            # This word is an option value:
            # Reset marker for next word iff not currently the last word
            [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]] && is_parsing_option_value=false
            unset "unparsed_words[${word_index}]"
            # Do not process this word as a flag or an option
            continue
        fi

        local word="${unparsed_words["${word_index}"]}"
        if ! "${was_flag_option_terminator_seen}"; then
            case "${word}" in
            --)
                unset "unparsed_words[${word_index}]"
                # by itself -- is a flag/option terminator, but if it is the last word, it is the start of a completion
                if [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]]; then
                    was_flag_option_terminator_seen=true
                fi
                continue
                ;;
            -*)
                # ${word} is a flag or an option
                # If ${word} is an option, mark that the next word to be parsed is an option value
                local option
                for option in "${repeating_options[@]}" "${non_repeating_options[@]}"; do
                    [[ "${word}" = "${option}" ]] && is_parsing_option_value=true && break
                done

                # Remove ${word} from ${non_repeating_flags} or ${non_repeating_options} so it isn't offered again
                local not_found=true
                local -i index
                for index in "${!non_repeating_flags[@]}"; do
                    if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                        unset "non_repeating_flags[${index}]"
                        non_repeating_flags=("${non_repeating_flags[@]}")
                        not_found=false
                        break
                    fi
                done
                if "${not_found}"; then
                    for index in "${!non_repeating_flags[@]}"; do
                        if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                            unset "non_repeating_flags[${index}]"
                            non_repeating_flags=("${non_repeating_flags[@]}")
                            break
                        fi
                    done
                fi
                unset "unparsed_words[${word_index}]"
                continue
                ;;
            esac
        fi

        # ${word} is neither a flag, nor an option, nor an option value
        if [[ "${positional_number}" -lt "${positional_count}" || "${positional_count}" -lt 0 ]]; then
            # ${word} is a positional
            ((positional_number++))
            unset "unparsed_words[${word_index}]"
        else
            if [[ -z "${word}" ]]; then
                # Could be completing a flag, option, or subcommand
                positional_number=-1
            else
                # ${word} is a subcommand or invalid, so stop processing this (sub)command
                positional_number=-2
            fi
            break
        fi
    done

    unparsed_words=("${unparsed_words[@]}")

    if\
        ! "${was_flag_option_terminator_seen}"\
        && ! "${is_parsing_option_value}"\
        && [[ ("${cur}" = -* && "${positional_number}" -ge 0) || "${positional_number}" -eq -1 ]]
    then
        COMPREPLY+=($(compgen -W "${repeating_flags[*]} ${non_repeating_flags[*]} ${repeating_options[*]} ${non_repeating_options[*]}" -- "${cur}"))
    fi
}

__tidemark_add_completions() {
    local completion
    while IFS='' read -r completion; do
        COMPREPLY+=("${completion}")
    done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
}

__tidemark_custom_complete() {
    if [[ -n "${cur}" || -z ${COMP_WORDS[${COMP_CWORD}]} || "${COMP_LINE:${COMP_POINT}:1}" != ' ' ]]; then
        local -ar words=("${COMP_WORDS[@]}")
    else
        local -ar words=("${COMP_WORDS[@]::${COMP_CWORD}}" '' "${COMP_WORDS[@]:${COMP_CWORD}}")
    fi

    "${COMP_WORDS[0]}" "${@}" "${words[@]}"
}

_tidemark() {
    local state
    state="$(shopt -p;shopt -po)"
    trap "${state//$'\n'/;}" RETURN
    shopt -s extglob
    set +o history +o posix

    local -xr SAP_SHELL=bash
    local -x SAP_SHELL_VERSION
    SAP_SHELL_VERSION="$(IFS='.';printf %s "${BASH_VERSINFO[*]}")"
    local -r SAP_SHELL_VERSION

    local -r cur="${2}"
    local -r prev="${3}"

    local -i positional_number
    local -a unparsed_words=("${COMP_WORDS[@]:1:${COMP_CWORD}}")

    local -a repeating_flags=()
    local -a non_repeating_flags=(--version -h --help)
    local -a repeating_options=()
    local -a non_repeating_options=()
    __tidemark_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    init|doctor|run|log|play|import|upload|list|show|tail|grep|export|pull|verify|reap|delete|keep|restore|why|redact|status|retry|alert|crashes|config|scenario|help)
        # Offer subcommand argument completions
        "_tidemark_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'init doctor run log play import upload list show tail grep export pull verify reap delete keep restore why redact status retry alert crashes config scenario help' -- "${cur}"))
        ;;
    esac
}

_tidemark_init() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--no-save --dry-run --json --restore-marker --machine --allow-plaintext --version -h --help)
    repeating_options=()
    non_repeating_options=()
    __tidemark_offer_flags_options 1
}

_tidemark_doctor() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=()
    __tidemark_offer_flags_options 1
}

_tidemark_run() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--pty --as-is --survive --no-upload --version -h --help)
    repeating_options=(--scenario)
    non_repeating_options=(--app)
    __tidemark_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--app')
        return
        ;;
    '--scenario')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __tidemark_add_completions -W "$(__tidemark_custom_complete ---completion run -- positional@0 "${COMP_CWORD}" "$(__tidemark_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_tidemark_log() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--as-is --no-upload --version -h --help)
    repeating_options=(--scenario)
    non_repeating_options=(--app --session --category)
    __tidemark_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--app')
        return
        ;;
    '--session')
        __tidemark_add_completions -W "$(__tidemark_custom_complete ---completion log -- --session "${COMP_CWORD}" "$(__tidemark_cursor_index_in_current_word)")"
        return
        ;;
    '--category')
        return
        ;;
    '--scenario')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __tidemark_add_completions -W 'TRACE'$'\n''DEBUG'$'\n''INFO'$'\n''SUCCESS'$'\n''WARNING'$'\n''ERROR'$'\n''FAULT'
        return
        ;;
    esac
}

_tidemark_play() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--local --remote --version -h --help)
    repeating_options=()
    non_repeating_options=(--speed -i --idle-time-limit --user)
    __tidemark_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--speed')
        return
        ;;
    '-i'|'--idle-time-limit')
        return
        ;;
    '--user')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __tidemark_add_completions -W "$(__tidemark_custom_complete ---completion play -- positional@0 "${COMP_CWORD}" "$(__tidemark_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_tidemark_import() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--dry-run --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--app --user --category --max-size)
    __tidemark_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--app')
        return
        ;;
    '--user')
        return
        ;;
    '--category')
        return
        ;;
    '--max-size')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __tidemark_add_completions -f
        return
        ;;
    esac
}

_tidemark_upload() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--allow-plaintext --dry-run --now --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--every --wait --transfers --limit-rate --max-requests)
    __tidemark_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--every')
        return
        ;;
    '--wait')
        return
        ;;
    '--transfers')
        return
        ;;
    '--limit-rate')
        return
        ;;
    '--max-requests')
        return
        ;;
    esac
}

_tidemark_list() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all-devices --failed --local --remote --all --reverse --summary --tree --utc --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--device --app --since --until --number -n --sort --columns --lines --user)
    __tidemark_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--device')
        return
        ;;
    '--app')
        return
        ;;
    '--since')
        return
        ;;
    '--until')
        return
        ;;
    '--number'|'-n')
        return
        ;;
    '--sort')
        __tidemark_add_completions -W 'start'$'\n''duration'$'\n''size'$'\n''status'$'\n''app'$'\n''user'$'\n''device'
        return
        ;;
    '--columns')
        __tidemark_add_completions -W 'session'$'\n''start'$'\n''duration'$'\n''status'$'\n''size'$'\n''uploaded'$'\n''app'$'\n''where'$'\n''user'$'\n''device'$'\n''note'
        return
        ;;
    '--lines')
        return
        ;;
    '--user')
        return
        ;;
    esac
}

_tidemark_show() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all-devices --failed --local --remote --salvage --plain --raw --json --version -h --help)
    repeating_options=(--category --scenario)
    non_repeating_options=(--device --app --level --since --until --stream -n --lines --generation --user)
    __tidemark_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--device')
        return
        ;;
    '--app')
        return
        ;;
    '--level')
        __tidemark_add_completions -W 'TRACE'$'\n''DEBUG'$'\n''INFO'$'\n''SUCCESS'$'\n''WARNING'$'\n''ERROR'$'\n''FAULT'
        return
        ;;
    '--since')
        return
        ;;
    '--until')
        return
        ;;
    '--category')
        return
        ;;
    '--scenario')
        return
        ;;
    '--stream')
        __tidemark_add_completions -W 'stdout'$'\n''stderr'
        return
        ;;
    '-n'|'--lines')
        return
        ;;
    '--generation')
        return
        ;;
    '--user')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __tidemark_add_completions -W "$(__tidemark_custom_complete ---completion show -- positional@0 "${COMP_CWORD}" "$(__tidemark_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_tidemark_tail() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all-devices --failed --follow -f --local --remote --json --version -h --help)
    repeating_options=(--category --scenario)
    non_repeating_options=(--device --app -n --lines --every --level --since --until --stream --user)
    __tidemark_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--device')
        return
        ;;
    '--app')
        return
        ;;
    '-n'|'--lines')
        return
        ;;
    '--every')
        return
        ;;
    '--level')
        __tidemark_add_completions -W 'TRACE'$'\n''DEBUG'$'\n''INFO'$'\n''SUCCESS'$'\n''WARNING'$'\n''ERROR'$'\n''FAULT'
        return
        ;;
    '--since')
        return
        ;;
    '--until')
        return
        ;;
    '--category')
        return
        ;;
    '--scenario')
        return
        ;;
    '--stream')
        __tidemark_add_completions -W 'stdout'$'\n''stderr'
        return
        ;;
    '--user')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __tidemark_add_completions -W "$(__tidemark_custom_complete ---completion tail -- positional@0 "${COMP_CWORD}" "$(__tidemark_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_tidemark_grep() {
    repeating_flags=(--verbose)
    non_repeating_flags=(--all-devices --failed --local --remote -E --extended-regexp -F --fixed-strings --ignore-case -i -v --invert-match --count -c -n --line-number -o --only-matching -q --quiet -l --sessions-with-matches --json --version -h --help)
    repeating_options=(--category --scenario -e --regexp)
    non_repeating_options=(--device --app --level --since --until --stream --color -A --after-context -B --before-context -C --context --max-count -m --user)
    __tidemark_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--device')
        return
        ;;
    '--app')
        return
        ;;
    '--level')
        __tidemark_add_completions -W 'TRACE'$'\n''DEBUG'$'\n''INFO'$'\n''SUCCESS'$'\n''WARNING'$'\n''ERROR'$'\n''FAULT'
        return
        ;;
    '--since')
        return
        ;;
    '--until')
        return
        ;;
    '--category')
        return
        ;;
    '--scenario')
        return
        ;;
    '--stream')
        __tidemark_add_completions -W 'stdout'$'\n''stderr'
        return
        ;;
    '-e'|'--regexp')
        return
        ;;
    '--color')
        __tidemark_add_completions -W 'auto'$'\n''always'$'\n''never'
        return
        ;;
    '-A'|'--after-context')
        return
        ;;
    '-B'|'--before-context')
        return
        ;;
    '-C'|'--context')
        return
        ;;
    '--max-count'|'-m')
        return
        ;;
    '--user')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __tidemark_add_completions -W "$(__tidemark_custom_complete ---completion grep -- positional@1 "${COMP_CWORD}" "$(__tidemark_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_tidemark_export() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all-devices --failed --merge --dry-run --json --no-clock-offset --show-secrets --local --remote --salvage --version -h --help)
    repeating_options=(--category --scenario)
    non_repeating_options=(--device --app --output -o --format --level --since --until --stream -n --lines --user)
    __tidemark_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--device')
        return
        ;;
    '--app')
        return
        ;;
    '--output'|'-o')
        __tidemark_add_completions -f
        return
        ;;
    '--format')
        __tidemark_add_completions -W 'text'$'\n''jsonl'$'\n''tar'$'\n''asciicast'
        return
        ;;
    '--level')
        __tidemark_add_completions -W 'TRACE'$'\n''DEBUG'$'\n''INFO'$'\n''SUCCESS'$'\n''WARNING'$'\n''ERROR'$'\n''FAULT'
        return
        ;;
    '--since')
        return
        ;;
    '--until')
        return
        ;;
    '--category')
        return
        ;;
    '--scenario')
        return
        ;;
    '--stream')
        __tidemark_add_completions -W 'stdout'$'\n''stderr'
        return
        ;;
    '-n'|'--lines')
        return
        ;;
    '--user')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __tidemark_add_completions -W "$(__tidemark_custom_complete ---completion export -- positional@0 "${COMP_CWORD}" "$(__tidemark_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_tidemark_pull() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all-devices --failed --names --redacted --salvage --dry-run --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--device --app --since --until --max-size --transfers)
    __tidemark_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--device')
        return
        ;;
    '--app')
        return
        ;;
    '--since')
        return
        ;;
    '--until')
        return
        ;;
    '--max-size')
        return
        ;;
    '--transfers')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __tidemark_add_completions -d
        return
        ;;
    *)
        __tidemark_add_completions -W "$(__tidemark_custom_complete ---completion pull -- positional@1 "${COMP_CWORD}" "$(__tidemark_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_tidemark_verify() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all-devices --failed --repair --dry-run --deep --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--device --app --since --until --sample --user)
    __tidemark_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--device')
        return
        ;;
    '--app')
        return
        ;;
    '--since')
        return
        ;;
    '--until')
        return
        ;;
    '--sample')
        return
        ;;
    '--user')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __tidemark_add_completions -W "$(__tidemark_custom_complete ---completion verify -- positional@0 "${COMP_CWORD}" "$(__tidemark_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_tidemark_reap() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--local --remote --all-devices --failed --dry-run --explain --trust-server-clock --force --yes -y --json --print-lifecycle --install-lifecycle --version -h --help)
    repeating_options=()
    non_repeating_options=(--device --app --since --until --older-than --longest-session)
    __tidemark_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--device')
        return
        ;;
    '--app')
        return
        ;;
    '--since')
        return
        ;;
    '--until')
        return
        ;;
    '--older-than')
        return
        ;;
    '--longest-session')
        return
        ;;
    esac
}

_tidemark_delete() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all-devices --failed --all --local --remote --dry-run --yes -y --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--device --app --since --until --user)
    __tidemark_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--device')
        return
        ;;
    '--app')
        return
        ;;
    '--since')
        return
        ;;
    '--until')
        return
        ;;
    '--user')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __tidemark_add_completions -W "$(__tidemark_custom_complete ---completion delete -- positional@0 "${COMP_CWORD}" "$(__tidemark_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_tidemark_keep() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all-devices --failed --release --dry-run --utc --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--device --app --since --until --for --user)
    __tidemark_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--device')
        return
        ;;
    '--app')
        return
        ;;
    '--since')
        return
        ;;
    '--until')
        return
        ;;
    '--for')
        return
        ;;
    '--user')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __tidemark_add_completions -W "$(__tidemark_custom_complete ---completion keep -- positional@0 "${COMP_CWORD}" "$(__tidemark_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_tidemark_restore() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--unverified --dry-run --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--from --user)
    __tidemark_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--from')
        __tidemark_add_completions -d
        return
        ;;
    '--user')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __tidemark_add_completions -W "$(__tidemark_custom_complete ---completion restore -- positional@0 "${COMP_CWORD}" "$(__tidemark_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_tidemark_why() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--utc --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--user)
    __tidemark_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __tidemark_add_completions -W "$(__tidemark_custom_complete ---completion why -- positional@0 "${COMP_CWORD}" "$(__tidemark_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_tidemark_redact() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--preview --apply-remote --dry-run --all-devices --failed --count --show-secrets --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--device --app --since --until --file --rules --user)
    __tidemark_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--device')
        return
        ;;
    '--app')
        return
        ;;
    '--since')
        return
        ;;
    '--until')
        return
        ;;
    '--file')
        __tidemark_add_completions -f
        return
        ;;
    '--rules')
        __tidemark_add_completions -f
        return
        ;;
    '--user')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __tidemark_add_completions -W "$(__tidemark_custom_complete ---completion redact -- positional@0 "${COMP_CWORD}" "$(__tidemark_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_tidemark_status() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--utc --json --prometheus --version -h --help)
    repeating_options=()
    non_repeating_options=()
    __tidemark_offer_flags_options 0
}

_tidemark_retry() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all-devices --failed --moved --dry-run --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--device --app --since --until --user)
    __tidemark_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--device')
        return
        ;;
    '--app')
        return
        ;;
    '--since')
        return
        ;;
    '--until')
        return
        ;;
    '--user')
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __tidemark_add_completions -W "$(__tidemark_custom_complete ---completion retry -- positional@0 "${COMP_CWORD}" "$(__tidemark_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_tidemark_alert() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __tidemark_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    pass|silence|status)
        # Offer subcommand argument completions
        "_tidemark_alert_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'pass silence status' -- "${cur}"))
        ;;
    esac
}

_tidemark_alert_pass() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--check --dry-run --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--rules --since --test)
    __tidemark_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--rules')
        return
        ;;
    '--since')
        return
        ;;
    '--test')
        return
        ;;
    esac
}

_tidemark_alert_silence() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--end --list --utc --dry-run --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--device --for --reason --rules)
    __tidemark_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--device')
        return
        ;;
    '--for')
        return
        ;;
    '--reason')
        return
        ;;
    '--rules')
        return
        ;;
    esac
}

_tidemark_alert_status() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--utc --json --version -h --help)
    repeating_options=()
    non_repeating_options=()
    __tidemark_offer_flags_options 0
}

_tidemark_crashes() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all-devices --failed --exit-failed --local --remote --utc --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--device --app --since --until)
    __tidemark_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--device')
        return
        ;;
    '--app')
        return
        ;;
    '--since')
        return
        ;;
    '--until')
        return
        ;;
    esac
}

_tidemark_config() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __tidemark_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    check|show)
        # Offer subcommand argument completions
        "_tidemark_config_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'check show' -- "${cur}"))
        ;;
    esac
}

_tidemark_config_check() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--file)
    __tidemark_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--file')
        __tidemark_add_completions -f
        return
        ;;
    esac
}

_tidemark_config_show() {
    repeating_flags=(--verbose -v)
    non_repeating_flags=(--all --json --version -h --help)
    repeating_options=()
    non_repeating_options=()
    __tidemark_offer_flags_options 0
}

_tidemark_scenario() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __tidemark_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    list|enable|disable|test|forget)
        # Offer subcommand argument completions
        "_tidemark_scenario_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'list enable disable test forget' -- "${cur}"))
        ;;
    esac
}

_tidemark_scenario_list() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=()
    __tidemark_offer_flags_options 0
}

_tidemark_scenario_enable() {
    repeating_flags=()
    non_repeating_flags=(--dry-run --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--for)
    __tidemark_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--for')
        return
        ;;
    esac
}

_tidemark_scenario_disable() {
    repeating_flags=()
    non_repeating_flags=(--dry-run --json --version -h --help)
    repeating_options=()
    non_repeating_options=()
    __tidemark_offer_flags_options 1
}

_tidemark_scenario_test() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __tidemark_offer_flags_options 1
}

_tidemark_scenario_forget() {
    repeating_flags=()
    non_repeating_flags=(--dry-run --json --version -h --help)
    repeating_options=()
    non_repeating_options=()
    __tidemark_offer_flags_options 1
}

_tidemark_help() {
    repeating_flags=()
    non_repeating_flags=(--version)
    repeating_options=()
    non_repeating_options=()
    __tidemark_offer_flags_options -1
}

complete -o filenames -F _tidemark tidemark
