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
  let tokenEndings: [String]
  /// Suffixes that may follow a password's name within the same word.
  let passwordEndings: [String]
  /// Options whose next argument is a secret.
  let options: [String]
  /// Values that are not secrets.
  let none: [String]

  init(_ row: TableRow) {
    passwords = row.requiredTexts("passwords")
    tokens = row.requiredTexts("tokens")
    tokenEndings = Self.longestFirst(row.requiredTexts("tokenEndings"))
    passwordEndings = Self.longestFirst(row.requiredTexts("passwordEndings"))
    options = row.requiredTexts("options")
    none = row.requiredTexts("none")
  }

  /// Of several words that match, a step takes the first.
  private static func longestFirst(_ words: [String]) -> [String] {
    words.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
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
    ["\"", "'"].flatMap(quoted)
      + [assigned(passwords + Self.abbreviations, Self.password, changes: 0)]
      + [assigned(tokens, Self.token, changes: 2), hash, directory, braced, colon, header]
      + beside + given + logins
  }

  private typealias Step = RedactionRule.Step

  private func rule(_ anchors: [String], _ kind: String, _ steps: [Step]) -> RedactionRule {
    var rule = RedactionRule(kind: kind, anchors: anchors, steps: steps)
    rule.ignoresCase = true
    rule.keepsAnchor = true
    return rule
  }

  private var tokenEnding: Step { Step(words: tokenEndings) }
  private var passwordEnding: Step { Step(words: passwordEndings) }

  /// Bytes that follow a value, or begin a placeholder: where one should begin, there is none.
  private static let afterValue = "\u{1}-\u{20}\"',;:)}]&=*$%"
  /// Anything but control characters, backslashes and quotes of a kind.
  private static func inside(_ quote: String) -> String { "^\u{1}-\u{1f}\\\(quote)" }
  /// The same with backslashes.
  private static func escaped(_ quote: String) -> String { "^\u{1}-\u{1f}\(quote)" }

  /// Names of passwords that are words of their own only within quotes or after an underscore.
  private static let abbreviations = ["_pass"]

  /// The masked part of a rule, which takes as many of these bytes as follow.
  private func secret(
    _ bytes: String, least: Int, needs: String? = nil, notFirst: String? = nil,
    changes: Int? = nil, unless: [String]? = nil
  ) -> Step {
    Step(
      bytes: bytes, least: least, most: 4096, goesOn: true, isSecret: true, needs: needs,
      notFirst: notFirst, leastChanges: changes, unless: unless)
  }

  /// What a secret and a placeholder may both begin with.
  private var placeholderStart: Step { Step(bytes: Self.placeholder, most: 2, isSecret: true) }

  /// Quoted values: `name": "value"`, with escaped quotes as well.
  private func quoted(_ quote: String) -> [RedactionRule] {
    func steps(_ between: Step, _ value: [Step]) -> [Step] {
      var between = between
      between.bytes = " \t\"'\\:=>(]["
      (between.least, between.most, between.endsBefore) = (0, 16, quote)
      return [between, Step(bytes: quote)] + value
    }
    func value(
      least: Int, needs: String? = nil, changes: Int? = nil, unless: [String]? = nil
    ) -> Step {
      secret(
        Self.inside(quote), least: least, needs: needs, notFirst: Self.afterValue, changes: changes,
        unless: unless)
    }
    let names = passwords + Self.abbreviations + [quote + "pass"]
    let start = Step(
      bytes: Self.inside(quote), least: 0, most: 4096, isSecret: true, notFirst: Self.afterValue)
    let escape = Step(words: ["\\\\", "\\"], isSecret: true)
    return [
      rule(
        names + ["pwd"], Self.password,
        [passwordEnding] + steps(Step(), [value(least: 4, unless: none)])),
      rule(
        tokens, Self.token,
        [tokenEnding]
          + steps(Step(needs: ":=>"), [value(least: 12, needs: "0-9", changes: 2)])),
      // A value that begins like a placeholder, but goes on like a password: a hash, for instance.
      rule(
        names, Self.password,
        steps(
          Step(),
          [
            placeholderStart,
            secret(Self.inside(quote), least: 6, needs: "0-9", changes: 2),
          ])),
      // A value with an escape sequence, such as `\/` or `\u0026`.
      rule(
        names, Self.password,
        steps(
          Step(),
          [start, escape, secret(Self.escaped(quote), least: 3)])),
      rule(
        tokens, Self.token,
        [tokenEnding]
          + steps(
            Step(needs: ":=>"),
            [start, escape, secret(Self.escaped(quote), least: 6, needs: "0-9", changes: 1)])),
      // A value with an escaped quote in it.
      rule(
        names, Self.password,
        steps(
          Step(),
          [
            start, Step(words: ["\\" + quote], isSecret: true),
            secret(Self.escaped(quote), least: 3, notFirst: Self.afterValue),
          ])),
    ]
  }

  /// Values beside their names: `"name":"DB_PASSWORD","value":"…"`, `name="password" value="…"`, and
  /// the arguments `"--password", "…"`.
  private var beside: [RedactionRule] {
    func value(
      least: Int, needs: String? = nil, changes: Int? = nil, unless: [String]? = nil
    ) -> Step {
      secret(
        Self.bare, least: least, needs: needs, notFirst: Self.placeholder, changes: changes,
        unless: unless)
    }
    let toValue = [
      Step(
        words: [
          "\",\"value\":\"", "\", \"value\": \"", "\" value=\"", "' value='", "</name><value>",
        ])
    ]
    return [
      rule(passwords, Self.password, toValue + [value(least: 4, unless: none)]),
      rule(
        tokens, Self.token,
        [tokenEnding] + toValue + [value(least: 12, needs: "0-9", changes: 2)]),
      rule(
        options, Self.password,
        [
          Step(words: ["\",\"", "\", \"", "','", "', '"]),
          value(least: 4, unless: none),
        ]),
    ]
  }

  /// Assigned values: `name=value`.
  private func assigned(_ names: [String], _ kind: String, changes: Int) -> RedactionRule {
    let isToken = changes > 0
    return rule(
      names, kind,
      [isToken ? tokenEnding : passwordEnding] + [
        Step(bytes: " \t\"'\\]:", least: 0, most: 16), Step(bytes: "=>", most: 2),
        Step(bytes: " \t", least: 0, most: 16),
        secret(
          isToken ? Self.bareToken : Self.bare, least: isToken ? 12 : 4,
          needs: isToken ? "0-9" : nil, notFirst: Self.placeholder, changes: changes, unless: none),
      ])
  }

  /// Assigned values that begin like a placeholder, but go on like a password.
  private var hash: RedactionRule {
    rule(
      passwords + Self.abbreviations, Self.password,
      [
        Step(bytes: " \t", least: 0, most: 16), Step(bytes: "="),
        Step(bytes: " \t", least: 0, most: 16),
        placeholderStart, secret(Self.bare, least: 6, needs: "0-9", changes: 2),
      ])
  }

  /// Values of `PWD=`, except working directories.
  private var directory: RedactionRule {
    rule(
      ["pwd"], Self.password,
      [
        Step(bytes: " \t", least: 0, most: 4), Step(bytes: "="),
        secret(Self.bare, least: 4, notFirst: Self.placeholder + "/~."),
      ])
  }

  /// Values in braces, as in connection strings of ODBC: `Password={…}`.
  private var braced: RedactionRule {
    rule(
      passwords + ["pwd"], Self.password,
      [
        Step(bytes: " \t", least: 0, most: 16), Step(bytes: "="), Step(words: ["{"]),
        secret(Self.bare, least: 4, unless: none),
      ])
  }

  /// Values after a colon, which also occurs in text for people: `password: value`.
  private var colon: RedactionRule {
    rule(
      passwords + Self.abbreviations, Self.password,
      [
        passwordEnding, Step(bytes: "\"'\\]", least: 0, most: 3), Step(bytes: ":"),
        Step(bytes: " \t", least: 0, most: 8),
        secret(Self.bare, least: 6, needs: "0-9!#%^+@", unless: none),
      ])
  }

  /// Values of headers and fields: `X-Api-Key: value`.
  private var header: RedactionRule {
    rule(
      tokens, Self.token,
      [
        tokenEnding, Step(bytes: "\"'\\]", least: 0, most: 3), Step(bytes: ":"),
        Step(bytes: " \t[", least: 0, most: 8),
        secret(Self.bareToken, least: 12, needs: "0-9", changes: 3),
      ])
  }

  /// Values of options: `--password value`.
  private var given: [RedactionRule] {
    [
      rule(
        options, Self.password,
        [
          Step(bytes: " \t"), Step(bytes: "\"'\\]", least: 0, most: 3),
          secret(Self.bare, least: 6, needs: "0-9", changes: 1, unless: none),
        ])
    ]
  }

  /// Logins in options, `-u user:password`, and in netrc's form, `login user password value`.
  private var logins: [RedactionRule] {
    [
      rule(
        [" -u", " -u ", " --proxy-user ", " --user ", " --user=", " -u'", " -u\""], Self.password,
        [
          Step(bytes: "\"'\\]", least: 0, most: 3), Step(bytes: "A-Za-z0-9._@-", most: 64),
          Step(bytes: ":"),
          Step(
            bytes: "^\u{1}-\u{20}\"'\\/:@", least: 4, most: 1024, goesOn: true, isSecret: true,
            needs: "0-9", leastChanges: 1),
        ]),
      rule(
        ["login "], Self.password,
        [
          Step(bytes: "A-Za-z0-9._@-", most: 64), Step(words: [" password "]),
          secret(Self.bare, least: 4, needs: "0-9!#%^+@", unless: none),
        ]),
    ]
  }
}
