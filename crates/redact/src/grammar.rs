//! The one grammar of assigned secrets: a name, a sign, quotes, a value.
//!
//! A [`Redactor`] looks for names that announce a secret. Behind each one the
//! rows of [`SIGNS`] are tried in their order: what may stand between the name
//! and its value in any language, format, command or sentence, and what the
//! value must be to count there. A new syntax is a row, not a module.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::Redactor;
use super::judge::{Evidence, is_secret};
use super::names::{self, FOREIGN, Promise, STEMS};
use super::shape::looks_hex;
use super::span::Span;
use super::value::{self, Bare, Value, floor, is_unspaced};

/// No name is longer, and nothing between a name and its value.
const NAME: usize = 96;
const REACH: usize = 320;

/// What must stand before a name for a row to apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Anything,
    /// What the pattern finds right before the name.
    Found(&'static str),
}

/// What the value behind a sign must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// A value in quotes, or a bare one: by its line.
    Any,
    /// A string.
    String,
    /// The only string of a call that sets something.
    Call,
    /// The text up to the next tag.
    Tag,
    /// All of its line.
    Line,
    /// The next word of a command.
    Word,
    /// The same, where the command does nothing but set what has the name.
    Set,
    /// What a sentence says the value is.
    Prose,
    /// The next word of a sentence.
    Beside,
    /// The strings or lines of a list.
    List,
}

use Before::{Anything, Found};

struct Row {
    before: Before,
    /// What stands between the name and the value; `Q` is a closing quote.
    sign: &'static str,
    takes: Takes,
}

const fn row(before: Before, sign: &'static str, takes: Takes) -> Row {
    Row {
        before,
        sign,
        takes,
    }
}

