import Logging
import TidemarkLogging

// HelloPlain with the library.
Tidemark.start("Hello")
Logger(label: "Hello").info("hello, world")
