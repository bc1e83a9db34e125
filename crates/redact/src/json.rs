//! Redaction inside JSON text: strings are changed, every other byte stays.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::kubernetes;
use super::lists::is_plural;
use super::markup::{is_named_by_another, name_behind, names_another};
use super::{Document, Kind};

impl Document<'_> {
    /// The JSON text without secrets. A string is judged as it reads, with its
    /// escapes undone, and by the name of the member it is the value of. What
    /// is no JSON is redacted as the text it is.
    pub fn json<'t>(&mut self, json: &'t str) -> Cow<'t, str> {
        let mut out = String::new();
        let mut copied = 0;
        let mut name: Option<String> = None;
        let mut in_list = false;
        // What the members of this object say it is the value of.
        let mut about: Option<String> = None;
        let mut at = 0;
        let bytes = json.as_bytes();
        let manifest = manifest(json);
        let mut lines = self.lists(json);
        while let Some(open) = memchr::memchr(b'"', &bytes[at..]).map(|place| at + place) {
            // Between strings: a comma or a bracket ends what a name is for,
            // but that of a list is for all its strings.
            for byte in &bytes[at..open] {
                if matches!(byte, b'{' | b'}') {
                    about = None;
                }
                match byte {
                    b'[' => in_list = true,
                    b',' if in_list => {}
                    b',' | b'{' | b'}' | b']' => {
                        name = None;
                        in_list = false;
                    }
                    _ => {}
                }
            }
            let Some(end) = string_end(bytes, open) else {
                break;
            };
            let raw = &json[open..end];
            at = end;
            let Ok(text) = serde_json::from_str::<Cow<'_, str>>(raw) else {
                continue;
            };
            let colon = bytes[end..].iter().position(|b| !b.is_ascii_whitespace());
            let is_name = colon.is_some_and(|place| bytes[end + place] == b':');
            let mut named = name.as_deref().and_then(|name| self.value(name, &text));
            // A `password` may have a list of rules, such as `required`.
            let own = name
                .as_deref()
                .filter(|name| !is_name && (!in_list || is_plural(name.as_bytes())));
            named = named.or_else(|| self.word(own?, &text));
            if let Some(name) = name.as_deref().filter(|_| !is_name && !in_list) {
                if names_another(name) {
                    // One that tells of a secret says more than an id behind it.
                    about = about
                        .filter(|known| self.tells(known))
                        .or(Some(text.to_string()));
                } else if named.is_none() && is_named_by_another(name) {
                    named = self.paired(about.as_deref(), &text);
                    named = named.or_else(|| self.paired(behind(json, end), &text));
                }
            }
            if !is_name && manifest.contains(&(open + 1)) {
                named = named.or_else(|| self.placed(Kind::Secret, &text));
            }
            let changed = match named {
                Some(placeholder) => Some(placeholder),
                None => match lines.remove(&open) {
                    Some(line) => (line != text).then_some(line),
                    None => match self.text(&text) {
                        Cow::Owned(changed) => Some(changed),
                        Cow::Borrowed(_) => None,
                    },
                },
            };
            if let Some(changed) = changed {
                out.push_str(&json[copied..open]);
                out.push_str(&quoted(&changed));
                copied = end;
            }
            if is_name {
                name = Some(text.into_owned());
            }
        }
        match copied {
            0 => Cow::Borrowed(json),
            _ => {
                out.push_str(&json[copied..]);
                Cow::Owned(out)
            }
        }
    }
}

/// What the member behind the string that ends at `end` says it is the value of.
fn behind(json: &str, end: usize) -> Option<&str> {
    std::str::from_utf8(name_behind(json.as_bytes(), end)?).ok()
}

impl Document<'_> {
    /// Whether a name promises a secret.
    fn tells(&self, name: &str) -> bool {
        self.redactor.promise(name.as_bytes()).is_some()
    }

    /// The placeholder of a value that another member names, if it is secret.
    fn paired(&mut self, about: Option<&str>, text: &str) -> Option<String> {
        let about = about?;
        let named = self.value(about, text);
        named.or_else(|| self.word(about, text))
    }

    /// The strings of each list as they are without secrets, by where they
    /// open. A list may hold the lines of one text, so they are read as one: line
    /// by line a private key could not be known.
    fn lists(&mut self, json: &str) -> HashMap<usize, String> {
        let bytes = json.as_bytes();
        let mut found = HashMap::new();
        let mut list: Vec<(usize, Cow<'_, str>)> = Vec::new();
        let mut at = 0;
        while let Some(open) = memchr::memchr(b'"', &bytes[at..]).map(|place| at + place) {
            let gap = bytes[at..open].trim_ascii();
            let goes_on = gap == b"," && !list.is_empty();
            if !goes_on {
                self.list(&mut list, &mut found);
            }
            let Some(end) = string_end(bytes, open) else {
                break;
            };
            if (goes_on || gap.ends_with(b"["))
                && let Ok(text) = serde_json::from_str::<Cow<'_, str>>(&json[open..end])
            {
                list.push((open, text));
            }
            at = end;
        }
        self.list(&mut list, &mut found);
        found
    }

    /// Redacts the strings of one list, of which none is left behind.
    fn list(&mut self, list: &mut Vec<(usize, Cow<'_, str>)>, found: &mut HashMap<usize, String>) {
        let strings = std::mem::take(list);
        if strings.len() < 2 {
            return;
        }
        let texts: Vec<&str> = strings.iter().map(|(_, text)| text.as_ref()).collect();
        let Cow::Owned(changed) = self.text(&texts.join("\n")) else {
            found.extend(
                strings
                    .into_iter()
                    .map(|(open, text)| (open, text.into_owned())),
            );
            return;
        };
        // A placeholder keeps the line ends of what it stands for.
        let mut lines = changed.split('\n');
        for (open, text) in strings {
            let count = text.matches('\n').count() + 1;
            let part: Vec<&str> = lines.by_ref().take(count).collect();
            found.insert(open, part.join("\n"));
        }
    }
}

/// Where the strings begin that are values of a secret of Kubernetes.
fn manifest(json: &str) -> HashSet<usize> {
    if !kubernetes::may_be_json(json) {
        return HashSet::new();
    }
    memchr::memmem::find_iter(json.as_bytes(), b"ata\":")
        .flat_map(|place| kubernetes::values(json.as_bytes(), place + 4))
        .map(|span| span.start)
        .collect()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Where the string that opens at `open` ends, its quote included.
fn string_end(bytes: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        let place = memchr::memchr2(b'"', b'\\', &bytes[at..])?;
        at += place;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
        if at > bytes.len() {
            return None;
        }
    }
}