/// The signs between a name and its value.
const SIGNS: [Row; 26] = [
    // {"password": "x"}, password = x, PASSWORD=x, 'password' => 'x', password := "x"
    row(
        Anything,
        r#"Q[ \t\u{a0}\u{202f}]*(?:=>|:=|<-|===?|[?+]?=|[:：])(?:\*\*|__)?[ \t]*(?:\*\*)?"#,
        Takes::Any,
    ),
    // tokens: ["x", "y"], tokens = ("x", "y"), and the lines of a list in YAML
    row(
        Anything,
        r#"s?Q[ \t]*[:=][ \t]*(?:[\[({]\s*|\r?\n[ \t]*- )"#,
        Takes::List,
    ),
    // password: |   and the value in the next line, or alone below its heading
    row(
        Anything,
        r#"Q(?: is| are| lautet| ist| est| es)?[ \t]*[:：]?(?:\*\*)?[ \t]*(?:[|>][-+]?[ \t]*)?\r?\n(?:[ \t]*\r?\n)?(?:[ \t]*```\w*\r?\n)?[ \t]*`?"#,
        Takes::Line,
    ),
    // let password: &str = "x", var password string = "x", char password[9] = "x"
    row(
        Anything,
        r#"Q[ \t]*(?::[ \t]*|As )?[&*']*(?:[A-Za-z][\w<>.'&*?]{0,30}(?: [\w<>.'&*?]{1,20}){0,2})?(?:\[[\w +]*\])?[ \t]*:?=[ \t]*"#,
        Takes::String,
    ),
    // variable "password" { default = "x" }, password: { type: string, default: "x" }
    row(
        Anything,
        r#"Q:?\s*\{[^{}]{0,200}?(?:default|value)\s*[=:]\s*"#,
        Takes::String,
    ),
    row(
        Anything,
        r#":[ \t]*\r?\n(?:[ \t]+\w+:[^\n]{0,60}\n){0,3}[ \t]+default:[ \t]*"#,
        Takes::Any,
    ),
    // password = "old" -> "x"
    row(Anything, r#"Q\s*=\s*"[^"\n]{0,80}"\s*->\s*"#, Takes::String),
    // {"name": "DB_PASSWORD", "value": "x"}, and the same in YAML, XML and commands
    row(
        Found(r#"(?i)(?:name|key|id|variable)\\*["']?[ \t]*[:=][ \t]*\\*["']?[\w./-]*$"#),
        r#"Q(?:[ \t]*[,;])?\s*(?:\\*["']?\w+\\*["']?\s*:\s*\\*["'][^"'\n]{0,40}\\*["'],\s*)?(?:-[ \t]+)?\\*["']?(?i:\w*value)\\*["']?[ \t]*[:=][ \t]*"#,
        Takes::Any,
    ),
    // <entry key="password">x</entry>, <key>password</key><string>x</string>, <password>x</password>
    row(
        Found(r#"(?:key|name)=["'][\w.-]*$"#),
        r#"["']>\s*"#,
        Takes::Tag,
    ),
    row(Found(r"<key>[\w.-]*$"), r"</key>\s*<string>\s*", Takes::Tag),
    row(Found(r"<(?:\w+:)?[\w.-]*$"), r">\s*", Takes::Tag),
    // set("password", "x"), ["--password", "x"], getenv("PASSWORD", "x"), define('PASSWORD', 'x')
    row(
        Found(r#"(?:\(\s*\\*["']-{0,2}|[\[,]\s*\\*["']--?|\(\s*--?)[\w.-]*$"#),
        r#"\\*["']\s*,\s*"#,
        Takes::String,
    ),
    // setPassword("x"), .password("x")
    row(
        Found(r"(?:\b(?:set|with|use|SET )|\.)\w*$"),
        r"\(\s*",
        Takes::Call,
    ),
    // password = local ? "x" : ""
    row(
        Anything,
        r#"Q\s*:?=\s*[\w.() ]{1,40}\?\s*(?:["']{2}\s*:\s*)?"#,
        Takes::String,
    ),
    // process.env.PASSWORD || "x", ${PASSWORD:-x}, config("PASSWORD", default="x"), PASSWORD ? "x" : "y"
    row(
        Anything,
        r#"Q[\])]*\s*(?:\|\||\?\?|\?:|\bor\b|\{|,\s*default=|\?[^:\n]{0,40}:)\s*"#,
        Takes::String,
    ),
    row(Anything, r":[-=]", Takes::Word),
    // -storepass x; ENV PASSWORD x, set -x PASSWORD x, setx PASSWORD x
    row(
        Found(
            r"(?i)(?:\b(?:env|arg|setx|setenv|set -\w*x|config set)[ \t]+[\w./:-]*|requirepass|masterauth|primaryauth|convertto-securestring|\s-(?:\w*store|key)pass)$",
        ),
        r#"[ \t]+"#,
        Takes::Set,
    ),
    // --password x
    row(Found(r"(?:^|[\s(])--?[\w.-]*$"), r"[ \t]+", Takes::Word),
    // WITH PASSWORD 'x', the password "x", :api_key "x", ConvertTo-SecureString 'x'
    row(
        Anything,
        r"[ \t]+(?:-String |-AsPlainText |-Force )*",
        Takes::String,
    ),
    // the password is x, the password for the db is `x`, Das Passwort lautet jetzt x
    row(
        Anything,
        r"QW[ \u{a0}](?:is|was|ist|lautet|est|es|é|è|это|-|–|—|=)(?: now| jetzt)?[ \u{a0}]?:?[ \u{a0}](?:\*\*)?",
        Takes::Prose,
    ),
    // set the password to x, the password was reset to x
    row(
        Anything,
        r"Q(?: (?:was|is|has been))?(?: now)?(?: (?:re)?set| changed| updated)? (?:to|auf):? ",
        Takes::Prose,
    ),
    // password for bob: x, password (root): x, mot de passe du wifi : x, Key [None]: x
    row(Anything, r"QW[ \u{a0}]?[:：](?:\*\*)?[ \t]+", Takes::Prose),
    // 密码是x, パスワードは「x」, 비밀번호: x
    row(
        Anything,
        r"(?:已经?)?(?:[是为為はをが는은를이가]|[修更重]?[改换置新设置]+[成为]?了?为?)[：:]?[ \t]*",
        Takes::Prose,
    ),
    // password x
    row(Anything, r"(?:\*\*)?[ \t]+", Takes::Beside),
    // value="x" name="password", "value": "x", "name": "PASSWORD": read backwards
    row(
        Found(
            r#"(?i)value\\*["']?[ \t]*[:=][ \t]*(?P<value>\\*"[^"\n]+|\\*'[^'\n]+|[^"'\s,]+)(?:\\*["'](?:,\s*|\s+)|,\s*|\r?\n\s*)\\*["']?(?:\w*name|\w*key|id)\\*["']?[ \t]*[:=][ \t]*\\*["']?[\w./-]*$"#,
        ),
        r"",
        Takes::Any,
    ),
    // x is my password
    row(
        Found(
            r#"(?P<value>[^\s"'`“”]{6,40})["'`”]? (?:is|was) (?:my|the|our|your) (?:\w+ ){0,3}\w+$"#,
        ),
        r"(?: for | of |[.,;!)]|\s*$|\s*\n)",
        Takes::Prose,
    ),
];

struct Sign {
    before: Option<Regex>,
    pattern: Regex,
    takes: Takes,
}

static TABLE: LazyLock<Vec<Sign>> = LazyLock::new(|| {
    const CLOSE: &str = r#"(?:\\*["'`]\]?|\*\*|__|\])?"#;
    // Whose it is: a bracket, or a few words behind a preposition.
    const WHOSE: &str = r"(?: \([^)\n]{1,30}\)| \[[^\]\n]{1,30}\])?(?:[ \u{a0}](?:for|of|to|on|für|von|vom|der|des|zu|pour|de|du|para|do|da|del|della|di|от|для|к|van|voor|til|till|för)(?:[ \u{a0}][^\s:;,.=|<>(){}]{1,24}){1,4}?)?";
    let compiled = |pattern: &str| Regex::new(pattern).expect("the rows of the table are valid");
    let sign = |row: &Row| Sign {
        before: match row.before {
            Anything => None,
            Found(pattern) => Some(compiled(pattern)),
        },
        pattern: compiled(&format!(
            "^(?:{})",
            row.sign
                .replace("QW", &format!("{CLOSE}{WHOSE}"))
                .replace('Q', CLOSE)
        )),
        takes: row.takes,
    };
    SIGNS.iter().map(sign).collect()
});

static NAMES: LazyLock<AhoCorasick> = LazyLock::new(|| stems(&[]));

/// What finds the names, a workspace's own among them.
pub(crate) fn stems(own: &[String]) -> AhoCorasick {
    // The last word of a name is looked for, and the name then read around it.
    let last = |name: &'_ String| {
        let words = name.rsplit(|c: char| !c.is_ascii_alphanumeric());
        words.map(str::to_owned).find(|word| !word.is_empty())
    };
    let known = STEMS.iter().chain(&FOREIGN).map(|stem| (*stem).to_owned());
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(known.chain(own.iter().filter_map(last)))
        .expect("the stems are few")
}

/// A name, and where it stands.
struct Name {
    start: usize,
    end: usize,
    promise: Promise,
}

impl Redactor {
    /// Every value that its name makes a secret.
    pub(crate) fn named_values(&self, text: &str, found: &mut Vec<Span>) {
        let mut read = 0;
        let stems = self.stems.as_deref().unwrap_or(&NAMES);
        for hit in stems.find_overlapping_iter(text) {
            if hit.end() <= read {
                continue;
            }
            let Some(name) = self.name(text, hit.start(), hit.end(), hit.pattern().as_usize())
            else {
                continue;
            };
            read = name.end;
            for sign in TABLE.iter() {
                if sign.read(text, &name, found) {
                    break;
                }
            }
        }
    }

    /// The name around a stem.
    fn name(&self, text: &str, start: usize, end: usize, pattern: usize) -> Option<Name> {
        let bytes = text.as_bytes();
        if (STEMS.len()..STEMS.len() + FOREIGN.len()).contains(&pattern) {
            // An ending: `şifresi`, `парол-я`.
            let letters = text[end..].chars().take(6);
            let ending: usize = letters
                .take_while(|c| c.is_alphabetic() && !is_unspaced(*c))
                .map(char::len_utf8)
                .sum();
            return Some(Name {
                start,
                end: end + ending,
                promise: Promise::Password,
            });
        }
        let part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        let before = bytes[..start].iter().rev().take(NAME);
        let mut start = start - before.take_while(part).count();
        let mut end = end + bytes[end..].iter().take(NAME).take_while(part).count();
        while matches!(bytes[end - 1], b'.' | b'-') {
            end -= 1;
        }
        // A stem of a part before the last one is none of the name.
        let name = &text[start..end];
        // The letter of an escape is none of the name: `\npw=x`.
        let escaped = start > 0 && bytes[start - 1] == b'\\' && name.starts_with(['n', 't', 'r']);
        let promise = names::promise(name, &self.names);
        let mut promise = match escaped {
            true => promise.or_else(|| names::promise(&name[1..], &self.names))?,
            false => promise?,
        };
        if promise == Promise::Perhaps {
            // `API key`: two words.
            let line = &text[floor(text, start.saturating_sub(24))..start];
            let word = line.strip_suffix([' ', '-']).unwrap_or_default();
            let length = word
                .bytes()
                .rev()
                .take_while(u8::is_ascii_alphanumeric)
                .count();
            if length > 0 {
                let whole = &text[start - 1 - length..end];
                promise = names::promise(&whole.replace(' ', "_"), &self.names)?;
                start -= 1 + length;
            }
        }
        Some(Name {
            start,
            end,
            promise,
        })
    }
}

impl Sign {
    /// Looks for the value that this sign parts from the name.
    fn read(&self, text: &str, name: &Name, found: &mut Vec<Span>) -> bool {
        let behind = &text[name.end..floor(text, name.end + REACH)];
        let Some(sign) = self.pattern.find(behind) else {
            return false;
        };
        let mut at = name.end + sign.end();
        // `password::tests`
        if sign.as_str().ends_with(':') && text[at..].starts_with(':') {
            return false;
        }
        if let Some(before) = &self.before {
            let from = floor(text, name.start.saturating_sub(REACH));
            // The name's own beginning shows calls and options.
            let line = &text[from..name.end];
            let Some(groups) = before.captures(line) else {
                return false;
            };
            if let Some(group) = groups.name("value") {
                let quotes = group.as_str().len()
                    - group.as_str().trim_start_matches(['\\', '"', '\'']).len();
                at = from + group.start() + quotes;
                let value = Value {
                    start: at,
                    end: from + group.end(),
                    quoted: quotes > 0,
                };
                return self.judge(text, name, value, found);
            }
        }
        if self.takes == Takes::List {
            return list(text, name, at, found);
        }
        let value = match self.takes {
            Takes::String => value::quoted(text, at)
                .or_else(|| value::read(text, at, Bare::Plain).filter(|v| v.quoted)),
            Takes::Call if is_looked_up(&text[name.start..name.end]) => None,
            Takes::Call => value::quoted(text, at).filter(|v| closes_call(&text[v.end..])),
            Takes::Tag => {
                let end = text[at..floor(text, at + 512)].find('<');
                end.map(|end| text[at..at + end].trim_end().len())
                    .map(|length| Value {
                        start: at,
                        end: at + length,
                        quoted: true,
                    })
            }
            Takes::Any if is_variable_of_environment(text, name, sign.as_str()) => {
                value::read(text, at, Bare::Whole)
            }
            _ => value::read(text, at, Bare::Plain),
        };
        value.is_some_and(|value| self.judge(text, name, value, found))
    }

    /// Takes the value if it is what the name promises.
    fn judge(&self, text: &str, name: &Name, mut value: Value, found: &mut Vec<Span>) -> bool {
        value.end += calls(text, value, name.promise);
        let Some(inner) = text
            .get(value.start..value.end)
            .filter(|inner| !inner.is_empty())
        else {
            return false;
        };
        let behind = &text[value.end..floor(text, value.end + REACH)];
        let before = &text[floor(text, value.start.saturating_sub(2))..value.start];
        if value.quoted && is_behind_string(text, value.start) {
            return false;
        }
        let key = name.promise == Promise::Key;
        let evidence = match self.takes {
            Takes::Beside => Evidence::Prose,
            Takes::Line if !ends_line(behind) => return false,
            // Below a heading stands anything; what is indented belongs to the name.
            Takes::Line if before.ends_with('\n') => {
                let line = &text[floor(text, name.start.saturating_sub(NAME))..name.start];
                let line = line.rsplit('\n').next().unwrap_or_default();
                // `## Client secret`, but not `## How we rotate the token`.
                let words = line.split(|c: char| !c.is_alphanumeric());
                let whole = words.filter(|word| !word.is_empty()).count() < 2;
                match looks_hex(inner.as_bytes()) && !whole {
                    true => return false,
                    false => Evidence::Prose,
                }
            }
            Takes::Tag => Evidence::Quoted,
            _ if value.quoted => Evidence::Quoted,
            Takes::Set => Evidence::Line,
            Takes::Word | Takes::Prose | Takes::Line => Evidence::Bare,
            _ if before == ": " && ends_line(behind) => Evidence::Line,
            _ if before == "= " && key && ends_line(behind) => Evidence::Line,
            _ if is_variable_of_environment(text, name, before) => Evidence::Variable,
            _ => Evidence::Bare,
        };
        // Tests `pass`, and so do tickets: only what is random is a password then.
        let lone = text[name.start..name.end].eq_ignore_ascii_case("pass");
        let (promise, evidence) = match lone {
            true if !matches!(self.takes, Takes::Any | Takes::Word) => return false,
            true if self.takes == Takes::Word && !text[..name.start].ends_with("--") => {
                return false;
            }
            true if self.takes == Takes::Word => (name.promise, evidence),
            true if !value.quoted && before.contains(':') => (Promise::Perhaps, evidence),
            true if !value.quoted => (name.promise, Evidence::Prose),
            _ => (name.promise, evidence),
        };
        // `password class="x"`: the name of something else.
        let named = !value.quoted && behind.starts_with(['"', '\'', '=', '(', '[', '{']);
        if evidence == Evidence::Prose && named {
            return false;
        }
        if !is_secret(inner, promise, evidence) {
            return false;
        }
        found.push(Span {
            kind: name.promise.kind(),
            start: value.start,
            end: value.end,
        });
        if self.takes == Takes::Line && !value.quoted {
            lines_below(text, value.end, promise, found);
        }
        true
    }
}

/// Whether a call asks for a secret or compares one, rather than setting it.
fn is_looked_up(name: &str) -> bool {
    const VERBS: [&str; 10] = [
        "check", "verify", "get", "hash", "compare", "validate", "is", "find", "fetch", "contains",
    ];
    let call = name
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    VERBS.iter().any(|verb| call.starts_with(verb))
}

/// Whether nothing but a bracket stands behind a string.
fn closes_call(behind: &str) -> bool {
    behind
        .trim_start_matches(['\\', '"', '\'', '`'])
        .trim_start()
        .starts_with(')')
}

/// Whether the quote before `start` closes a string in which the name stands, so
/// that code follows: `prompt("Password: ").trim()`.
fn is_behind_string(text: &str, start: usize) -> bool {
    const LINE: usize = 4_096;
    let bytes = text.as_bytes();
    let code = bytes.get(start).is_some_and(|b| b").,]};>+:[".contains(b));
    let Some(quote) = start.checked_sub(1).map(|at| bytes[at]).filter(|_| code) else {
        return false;
    };
    let before = &bytes[(start - 1).saturating_sub(LINE)..start - 1];
    let line = memchr::memrchr(b'\n', before).map_or(before, |at| &before[at + 1..]);
    let letter = |at: usize| line.get(at).is_some_and(u8::is_ascii_alphabetic);
    let apostrophe = |at: usize| quote == b'\'' && at > 0 && letter(at - 1) && letter(at + 1);
    let quotes = memchr::memchr_iter(quote, line).filter(|at| !apostrophe(*at));
    quotes.count() % 2 == 1
}

/// The exclamation marks behind a value: they end a sentence, but behind a
/// password they are mostly part of it.
fn calls(text: &str, value: Value, promise: Promise) -> usize {
    match (value.quoted, promise) {
        (false, Promise::Password) => text[value.end..].bytes().take_while(|b| *b == b'!').count(),
        _ => 0,
    }
}

/// The further lines of a block of YAML, which stand as far in as the first.
fn lines_below(text: &str, end: usize, promise: Promise, found: &mut Vec<Span>) {
    let first = text[..end].rfind('\n').map_or(0, |at| at + 1);
    let depth = text[first..end].bytes().take_while(|b| *b == b' ').count();
    let mut at = end
        + text[end..]
            .find('\n')
            .map_or(text.len() - end, |next| next + 1);
    for line in text
        .get(at..)
        .unwrap_or_default()
        .split_inclusive('\n')
        .take(64)
    {
        let inner = line.trim();
        if depth == 0 || line.len() - line.trim_start().len() != depth || inner.contains(' ') {
            return;
        }
        if is_secret(inner, promise, Evidence::Line) {
            found.push(Span {
                kind: promise.kind(),
                start: at + depth,
                end: at + depth + inner.len(),
            });
        }
        at += line.len();
    }
}

/// The further strings of a secret that a program joins: `"x" + "y"`.
pub(crate) fn pieces(text: &str, span: Span, found: &mut Vec<Span>) {
    static JOIN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"^\s*(?:(["'])\s*(?:->|[+.]|\\)?\s*["']|\\\r?\n\s*)"#).expect("it is valid")
    });
    let mut end = span.end;
    for _ in 0..16 {
        let Some(join) = JOIN.captures(&text[end..floor(text, end + REACH)]) else {
            return;
        };
        let Some(whole) = join.get(0) else { return };
        let next = match join.get(1) {
            Some(_) => value::quoted(text, end + whole.end() - 1),
            None => value::read(text, end + whole.end(), Bare::Plain),
        };
        let Some(next) = next
            .filter(|next| is_secret(&text[next.start..next.end], Promise::Key, Evidence::Quoted))
        else {
            return;
        };
        found.push(Span {
            kind: span.kind,
            start: next.start,
            end: next.end,
        });
        end = next.end;
    }
}

