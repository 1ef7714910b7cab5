/// The words of `pairs.json` and the rules made from them: secrets identified by the name before
/// them, as in `DB_PASSWORD=…`, `"client_secret": "…"`, `--token …` and `curl -u user:…`.
///
/// A quoted value ends with its quotes, any other with a blank or a separator. How much a value
/// must look like a secret depends on the text before it: text for people also says `password:
/// incorrect`.
struct SecretPairs: Sendable {
  /// Names of secrets that people choose: any value counts.
  let passwords: [String]
  /// Names of generated secrets: the value must look random.
  let tokens: [String]
  /// Suffixes that may follow a token's name within the same word.
  let endings: [String]
  /// Options whose next argument is a secret.
  let options: [String]
  /// Values that are not secrets.
  let none: [String]

  init(_ row: TableRow) {
    passwords = row.requiredTexts("passwords")
    tokens = row.requiredTexts("tokens")
    endings = row.requiredTexts("endings")
    options = row.requiredTexts("options")
    none = row.requiredTexts("none")
  }

  private static let password = "password"
  private static let token = "secret"

  /// Anything but blanks, quotes and separators.
  private static let bare = "^\u{1}-\u{20}\"'\\,;&<>(){}[]|"
  /// The start of a placeholder: `$NAME`, `%s`, `****`.
  private static let placeholder = "$%*:="

  /// A token's value contains no `@` either; names of objects in memory do.
  private static let bareToken = bare + "@"

  /// The rules, specific ones first.
  var rules: [RedactionRule] {
    ["\"", "'"].flatMap(quoted) + [assigned(passwords, Self.password, changes: 0)]
      + [assigned(tokens, Self.token, changes: 2), directory, colon, header] + given + logins
  }

  private typealias Step = RedactionRule.Step

  private func rule(_ anchors: [String], _ kind: String, _ steps: [Step]) -> RedactionRule {
    var rule = RedactionRule(kind: kind, anchors: anchors, steps: steps)
    rule.ignoresCase = true
    rule.keepsAnchor = true
    return rule
  }

  private var ending: Step { Step(words: endings) }

  /// Quoted values: `name": "value"`, with escaped quotes as well.
  private func quoted(_ quote: String) -> [RedactionRule] {
    func steps(_ between: Step, _ value: Step) -> [Step] {
      var (between, value) = (between, value)
      between.bytes = " \t\"'\\:=>(]"
      (between.least, between.most, between.endsBefore) = (0, 16, quote)
      value.bytes = "^\u{1}-\u{1f}\\\(quote)"
      (value.most, value.goesOn, value.isSecret) = (4096, true, true)
      // After an empty value comes a byte that follows values.
      value.notFirst = "\u{1}-\u{20}\"',;:)}]&=*$%"
      return [between, Step(bytes: quote), value]
    }
    return [
      rule(
        passwords + ["pwd"], Self.password, steps(Step(), Step(least: 4, unless: none))),
      rule(
        tokens, Self.token,
        [ending] + steps(Step(needs: ":=>"), Step(least: 12, needs: "0-9", leastChanges: 2))),
    ]
  }

  /// Assigned values: `name=value`.
  private func assigned(_ names: [String], _ kind: String, changes: Int) -> RedactionRule {
    let isToken = changes > 0
    return rule(
      names, kind,
      (isToken ? [ending] : []) + [
        Step(bytes: " \t\"'\\]:", least: 0, most: 4), Step(bytes: "=>", most: 2),
        Step(bytes: " \t", least: 0, most: 4),
        Step(
          bytes: isToken ? Self.bareToken : Self.bare, least: isToken ? 12 : 4, most: 4096,
          goesOn: true, isSecret: true, needs: isToken ? "0-9" : nil, notFirst: Self.placeholder,
          leastChanges: changes, unless: none),
      ])
  }

  /// Values of `PWD=`, except working directories.
  private var directory: RedactionRule {
    rule(
      ["pwd"], Self.password,
      [
        Step(bytes: " \t", least: 0, most: 4), Step(bytes: "="),
        Step(
          bytes: Self.bare, least: 4, most: 4096, goesOn: true, isSecret: true,
          notFirst: Self.placeholder + "/~."),
      ])
  }

  /// Values after a colon, which also occurs in text for people: `password: value`.
  private var colon: RedactionRule {
    rule(
      passwords, Self.password,
      [
        Step(bytes: "\"'\\]", least: 0, most: 3), Step(bytes: ":"),
        Step(bytes: " \t", least: 0, most: 8),
        Step(
          bytes: Self.bare, least: 6, most: 4096, goesOn: true, isSecret: true, needs: "0-9!#%^+@",
          unless: none),
      ])
  }

  /// Values of headers and fields: `X-Api-Key: value`.
  private var header: RedactionRule {
    rule(
      tokens, Self.token,
      [
        ending, Step(bytes: "\"'\\]", least: 0, most: 3), Step(bytes: ":"),
        Step(bytes: " \t[", least: 0, most: 8),
        Step(
          bytes: Self.bareToken, least: 12, most: 4096, goesOn: true, isSecret: true, needs: "0-9",
          leastChanges: 3),
      ])
  }

  /// Values of options: `--password value`.
  private var given: [RedactionRule] {
    [
      rule(
        options, Self.password,
        [
          Step(bytes: " "),
          Step(
            bytes: Self.bare, least: 6, most: 4096, goesOn: true, isSecret: true, needs: "0-9",
            leastChanges: 1,
            unless: none),
        ])
    ]
  }

  /// Logins in options: `-u user:password`.
  private var logins: [RedactionRule] {
    [
      rule(
        [" -u ", " --user ", " --user=", " -u'", " -u\""], Self.password,
        [
          Step(bytes: "\"'", least: 0), Step(bytes: "A-Za-z0-9._@-", most: 64), Step(bytes: ":"),
          Step(
            bytes: "^\u{1}-\u{20}\"'\\/:@", least: 4, most: 1024, goesOn: true, isSecret: true,
            needs: "0-9",
            leastChanges: 1),
        ])
    ]
  }
}
