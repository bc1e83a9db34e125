//! Passwords on command lines, where an option of one letter means one.

use super::Kind;
use super::promised::is_word_of_programs;
use super::put;
use super::shape::{Shape, is_example};
use super::value::Span;

/// How far back the command of an option is looked for.
pub(super) const REACH: usize = 512;
/// No password is longer.
const LONGEST: usize = 128;

/// Where the value of an option stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// `-pvalue`, since `-p value` means something else.
    Attached,
    /// `-p value`.
    Apart,
    /// Either.
    Any,
}

/// An option that is followed by a password.
struct Form {
    option: &'static str,
    gap: Gap,
    /// What parts the user before from the password.
    behind: Option<u8>,
    commands: &'static [&'static str],
}

const fn form(
    option: &'static str,
    gap: Gap,
    behind: Option<u8>,
    commands: &'static [&'static str],
) -> Form {
    Form {
        option,
        gap,
        behind,
        commands,
    }
}

const MYSQL: &[&str] = &[
    "mysql",
    "mysqldump",
    "mysqladmin",
    "mysqlimport",
    "mysqlcheck",
    "mariadb",
    "mariadb-dump",
    "mariadb-admin",
    "mycli",
    "7z",
    "7za",
];
const MONGO: &[&str] = &["mongo", "mongosh", "mongodump", "mongorestore", "login"];
const JAVA: &[&str] = &["keytool", "jarsigner"];
const LDAP: &[&str] = &["ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami"];

const FORMS: [Form; 19] = [
    form("-u", Gap::Any, Some(b':'), &["curl"]),
    form("-U", Gap::Any, Some(b':'), &["curl"]),
    form("--user", Gap::Apart, Some(b':'), &["curl"]),
    form("--proxy-user", Gap::Apart, Some(b':'), &["curl"]),
    form("-U", Gap::Any, Some(b'%'), &["smbclient", "rpcclient"]),
    form("-storepass", Gap::Apart, None, JAVA),
    form("-keypass", Gap::Apart, None, JAVA),
    form("-p", Gap::Attached, None, MYSQL),
    form("-p", Gap::Any, None, &["sshpass"]),
    form("-p", Gap::Apart, None, MONGO),
    form("-a", Gap::Any, None, &["redis-cli"]),
    form("--pass", Gap::Apart, None, &["redis-cli"]),
    form("-w", Gap::Any, None, LDAP),
    form("-P", Gap::Any, None, &["zip", "unzip", "sqlcmd", "bcp"]),
    form("-p", Gap::Apart, None, &["psexec", "PsExec", "psexec64"]),
    form("-pw", Gap::Apart, None, &["plink", "pscp", "psftp"]),
    form("--body", Gap::Apart, None, &["gh secret set"]),
    form("-b", Gap::Any, None, &["gh secret set"]),
    form("--value", Gap::Apart, None, &["keyvault secret set"]),
];

/// The password behind the option that begins at `at`.
pub(super) fn argument(bytes: &[u8], at: usize) -> Option<Span> {
    if at == 0 || !bytes[at - 1].is_ascii_whitespace() {
        return None;
    }
    let found = FORMS.iter().find_map(|form| form.find(bytes, at));
    found.or_else(|| put::parameter(bytes, at))
}

impl Form {
    fn find(&self, bytes: &[u8], at: usize) -> Option<Span> {
        let from = self.value_from(bytes, at)?;
        let (mut start, end) = value(bytes, from)?;
        if let Some(mark) = self.behind {
            let user = memchr::memchr(mark, &bytes[start..end]).filter(|user| *user > 0)?;
            start += user + 1;
        }
        let text = &bytes[start..end];
        let fetched = matches!(self.option, "--body" | "--value") && put::is_address(text);
        let given = is_given(text) && !fetched && self.is_of_command(bytes, at);
        given.then_some(Span {
            kind: Kind::Password,
            start,
            end,
        })
    }

