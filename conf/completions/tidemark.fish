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
            __tidemark_parse_subcommand 1 'machine' 'version' 'h/help'
        case 'run'
            __tidemark_parse_subcommand -r 1 'app=' 'no-upload' 'version' 'h/help'
        case 'log'
            __tidemark_parse_subcommand 0 'app=' 'no-upload' 'version' 'h/help'
        case 'import'
            __tidemark_parse_subcommand -r 1 'app=' 'user=' 'category=' 'version' 'h/help'
        case 'upload'
            __tidemark_parse_subcommand 0 'every=' 'transfers=' 'dry-run' 'now' 'json' 'version' 'h/help'
        case 'list'
            __tidemark_parse_subcommand 0 'local' 'remote' 'failed' 'all' 'device=' 'all-devices' 'json' 'user=' 'version' 'h/help'
        case 'show'
            __tidemark_parse_subcommand 1 'local' 'remote' 'level=' 'since=' 'until=' 'n/lines=' 'salvage' 'plain' 'raw' 'user=' 'version' 'h/help'
        case 'export'
            __tidemark_parse_subcommand -r 1 'o/output=' 'local' 'remote' 'level=' 'since=' 'until=' 'n/lines=' 'salvage' 'user=' 'version' 'h/help'
        case 'pull'
            __tidemark_parse_subcommand -r 2 'device=' 'all-devices' 'names' 'dry-run' 'transfers=' 'json' 'version' 'h/help'
        case 'verify'
            __tidemark_parse_subcommand -r 1 'repair' 'user=' 'version' 'h/help'
        case 'reap'
            __tidemark_parse_subcommand 0 'local' 'remote' 'older-than=' 'dry-run' 'explain' 'force' 'version' 'h/help'
        case 'delete'
            __tidemark_parse_subcommand -r 1 'all' 'local' 'remote' 'y/yes' 'user=' 'version' 'h/help'
        case 'status'
            __tidemark_parse_subcommand 0 'json' 'version' 'h/help'
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
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'run' -d 'Run a program, its console as before, and record the session.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'log' -d 'Record standard input as a session and pass it on to standard output.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'import' -d 'Make sessions of log files as they stand, .gz and .zst unpacked.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'upload' -d 'Send what is new, seal what has ended, reap what is due: the cron line.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'list' -d 'List sessions, newest first, local and remote side by side.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'show' -d 'Print a session\'s log.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'export' -d 'Write sessions as text files with a header that says where they come from.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'pull' -d 'Mirror sessions of the store into a folder, as plain .log and .json files.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'verify' -d 'Read sessions back from the store and prove that every byte is there.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'reap' -d 'Delete sessions that are old enough: 7 days here, 30 days in the store.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'delete' -d 'Delete sessions here, in the store, or both, after asking.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'status' -d 'Say where everything is, what is not yet uploaded, and what went wrong.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_positional "tidemark" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark init" machine' -l 'machine' -d 'Configure the machine for all its users; for root.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark init" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark init" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark run" app' -l 'app' -d 'The program\'s name in lists; its file name by default.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark run" no-upload' -l 'no-upload' -d 'Leave the upload at the end to cron.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark run" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark run" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark log" app' -l 'app' -d 'The program\'s name in lists.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark log" no-upload' -l 'no-upload' -d 'Leave the upload at the end to cron.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark log" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark log" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark import" app' -l 'app' -d 'The program that wrote them; by default the file\'s name up to its first dot.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark import" user' -l 'user' -d 'The user that it ran as; by default the file\'s owner.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark import" category' -l 'category' -d 'The category of records that name none.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark import" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark import" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload" every' -l 'every' -d 'Go on and repeat after this time, 60s say.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload" transfers' -l 'transfers' -d 'Requests under way at once, 1 to 64.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload" dry-run' -l 'dry-run' -d 'Print what would be sent and send nothing.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload" now' -l 'now' -d 'Try sessions at once whose next attempt is not due yet.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark upload" json' -l 'json' -d 'Print the result as JSON.'
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
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark list" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark list" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" local' -l 'local' -d 'This machine\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" remote' -l 'remote' -d 'The store\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" level' -l 'level' -d 'Only records of this level and above: TRACE DEBUG INFO SUCCESS WARNING ERROR FAULT.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" since' -l 'since' -d 'Only records since then: 2h, 3d, or 2026-01-22T14:30:05Z.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" until' -l 'until' -d 'Only records until then, in the same forms.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" lines n' -s 'n' -l 'lines' -d 'Only the last of the lines.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" salvage' -l 'salvage' -d 'Go on past what is missing or damaged in the store.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" plain' -l 'plain' -d 'What the program printed, without our prefixes.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" raw' -l 'raw' -d 'The stream\'s exact bytes.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark show" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" o output' -l 'output' -s 'o' -d 'A folder, or - for standard output.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" local' -l 'local' -d 'This machine\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" remote' -l 'remote' -d 'The store\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" level' -l 'level' -d 'Only records of this level and above: TRACE DEBUG INFO SUCCESS WARNING ERROR FAULT.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" since' -l 'since' -d 'Only records since then: 2h, 3d, or 2026-01-22T14:30:05Z.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" until' -l 'until' -d 'Only records until then, in the same forms.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" lines n' -s 'n' -l 'lines' -d 'Only the last of the lines.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" salvage' -l 'salvage' -d 'Go on past what is missing or damaged in the store.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark export" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" device' -l 'device' -d 'Another device\'s sessions, by its name or id.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" all-devices' -l 'all-devices' -d 'Every device\'s sessions.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" names' -l 'names' -d 'Also link attached files\' logs below their original paths, DIR/<device>/names/.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" dry-run' -l 'dry-run' -d 'Only say what would be fetched.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" transfers' -l 'transfers' -d 'Sessions fetched at once, 1 to 64.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" json' -l 'json' -d 'A summary as a JSON object.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark pull" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark verify" repair' -l 'repair' -d 'Send again, from the local log, what is missing or damaged.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark verify" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark verify" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark verify" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" local' -l 'local' -d 'This machine\'s copies.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" remote' -l 'remote' -d 'The store\'s copies.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" older-than' -l 'older-than' -d 'Another age than the configured ones: 1s, 12h, 30d.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" dry-run' -l 'dry-run' -d 'Delete nothing.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" explain' -l 'explain' -d 'Say why each session goes or stays.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" force' -l 'force' -d 'Carry out also a plan that is refused for its size.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark reap" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark delete" all' -l 'all' -d 'All of this device\'s sessions.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark delete" local' -l 'local' -d 'This machine\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark delete" remote' -l 'remote' -d 'The store\'s copies only.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark delete" y yes' -l 'yes' -s 'y' -d 'Do not ask.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark delete" user' -l 'user' -d 'Another user\'s sessions; for root, where the machine is configured for all users.' -rfka ''
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark delete" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark delete" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark status" json' -l 'json' -d 'One JSON object.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark status" version' -l 'version' -d 'Show the version.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark status" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'tidemark' -n '__tidemark_should_offer_completions_for_flags_or_options "tidemark help" version' -l 'version' -d 'Show the version.'
