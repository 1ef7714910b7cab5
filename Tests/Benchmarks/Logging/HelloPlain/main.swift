import Logging

// A minimal program, whose size is compared with that of HelloRecorded.
Logger(label: "Hello").info("hello, world")