    /// Where the value begins, if the option is this one.
    fn value_from(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let rest = &bytes[at..];
        let mut end = self.option.len();
        if !rest.starts_with(self.option.as_bytes()) {
            // `-sku` is `-s -k -u`.
            let flags = rest[1..].iter().take(8);
            let flags = flags.take_while(|b| b.is_ascii_alphabetic()).count();
            let last = self.option.as_bytes()[self.option.len() - 1];
            if self.commands != ["curl"] || self.option.len() != 2 || rest[flags] != last {
                return None;
            }
            end = flags + 1;
            rest.get(end).filter(|b| **b == b' ')?;
        }
        let next = rest.get(end)?;
        let apart = *next == b' ' || self.option.len() > 2 && *next == b'=';
        match (self.gap, apart) {
            (Gap::Attached | Gap::Any, false) => Some(at + end),
            (Gap::Apart | Gap::Any, true) => Some(at + end + 1),
            _ => None,
        }
    }

    /// Whether the line that leads to `at` is one of the option's commands.
    fn is_of_command(&self, bytes: &[u8], at: usize) -> bool {
        let line = &bytes[at.saturating_sub(REACH)..at];
        // From the last command on: behind a pipe, or a line that does not go on.
        let begins = (1..line.len()).rev().find(|place| {
            let (before, here) = (line[place - 1], line[*place]);
            here == b'\n' && !matches!(before, b'\\' | b'\r')
                || here.is_ascii_whitespace() && matches!(before, b'|' | b';' | b'&')
        });
        let line = &line[begins.unwrap_or(0)..];
        self.commands.iter().any(|command| {
            memchr::memmem::find_iter(line, command.as_bytes()).any(|place| {
                let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
                let before = place.checked_sub(1).map(|before| line[before]);
                let after = line.get(place + command.len());
                !before.as_ref().is_some_and(part) && after.is_some_and(u8::is_ascii_whitespace)
            })
        })
    }
}

/// The word at `from`, out of its quotes.
pub(super) fn value(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let rest = bytes.get(from..)?;
    let rest = &rest[..rest.len().min(2 * LONGEST)];
    let quote = rest.first().filter(|b| matches!(b, b'"' | b'\''));
    match quote {
        Some(quote) => {
            let length = memchr::memchr2(*quote, b'\n', &rest[1..])?;
            (rest[1 + length] == *quote).then_some((from + 1, from + 1 + length))
        }
        None => {
            let ends = |b: &u8| {
                b.is_ascii_whitespace()
                    || matches!(
                        b,
                        b'"' | b'\'' | b'`' | b';' | b'|' | b'&' | b'<' | b'>' | b')' | b'\\'
                    )
            };
            let length = rest.iter().position(ends).unwrap_or(rest.len());
            Some((from, from + length))
        }
    }
}

/// Whether somebody put a password there, rather than a variable or the word
/// of a manual.
pub(super) fn is_given(text: &[u8]) -> bool {
    const WORDS: [&str; 9] = [
        "pass", "passwd", "pswd", "secret", "token", "apikey", "api_key", "assword", "rotocol",
    ];
    if !(4..=LONGEST).contains(&text.len())
        || matches!(
            text[0],
            b'$' | b'{' | b'<' | b'%' | b'*' | b'[' | b'(' | b'/' | b'-' | b'='
        )
        || ["${", "$(", "{{", "[redacted:"]
            .iter()
            .any(|mark| memchr::memmem::find(text, mark.as_bytes()).is_some())
    {
        return false;
    }
    let shape = Shape::of(text);
    // `MY_TOKEN` stands for one; ports and ids of users are numbers.
    let named = text.iter().all(|b| b.is_ascii_uppercase() || *b == b'_');
    let counts = shape.letters() == 0 && (shape.others > 0 || shape.digits < 6);
    let word = WORDS
        .iter()
        .any(|w| text.eq_ignore_ascii_case(w.as_bytes()));
    !named && !counts && !word && !is_word_of_programs(text) && !is_example(text)
}
