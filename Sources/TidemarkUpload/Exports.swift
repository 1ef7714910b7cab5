// A program that uploads uses the logging library's types for sessions, consent and rules.
@_exported public import TidemarkLogging
