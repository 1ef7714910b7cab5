import ArgumentParser
import Platform

/// In which zone times are printed for people; JSON has universal time.
struct ZoneOptions: ParsableArguments {
  @Flag(help: "Print times in UTC instead of local time.")
  var utc = false

  var zone: LocalZone { utc ? .utc : .current }
}
