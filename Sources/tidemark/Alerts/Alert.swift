import ArgumentParser

/// `tidemark alert`.
struct Alert: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "alert",
    abstract: "Report crashes, errors and silence of all devices in a store: a cron line.",
    discussion: """
      Rules are in alerts.yaml in the home:

      alerts:
      - name: crashed
        when: crash                # crash, level, pattern, rate or silence
        exit-failed: true          # also exits other than 0
      - name: errors
        when: level
        level: ERROR               # as --level takes it
      - name: timeouts
        when: rate
        pattern: 'time-?out'       # or level, or both
        more-than: 10
        within: 5m
        per: device                # or session, app, user, rule
      - name: kiosk-silent
        when: silence
        device: 'kiosk-*'          # one or a list
        longer-than: 30m
        no-longer-than: 7d         # given up then; otherwise never
        between: 08:00-20:00 Europe/Berlin
        then: [hook]
      targets:
        mail: {command: [/usr/local/bin/notify, ops]}
        hook:
          webhook: https://hooks.example/x
          form: slack              # or json, ntfy, text
          header-file: /etc/tidemark/headers
      defaults: {then: [mail], repeat: 4h, keep: 5m, group: 1m}
      heartbeat: https://hc.example/ping/x
      most: 20

      Patterns are POSIX extended expressions. Each rule may choose among sessions by app, user and \
      device, and among records by category and scenario.

      An alert is reported when its rule matches, or has matched for 'for'; again every 'repeat' while \
      it lasts; and once more when nothing has matched for 'keep', unless 'resolve: false'. Crashes \
      with the same program, cause and last lines (without numbers, ids, addresses and temporary \
      paths) are one alert. What fires within 'group' is reported together. Without 'then' a line is \
      printed, which cron mails. The alert of a silent device ends when it is heard of again, when \
      nothing of it is left in the store for two days, and after 'no-longer-than'.

      A command gets the alert as JSON on standard input, and TIDEMARK_ALERT, _STATE, _DEVICE and \
      _SESSION; no shell and no argument sees text of a log. A webhook gets it by POST with an \
      Idempotency-Key, as json, slack, ntfy or text; a redirection to another server is not followed. \
      A target that fails is tried again after 1, 2, 4, 8 and 15 minutes for a day.

      Only what is new since the last pass is read. The first pass, and the first after operator/alerts.json \
      was lost, reports nothing older than an hour.

      Fields of the JSON: id, alert, state (firing or resolved), fingerprint, since, last, count, new \
      (matches that no earlier message counted), devices (how many), firstVersion, device (id, name), \
      user, app, version, session, cause, signature, level, lines (up to 5, redacted as they are \
      stored), headline (of a crash, the line that says most), offset, command, reason (why a silence \
      ended otherwise), others, otherCount, otherDevices (with the count of each), omitted, \
      omittedDevices, text.
      """,
    subcommands: [AlertPassCommand.self, AlertSilenceCommand.self, AlertStatusCommand.self],
    defaultSubcommand: AlertPassCommand.self)
}

/// Options that name the file of rules.
struct AlertRuleOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Another file than alerts.yaml in the home.", valueName: "file"))
  var rules: String?

  func settings(_ setup: CommandContext) throws -> AlertSettings {
    try AlertSettings(path: rules ?? setup.home.alertRulesPath)
  }
}