/// The strings of a list, or the lines of one in YAML.
fn list(text: &str, name: &Name, at: usize, found: &mut Vec<Span>) -> bool {
    const MOST: usize = 64;
    let mut at = at;
    let mut any = false;
    let lines = text[..at].ends_with("- ");
    for _ in 0..MOST {
        let Some(mut value) = value::read(text, at, Bare::Plain).filter(|v| v.quoted || lines)
        else {
            break;
        };
        value.end += calls(text, value, name.promise);
        let evidence = match (
            value.quoted,
            ends_line(&text[value.end..floor(text, value.end + REACH)]),
        ) {
            (true, _) => Evidence::Quoted,
            (false, true) => Evidence::Line,
            (false, false) => break,
        };
        let inner = &text[value.start..value.end];
        if is_secret(inner, name.promise, evidence) {
            any = true;
            found.push(Span {
                kind: name.promise.kind(),
                start: value.start,
                end: value.end,
            });
        }
        let rest = text[value.end..]
            .trim_start_matches(['"', '\'', '\\'])
            .trim_start();
        let next = match lines {
            true => rest.strip_prefix("- "),
            false => rest.strip_prefix(',').map(str::trim_start),
        };
        let Some(next) = next else { break };
        at = text.len() - next.len();
    }
    any
}

/// Whether nothing stands behind a value on its line but a comment or a comma.
fn ends_line(behind: &str) -> bool {
    let line = behind.split(['\n', '\r']).next().unwrap_or_default();
    let rest = line.trim_start_matches(['`', '*', '"', '\'']).trim();
    rest.is_empty() || rest == "," || line.starts_with(" #")
}

/// Whether a `=` without blanks assigns to a variable of the environment, whose
/// value goes up to the next blank: `PASSWORD=x`, but neither `f(password=x)` nor
/// `?password=x&y`.
fn is_variable_of_environment(text: &str, name: &Name, sign: &str) -> bool {
    let bytes = text.as_bytes();
    let upper = !text[name.start..name.end]
        .bytes()
        .any(|b| b.is_ascii_lowercase());
    // Agents are shown files with the numbers of lines: `7→PASSWORD=x`.
    let begins = name.start == 0
        || b" \n\t+:=\"'".contains(&bytes[name.start - 1])
        || text[..name.start].ends_with('→');
    sign.ends_with('=') && bytes.get(name.end) == Some(&b'=') && upper && begins
}
