// Who uploads from a program names its sessions, consent and rules as the logging library does.
@_exported public import TidemarkLogging
