// Levels, times, sizes, session ids and rules are part of this library's interface: who imports it sees
// them without importing the targets that they are in, which are no products.
@_exported public import LogRecords
@_exported public import Platform
@_exported public import Redaction
@_exported public import SessionLog
