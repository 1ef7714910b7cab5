function __tidemark_should_offer_completions_for_flags_or_options -a expected_commands
    set -l non_repeating_flags_or_options $argv[2..]
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __tidemark_parse_tokens
    test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
end

function __tidemark_should_offer_completions_for_positional -a expected_commands positional_index_comparison expected_positional_index
    set -l non_repeating_flags_or_options
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __tidemark_parse_tokens
    test "$commands" = "$expected_commands" -a \( "$positional_index" "$positional_index_comparison" "$expected_positional_index" \)
end

function __tidemark_parse_tokens -S
    set -l unparsed_tokens (__tidemark_tokens -pc)
    switch $unparsed_tokens[1]
    case 'tidemark'
        __tidemark_parse_subcommand 0 'version' 'h/help'
        switch $unparsed_tokens[1]
        case 'init'
            __tidemark_parse_subcommand 1 'restore-marker' 'machine' 'allow-plaintext' 'v/verbose' 'version' 'h/help'
        case 'doctor'
            __tidemark_parse_subcommand 1 'json' 'v/verbose' 'version' 'h/help'
        case 'run'
            __tidemark_parse_subcommand -r 1 'app=' 'pty' 'as-is' 'survive' 'no-upload' 'v/verbose' 'version' 'h/help'
        case 'log'
            __tidemark_parse_subcommand -r 2 'app=' 'session=' 'category=' 'scenario=' 'as-is' 'no-upload' 'v/verbose' 'version' 'h/help'
        case 'play'
            __tidemark_parse_subcommand 1 'speed=' 'i/idle-time-limit=' 'local' 'remote' 'user=' 'v/verbose' 'version' 'h/help'
        case 'import'
            __tidemark_parse_subcommand -r 1 'app=' 'user=' 'category=' 'v/verbose' 'version' 'h/help'
        case 'upload'
            __tidemark_parse_subcommand 0 'every=' 'wait=' 'transfers=' 'limit-rate=' 'max-requests=' 'allow-plaintext' 'dry-run' 'now' 'json' 'v/verbose' 'version' 'h/help'
        case 'list'
            __tidemark_parse_subcommand 0 'local' 'remote' 'failed' 'all' 'device=' 'all-devices' 'json' 'user=' 'v/verbose' 'version' 'h/help'
        case 'show'
            __tidemark_parse_subcommand 1 'local' 'remote' 'level=' 'since=' 'until=' 'category=+' 'scenario=+' 'stream=' 'n/lines=' 'salvage' 'plain' 'raw' 'user=' 'v/verbose' 'version' 'h/help'
        case 'tail'
            __tidemark_parse_subcommand -r 1 'device=' 'all-devices' 'app=' 'failed' 'n/lines=' 'f/follow' 'every=' 'level=' 'since=' 'until=' 'category=+' 'scenario=+' 'stream=' 'local' 'remote' 'json' 'user=' 'v/verbose' 'version' 'h/help'
        case 'grep'
            __tidemark_parse_subcommand -r 2 'device=' 'all-devices' 'app=' 'failed' 'level=' 'since=' 'until=' 'category=+' 'scenario=+' 'stream=' 'local' 'remote' 'F/fixed-strings' 'i/ignore-case' 'v/invert-match' 'c/count' 'l/sessions-with-matches' 'A/after-context=' 'B/before-context=' 'C/context=' 'm/max-count=' 'json' 'user=' 'verbose' 'version' 'h/help'
        case 'export'
            __tidemark_parse_subcommand -r 1 'device=' 'all-devices' 'app=' 'failed' 'o/output=' 'format=' 'merge' 'no-clock-offset' 'local' 'remote' 'level=' 'since=' 'until=' 'category=+' 'scenario=+' 'stream=' 'n/lines=' 'salvage' 'user=' 'v/verbose' 'version' 'h/help'
        case 'pull'
            __tidemark_parse_subcommand -r 2 'device=' 'all-devices' 'names' 'salvage' 'dry-run' 'transfers=' 'json' 'v/verbose' 'version' 'h/help'
        case 'verify'
            __tidemark_parse_subcommand -r 1 'repair' 'deep' 'sample=' 'device=' 'all-devices' 'user=' 'v/verbose' 'version' 'h/help'
        case 'reap'
            __tidemark_parse_subcommand 0 'local' 'remote' 'all-devices' 'older-than=' 'dry-run' 'explain' 'trust-server-clock' 'force' 'print-lifecycle' 'install-lifecycle' 'longest-session=' 'yes' 'v/verbose' 'version' 'h/help'
        case 'delete'
            __tidemark_parse_subcommand -r 1 'all' 'local' 'remote' 'y/yes' 'user=' 'v/verbose' 'version' 'h/help'
        case 'keep'
            __tidemark_parse_subcommand -r 1 'for=' 'release' 'json' 'user=' 'v/verbose' 'version' 'h/help'
        case 'restore'
            __tidemark_parse_subcommand 1 'from=' 'json' 'user=' 'v/verbose' 'version' 'h/help'
        case 'why'
            __tidemark_parse_subcommand 1 'json' 'user=' 'v/verbose' 'version' 'h/help'
        case 'redact'
            __tidemark_parse_subcommand -r 1 'preview' 'apply-remote' 'dry-run' 'file=' 'rules=' 'count' 'show-secrets' 'json' 'user=' 'v/verbose' 'version' 'h/help'
        case 'status'
            __tidemark_parse_subcommand 0 'json' 'v/verbose' 'version' 'h/help'
        case 'retry'
            __tidemark_parse_subcommand -r 1 'user=' 'v/verbose' 'version' 'h/help'
        case 'help'
            __tidemark_parse_subcommand -r 1 'version'
        end
    end
