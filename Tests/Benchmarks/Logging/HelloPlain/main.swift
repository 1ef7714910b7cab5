import Logging

// A program as small as programs get, to be compared in size with HelloRecorded.
Logger(label: "Hello").info("hello, world")
