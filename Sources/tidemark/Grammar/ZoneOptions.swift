import ArgumentParser
import Platform

/// The time zone of times for people; JSON uses UTC.
struct ZoneOptions: ParsableArguments {
  @Flag(help: "Print times in UTC instead of local time.")
  var utc = false

  var zone: LocalZone { utc ? .utc : .current }
}
