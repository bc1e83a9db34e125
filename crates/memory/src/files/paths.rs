//! Paths: which words of a line plainly name a file.
//!
//! Branches, media types, hosts, units and names of programs look like paths
//! too (`origin/main`, `application/json`, `db.example.com`, `km/h`, `Node.js`).
//! A pointer that is dead takes its line out of `MEMORY.md`, so whatever may be
//! something else is a pointer only where the workspace has it.

/// How a path is written in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Behind `→`.
    Arrow,
    /// In backticks, or behind `->`.
    Code,
    /// `[plan](plan.md)`.
    Link,
    /// `<plan.md>`.
    Angle,
    /// `[[plan]]`.
    Wiki,
}

impl Form {
    /// A file's path as it is written in the place of another.
    pub(super) fn spelled(self, old: &str, file: &str) -> String {
        match self {
            Form::Link => encoded(file),
            Form::Wiki if !has_extension(old) => file.strip_suffix(".md").unwrap_or(file).into(),
            Form::Arrow | Form::Code | Form::Angle | Form::Wiki => file.into(),
        }
    }
}

/// Endings of texts that people write to be read.
const PROSE: [&str; 5] = ["md", "mdx", "markdown", "rst", "adoc"];

/// Endings of other documents and of sources. Headers of C are not among them:
/// `sys/types.h` is in no workspace.
const KNOWN: [&str; 69] = [
    "txt", "pdf", "tex", "html", "htm", "csv", "tsv", "ipynb", "docx", "xlsx", "pptx", "odt", "rs",
    "py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "go", "java", "kt", "kts",
    "swift", "c", "cc", "cpp", "cxx", "cs", "rb", "php", "pl", "lua", "sh", "bash", "zsh", "fish",
    "ps1", "sql", "scala", "clj", "ex", "exs", "erl", "hs", "ml", "jl", "dart", "zig", "vue",
    "svelte", "css", "scss", "json", "jsonl", "yaml", "yml", "toml", "ini", "cfg", "conf", "xml",
    "proto", "graphql", "tf",
];

/// Whether a word plainly points to a file, or to what is there.
pub(super) fn is_pointer(path: &str, form: Form, is_there: &dyn Fn(&str) -> bool) -> bool {
    // Where there is no code, a path from somebody's home is one.
    if path.starts_with("~/") && form != Form::Code {
        return is_known(path);
    }
    if !is_path(path) {
        return false;
    }
    let is_plain = match path.split_once('/') {
        Some(("." | "..", _)) => true,
        // In code a path of a web server looks the same.
        Some(("", rest)) => form != Form::Code || (rest.contains('/') && is_known(path)),
        Some((folder, _)) => {
            form == Form::Wiki
                || (is_known(path) && !is_host(folder))
                || is_there(&format!("{folder}/"))
        }
        None => ends_in(path, &PROSE) || (form != Form::Code && is_known(path) && !is_js(path)),
    };
    is_plain || is_there(path)
}

/// Whether a word can be a path at all.
pub(super) fn is_path(target: &str) -> bool {
    let first = target.split('/').next().unwrap_or(target);
    let is_mailbox = first == target && target.contains('@');
    (target.contains('/') || has_extension(target))
        && !target.contains("://")
        // `mailto:ada@example.com`, `node:fs/promises`.
        && !first.contains(':')
        && !is_mailbox
        && !target.starts_with(['-', '$', '@', '~', '<', '{'])
        && !target.contains(['*', '(', '{', '=', '"', '…'])
        && target.len() > 1
}

pub(super) fn has_extension(path: &str) -> bool {
    extension(path).is_some()
}

/// The ending of a file's name, where it can be one.
fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, extension) = name.rsplit_once('.')?;
    let is_one = !stem.is_empty()
        && (1..=8).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && !extension.bytes().all(|byte| byte.is_ascii_digit());
    is_one.then_some(extension)
}

fn ends_in(path: &str, endings: &[&str]) -> bool {
    extension(path).is_some_and(|own| endings.iter().any(|one| own.eq_ignore_ascii_case(one)))
}

fn is_known(path: &str) -> bool {
    ends_in(path, &PROSE) || ends_in(path, &KNOWN)
}

/// Programs are named so: `Node.js`, `Vue.js`.
fn is_js(path: &str) -> bool {
    ends_in(path, &["js"])
}

/// Whether a folder may be the name of a server: `github.com/a/b.go`.
fn is_host(folder: &str) -> bool {
    folder.trim_start_matches('.').contains('.')
}

/// A link's target with all of its `%C3%B6` as what they stand for; nothing where
/// that is no text.
pub(super) fn decoded(target: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(target.len());
    let mut rest = target;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        let code = after.get(..2).filter(|code| !code.starts_with('+'));
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(b'%');
                rest = after;
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

/// A path as the target of a link, without what would end it.
fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            ' ' | '(' | ')' | '<' | '>' | '%' | '#' => out.push_str(&format!("%{:02X}", c as u32)),
            c => out.push(c),
        }
    }
    out
}