end

function __tidemark_tokens
    if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
        commandline --tokens-raw $argv
    else
        commandline -o $argv
    end
end

function __tidemark_parse_subcommand -S -a positional_count
    argparse -s r -- $argv
    set -l option_specs $argv[2..]
    set -l is_repeating_positional $_flag_r
    set -el _flag_r
    set -a commands $unparsed_tokens[1]
    set positional_index 0
    while true
        set -e unparsed_tokens[1]
        argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null
        set unparsed_tokens $argv
        set positional_index (math $positional_index + 1)
        for non_repeating_flag_or_option in $non_repeating_flags_or_options
            if set -ql "_flag_$(string replace -a - _ -- $non_repeating_flag_or_option)"
                set non_repeating_flags_or_options_absent 1
                break
            end
        end
        test (count $unparsed_tokens) -eq 0 -o \( -z "$is_repeating_positional" -a "$positional_index" -gt "$positional_count" \) && break
    end
end

function __tidemark_complete_directories
    set -l token (commandline -t)
    string match -- '*/' $token
    set -l subdirs $token*/
    printf %s\n $subdirs
end

function __tidemark_custom_completion
    set -x SAP_SHELL fish
    set -x SAP_SHELL_VERSION $FISH_VERSION
    set -l tokens (__tidemark_tokens -p)
    if test -z "$(__tidemark_tokens -t)"
        set -l index (count (__tidemark_tokens -pc))
        set tokens $tokens[..$index] \'\' $tokens[(math $index + 1)..]
    end
    command $tokens[1] $argv $tokens
end

