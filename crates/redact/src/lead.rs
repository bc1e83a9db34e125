//! Whether a heading or a lead-in that ends in the name of a secret shows one
//! below it: `## Change password` and `Commit that removed the password:` do not.

/// How far back a lead-in is read.
const REACH: usize = 120;

/// Whether a heading is no more than the name behind this beginning of it: `## `,
/// `**Your new API `. Whatever is told of a secret takes more words, or a verb.
pub(super) fn is_heading_of_name(before: &[u8]) -> bool {
    // The last of which may be of the name itself: `API key`.
    const MOST: usize = 3;
    let mut count = 0;
    let plain = words(before).all(|word| {
        count += 1;
        !is_one_of(word, &TELLING)
    });
    plain && count <= MOST && !before.contains(&b':')
}

/// Words that tell of a secret in a heading, rather than saying which it is.
const TELLING: [&str; 71] = [
    "a",
    "about",
    "add",
    "adding",
    "an",
    "bad",
    "bug",
    "change",
    "changed",
    "changes",
    "changing",
    "check",
    "checking",
    "choose",
    "confirm",
    "create",
    "creating",
    "delete",
    "drop",
    "empty",
    "falsches",
    "fix",
    "fixed",
    "fixes",
    "for",
    "forget",
    "forgot",
    "forgotten",
    "get",
    "getting",
    "handle",
    "handling",
    "hash",
    "hashing",
    "hide",
    "how",
    "in",
    "incorrect",
    "invalid",
    "missing",
    "no",
    "of",
    "or",
    "reading",
    "remove",
    "removed",
    "removing",
    "rename",
    "require",
    "reset",
    "resetting",
    "revoke",
    "rotate",
    "rotating",
    "set",
    "setting",
    "show",
    "store",
    "storing",
    "to",
    "update",
    "updating",
    "use",
    "using",
    "validate",
    "what",
    "when",
    "where",
    "why",
    "without",
    "wrong",
];

/// Whether the line before `from` leads to something else that has to do with a
/// secret: `Ticket for the password:`, but not `Open the file with the password:`.
pub(super) fn is_of_something_else(bytes: &[u8], from: usize) -> bool {
    const BEFORE: [&str; 9] = [
        "the", "a", "this", "our", "my", "here", "is", "here's", "related",
    ];
    const SUBJECTS: [&str; 9] = [
        "ticket", "issue", "commit", "pr", "branch", "file", "page", "test", "patch",
    ];
    const LINKS: [&str; 10] = [
        "for", "that", "which", "of", "where", "about", "behind", "removing", "changing", "fixing",
    ];
    let before = &bytes[from.saturating_sub(REACH)..from];
    let line = before.trim_ascii_end();
    let line = line.strip_suffix(b":").unwrap_or(line);
    let parts = |b: &u8| matches!(b, b'\n' | b',' | b'.' | b';' | b':' | b'!' | b'?');
    let clause = line.rsplit(parts).next().unwrap_or_default();
    let mut words = words(clause).skip_while(|word| is_one_of(word, &BEFORE));
    let subject = words.next().is_some_and(|word| {
        let of = |word: Option<&[u8]>| word.is_some_and(|word| is_one_of(word, &SUBJECTS));
        of(Some(word)) || of(word.strip_suffix(b"s")) || of(word.strip_suffix(b"es"))
    });
    subject && words.next().is_some_and(|word| is_one_of(word, &LINKS))
}

/// The words of a text that have letters in them.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let apart = |b: &u8| b.is_ascii() && !b.is_ascii_alphanumeric() && !matches!(b, b'-' | b'\'');
    let letters = |word: &&[u8]| {
        word.iter()
            .any(|b| b.is_ascii_alphabetic() || !b.is_ascii())
    };
    text.split(apart).filter(letters)
}

fn is_one_of(word: &[u8], words: &[&str]) -> bool {
    words
        .iter()
        .any(|w| word.eq_ignore_ascii_case(w.as_bytes()))
}
