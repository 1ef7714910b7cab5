/// The words of `pairs.json` and the rules made of them: secrets known by the name before them, as in
/// `DB_PASSWORD=…`, `"client_secret": "…"`, `--token …` and `curl -u user:…`.
///
/// A value in quotes ends with them, any other with a blank or a sign that separates values. How much
/// a value must look like a secret depends on what stands before it: text for people also says
/// `password: incorrect`.
struct SecretPairs: Sendable, Decodable {
  /// Names of what a person may have chosen: any value counts.
  let passwords: [String]
  /// Names of what a machine has made: the value must look random.
  let tokens: [String]
  /// What may follow a name of a token within the same word.
  let endings: [String]
  /// Options that take a secret as the next argument.
  let options: [String]
  /// Values that are none.
  let none: [String]

  private static let password = "password"
  private static let token = "secret"

  /// No blank, no quote and nothing that separates values.
  private static let bare = "^\u{1}-\u{20}\"'\\,;&<>(){}[]|"
  /// What stands for a value begins so: `$NAME`, `%s`, `****`.
  private static let placeholder = "$%*:="

  /// A value of a token has no `@` either, as the names of objects in memory have.
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

  /// Values in quotes: `name": "value"`, with the quotes escaped as well.
  private func quoted(_ quote: String) -> [RedactionRule] {
    func steps(_ between: Step, _ value: Step) -> [Step] {
      var (between, value) = (between, value)
      between.bytes = " \t\"'\\:=>(]"
      (between.least, between.most, between.endsBefore) = (0, 16, quote)
      value.bytes = "^\u{1}-\u{1f}\\\(quote)"
      (value.most, value.isSecret) = (4096, true)
      // An empty value is followed by what follows a value.
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

  /// Values that are assigned: `name=value`.
  private func assigned(_ names: [String], _ kind: String, changes: Int) -> RedactionRule {
    let isToken = changes > 0
    return rule(
      names, kind,
      (isToken ? [ending] : []) + [
        Step(bytes: " \t\"'\\]:", least: 0, most: 4), Step(bytes: "=>", most: 2),
        Step(bytes: " \t", least: 0, most: 4),
        Step(
          bytes: isToken ? Self.bareToken : Self.bare, least: isToken ? 12 : 4, most: 4096,
          isSecret: true, needs: isToken ? "0-9" : nil, notFirst: Self.placeholder,
          leastChanges: changes, unless: none),
      ])
  }

  /// Values of `PWD=`, but no working directory.
  private var directory: RedactionRule {
    rule(
      ["pwd"], Self.password,
      [
        Step(bytes: " \t", least: 0, most: 4), Step(bytes: "="),
        Step(
          bytes: Self.bare, least: 4, most: 4096, isSecret: true,
          notFirst: Self.placeholder + "/~."),
      ])
  }

  /// Values after a colon, which text for people has as well: `password: value`.
  private var colon: RedactionRule {
    rule(
      passwords, Self.password,
      [
        Step(bytes: "\"'\\]", least: 0, most: 3), Step(bytes: ":"),
        Step(bytes: " \t", least: 0, most: 8),
        Step(
          bytes: Self.bare, least: 6, most: 4096, isSecret: true, needs: "0-9!#%^+@", unless: none),
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
          bytes: Self.bareToken, least: 12, most: 4096, isSecret: true, needs: "0-9",
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
            bytes: Self.bare, least: 6, most: 4096, isSecret: true, needs: "0-9", leastChanges: 1,
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
            bytes: "^\u{1}-\u{20}\"'\\/:@", least: 4, most: 1024, isSecret: true, needs: "0-9",
            leastChanges: 1),
        ])
    ]
  }
}