complete -c 'tidemark' -f
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'init' -d 'Write a configuration and try the store.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'doctor' -d 'Try all that is asked of the store, and say what cron would use.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'run' -d 'Run a program, its console as before, and record the session.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'log' -d 'Record standard input as a session, or add a record to a running one.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'play' -d 'Show a session again as it came over the terminal.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'import' -d 'Make sessions of log files as they stand, .gz and .zst unpacked.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'upload' -d 'Send what is new, seal what has ended, reap what is due: the cron line.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'list' -d 'List sessions, newest first, local and remote side by side.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'show' -d 'Print a session\'s log.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'tail' -d 'Print the last lines of sessions, and with -f what comes, until they end.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'grep' -d 'Look for lines in sessions, here and in the store.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'export' -d 'Write sessions as text, JSON lines, tar or asciicast.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'pull' -d 'Mirror sessions of the store into a folder, as plain .log and .json files.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'verify' -d 'Read sessions back from the store and prove that every byte is there.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'reap' -d 'Delete sessions that are old enough: 7 days here, 30 days in the store.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'delete' -d 'Delete sessions here, in the store, or both, after asking.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'keep' -d 'Keep sessions beyond their retention, on this machine and in the store.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'restore' -d 'Bring back a session that is no longer on this machine.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'why' -d 'Say what this home has deleted of a session, when, and on what evidence.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'redact' -d 'Show what redaction masks before logs leave this machine.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'status' -d 'Say where everything is, what is not yet uploaded, and what went wrong.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'retry' -d 'Let the next upload try again at once what failed and waits.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark init" restore-marker' -l 'restore-marker' -d 'Put the missing marker back into a store that this home has used.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark init" machine' -l 'machine' -d 'Configure the machine for all its users; for root.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark init" allow-plaintext' -l 'allow-plaintext' -d 'Accept http:// to another machine: all on the way may read logs and password.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark init"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark init" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark init" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark doctor" json' -l 'json' -d 'One JSON object.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark doctor"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark doctor" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark doctor" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark run" app' -l 'app' -d 'The program\'s name in lists; its file name by default.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark run" pty' -l 'pty' -d 'Give the program a terminal of its own.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark run" as-is' -l 'as-is' -d 'Record the program\'s bytes and nothing else: no times, no levels.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark run" survive' -l 'survive' -d 'Record in a process apart: program and session survive the end of this one.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark run" no-upload' -l 'no-upload' -d 'Leave all uploads to cron.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark run"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark run" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark run" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark log" app' -l 'app' -d 'The program\'s name in lists.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark log" session' -l 'session' -d 'The running session to add to.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark log" category' -l 'category' -d 'The record\'s category.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark log" scenario' -l 'scenario' -d 'The scenario that the record belongs to.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark log" as-is' -l 'as-is' -d 'Record the bytes and nothing else: no times, no levels.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark log" no-upload' -l 'no-upload' -d 'Leave all uploads to cron.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark log"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark log" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark log" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark play" speed' -l 'speed' -d 'So many times as fast.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark play" i idle-time-limit' -s 'i' -l 'idle-time-limit' -d 'No pause longer than this: 2s, say.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark play" local' -l 'local' -d 'This machine\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark play" remote' -l 'remote' -d 'The store\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark play" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark play"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark play" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark play" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark import" app' -l 'app' -d 'The program that wrote them; by default the file\'s name up to its first dot.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark import" user' -l 'user' -d 'The user that it ran as; by default the file\'s owner.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark import" category' -l 'category' -d 'The category of records that name none.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark import"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark import" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark import" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload" every' -l 'every' -d 'Go on and repeat after this time, 60s say.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload" wait' -l 'wait' -d 'Wait so long for another upload to end, 10s say, rather than leave it to that.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload" transfers' -l 'transfers' -d 'Requests under way at once, 1 to 64; otherwise 12, or 32 small ones.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload" limit-rate' -l 'limit-rate' -d 'Bytes a second of all requests together, both ways: 500K, 2M.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload" max-requests' -l 'max-requests' -d 'Requests to send at the most, from 8; the next upload goes on.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload" allow-plaintext' -l 'allow-plaintext' -d 'Accept http:// to another machine: all on the way may read logs and password.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload" dry-run' -l 'dry-run' -d 'Print what would be sent and send nothing.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload" now' -l 'now' -d 'Try at once also what failed and whose next attempt is not due yet.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload" json' -l 'json' -d 'Print the result as JSON.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark list" local' -l 'local' -d 'This machine\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark list" remote' -l 'remote' -d 'The store\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark list" failed' -l 'failed' -d 'Only sessions that crashed or exited with a status other than 0.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark list" all' -l 'all' -d 'All sessions, not the newest 50.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark list" device' -l 'device' -d 'Another device\'s sessions, by its name or id.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark list" all-devices' -l 'all-devices' -d 'Every device\'s sessions.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark list" json' -l 'json' -d 'One JSON object a line.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark list" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark list"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark list" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark list" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" local' -l 'local' -d 'This machine\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" remote' -l 'remote' -d 'The store\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" level' -l 'level' -d 'Only records of this level and above: TRACE DEBUG INFO SUCCESS WARNING ERROR FAULT.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" since' -l 'since' -d 'Only records since then: 2h, 3d, or 2026-01-22T14:30:05Z.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" until' -l 'until' -d 'Only records until then, in the same forms.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show"' -l 'category' -d 'Only records of this category; may be repeated.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show"' -l 'scenario' -d 'Only records of this scenario; may be repeated.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" stream' -l 'stream' -d 'Only what a program printed there: stdout or stderr.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" lines n' -s 'n' -l 'lines' -d 'Only the last of the lines.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" salvage' -l 'salvage' -d 'Go on past what is missing or damaged in the store.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" plain' -l 'plain' -d 'What the program printed, without our prefixes.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" raw' -l 'raw' -d 'The stream\'s exact bytes.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" device' -l 'device' -d 'Another device\'s sessions, by its name or id.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" all-devices' -l 'all-devices' -d 'Every device\'s sessions.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" app' -l 'app' -d 'Only sessions of this program.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" failed' -l 'failed' -d 'Only sessions that crashed or exited with a status other than 0.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" lines n' -s 'n' -l 'lines' -d 'So many lines of each session.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" f follow' -l 'follow' -s 'f' -d 'Go on with what comes until the sessions end.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" every' -l 'every' -d 'How often the store is asked: 10s, 1m.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" level' -l 'level' -d 'Only records of this level and above: TRACE DEBUG INFO SUCCESS WARNING ERROR FAULT.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" since' -l 'since' -d 'Only records since then: 2h, 3d, or 2026-01-22T14:30:05Z.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" until' -l 'until' -d 'Only records until then, in the same forms.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail"' -l 'category' -d 'Only records of this category; may be repeated.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail"' -l 'scenario' -d 'Only records of this scenario; may be repeated.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" stream' -l 'stream' -d 'Only what a program printed there: stdout or stderr.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" local' -l 'local' -d 'This machine\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" remote' -l 'remote' -d 'The store\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" json' -l 'json' -d 'One JSON object a record.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark tail" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" device' -l 'device' -d 'Another device\'s sessions, by its name or id.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" all-devices' -l 'all-devices' -d 'Every device\'s sessions.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" app' -l 'app' -d 'Only sessions of this program.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" failed' -l 'failed' -d 'Only sessions that crashed or exited with a status other than 0.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" level' -l 'level' -d 'Only records of this level and above: TRACE DEBUG INFO SUCCESS WARNING ERROR FAULT.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" since' -l 'since' -d 'Only records since then: 2h, 3d, or 2026-01-22T14:30:05Z.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" until' -l 'until' -d 'Only records until then, in the same forms.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep"' -l 'category' -d 'Only records of this category; may be repeated.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep"' -l 'scenario' -d 'Only records of this scenario; may be repeated.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" stream' -l 'stream' -d 'Only what a program printed there: stdout or stderr.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" local' -l 'local' -d 'This machine\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" remote' -l 'remote' -d 'The store\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" F fixed-strings' -s 'F' -l 'fixed-strings' -d 'PATTERN is a text, not an expression.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" i ignore-case' -l 'ignore-case' -s 'i' -d 'ASCII letters of either case are alike.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" invert-match v' -s 'v' -l 'invert-match' -d 'Lines that do not match.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" c count' -l 'count' -s 'c' -d 'Only how many lines match, for each session.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" l sessions-with-matches' -s 'l' -l 'sessions-with-matches' -d 'Only the sessions in which a line matches.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" A after-context' -s 'A' -l 'after-context' -d 'Lines after each match too.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" B before-context' -s 'B' -l 'before-context' -d 'Lines before each match too.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" C context' -s 'C' -l 'context' -d 'Lines before and after each match too.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" m max-count' -l 'max-count' -s 'm' -d 'At most so many matches of a session.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" json' -l 'json' -d 'One JSON object a matching line.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep"' -l 'verbose' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark grep" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" device' -l 'device' -d 'Another device\'s sessions, by its name or id.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" all-devices' -l 'all-devices' -d 'Every device\'s sessions.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" app' -l 'app' -d 'Only sessions of this program.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" failed' -l 'failed' -d 'Only sessions that crashed or exited with a status other than 0.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" o output' -l 'output' -s 'o' -d 'A folder, or a file for tar and --merge; - for standard output.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" format' -l 'format' -d 'text, jsonl, tar or asciicast.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" merge' -l 'merge' -d 'All sessions on one time line.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" no-clock-offset' -l 'no-clock-offset' -d 'With --merge, leave the times as the devices wrote them.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" local' -l 'local' -d 'This machine\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" remote' -l 'remote' -d 'The store\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" level' -l 'level' -d 'Only records of this level and above: TRACE DEBUG INFO SUCCESS WARNING ERROR FAULT.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" since' -l 'since' -d 'Only records since then: 2h, 3d, or 2026-01-22T14:30:05Z.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" until' -l 'until' -d 'Only records until then, in the same forms.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export"' -l 'category' -d 'Only records of this category; may be repeated.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export"' -l 'scenario' -d 'Only records of this scenario; may be repeated.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" stream' -l 'stream' -d 'Only what a program printed there: stdout or stderr.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" lines n' -s 'n' -l 'lines' -d 'Only the last of the lines.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" salvage' -l 'salvage' -d 'Go on past what is missing or damaged in the store.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" device' -l 'device' -d 'Another device\'s sessions, by its name or id.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" all-devices' -l 'all-devices' -d 'Every device\'s sessions.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" names' -l 'names' -d 'Also link attached files\' logs below their original paths, DIR/<device>/names/.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" salvage' -l 'salvage' -d 'Read what can be read of damaged sessions, too.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" dry-run' -l 'dry-run' -d 'Only say what would be fetched.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" transfers' -l 'transfers' -d 'Sessions fetched at once, 1 to 64; otherwise 12.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" json' -l 'json' -d 'A summary as a JSON object.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark verify" repair' -l 'repair' -d 'Send again, from the local log, what is missing or damaged.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark verify" deep' -l 'deep' -d 'Read every object that seals name, and remember for \'status\' that it was done.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark verify" sample' -l 'sample' -d 'With --deep: only so many sealed sessions, chosen at random.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark verify" device' -l 'device' -d 'Another device\'s sessions, by its name or id.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark verify" all-devices' -l 'all-devices' -d 'Every device\'s sessions.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark verify" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark verify"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark verify" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark verify" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" local' -l 'local' -d 'This machine\'s copies.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" remote' -l 'remote' -d 'The store\'s copies.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" all-devices' -l 'all-devices' -d 'With --remote: the copies of all devices; for operators.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" older-than' -l 'older-than' -d 'Another age than the configured ones: 1s, 12h, 30d.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" dry-run' -l 'dry-run' -d 'Delete nothing.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" explain' -l 'explain' -d 'Say why each session goes or stays.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" trust-server-clock' -l 'trust-server-clock' -d 'With --remote: take ages from the server\'s clock alone, in a home that is not kept.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" force' -l 'force' -d 'Delete also when that is most of what is there.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" print-lifecycle' -l 'print-lifecycle' -d 'Print the rule by which S3 deletes what devices leave that never come back.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" install-lifecycle' -l 'install-lifecycle' -d 'Put that rule into the bucket\'s configuration, beside the rules of others.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" longest-session' -l 'longest-session' -d 'How long a session may go on: the rule counts from each object by itself, and takes the beginning of a session that goes on for longer.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" yes' -l 'yes' -d 'Install without asking.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark delete" all' -l 'all' -d 'All of this device\'s sessions.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark delete" local' -l 'local' -d 'This machine\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark delete" remote' -l 'remote' -d 'The store\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark delete" y yes' -l 'yes' -s 'y' -d 'Do not ask.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark delete" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark delete"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark delete" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark delete" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark keep" for' -l 'for' -d 'How long: 90d, 4w; at most ten years.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark keep" release' -l 'release' -d 'End the hold.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark keep" json' -l 'json' -d 'One JSON object a line.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark keep" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark keep"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark keep" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark keep" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark restore" from' -l 'from' -d 'A mirror to take it from.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark restore" json' -l 'json' -d 'A JSON object.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark restore" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark restore"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark restore" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark restore" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark why" json' -l 'json' -d 'One JSON object a line.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark why" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark why"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark why" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark why" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark redact" preview' -l 'preview' -d 'Show what would be masked.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark redact" apply-remote' -l 'apply-remote' -d 'Redact what is in the store by the configured rules.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark redact" dry-run' -l 'dry-run' -d 'With --apply-remote: only say what would be sent anew.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark redact" file' -l 'file' -d 'Instead of sessions: a file, or - for standard input.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark redact" rules' -l 'rules' -d 'Take \'redact:\' from this file instead of the configuration.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark redact" count' -l 'count' -d 'Only count, by kind.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark redact" show-secrets' -l 'show-secrets' -d 'Show the secrets themselves; at a terminal only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark redact" json' -l 'json' -d 'One JSON object a line: each place, or with --count each log.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark redact" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark redact"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark redact" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark redact" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark status" json' -l 'json' -d 'One JSON object.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark status"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark status" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark status" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark retry" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark retry"' -l 'verbose' -s 'v' -d 'Report what happens and why on standard error; twice: also every request.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark retry" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark retry" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark help" version' -l 'version' -d 'Show the version.'
