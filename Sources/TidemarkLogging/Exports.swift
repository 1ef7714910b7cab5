// Levels, times, sizes, session ids and rules are part of this library's interface: importing it
// makes them visible without importing their targets, which are not products.
@_exported public import LogRecords
@_exported public import Platform
@_exported public import Redaction
@_exported public import SessionLog
