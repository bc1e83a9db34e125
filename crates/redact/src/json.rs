//! Redaction inside JSON text: strings are changed, every other byte stays.

use std::borrow::Cow;

use super::names;
use super::{Document, Kind};

/// A string of the text.
struct Text<'t> {
    open: usize,
    end: usize,
    text: Cow<'t, str>,
    /// The name of the member it is the value of, or in a list of which it is.
    name: Option<usize>,
    is_name: bool,
    in_list: bool,
    object: usize,
}

/// An object: the string that names it as a member, and in which object.
#[derive(Default)]
struct Object {
    name: Option<usize>,
    parent: usize,
    /// It is a secret of Kubernetes.
    is_secret: bool,
    /// The member that says what its `value` is the value of.
    about: Option<usize>,
}

struct Read<'t> {
    texts: Vec<Text<'t>>,
    objects: Vec<Object>,
}

impl Document<'_> {
    /// The JSON text without secrets. A string is judged as it reads, with its
    /// escapes undone, and by the name of the member it is the value of. What
    /// is no JSON is redacted as the text it is.
    pub fn json<'t>(&mut self, json: &'t str) -> Cow<'t, str> {
        let mut read = read(json);
        self.say_what_values_are(&mut read);
        let mut out = String::new();
        let mut copied = 0;
        let mut at = 0;
        while let Some(text) = read.texts.get(at) {
            let list = self.lines_of_list(&read, at);
            let count = list.as_ref().map_or(1, Vec::len);
            for (number, text) in read.texts[at..at + count].iter().enumerate() {
                let named = (!text.is_name)
                    .then(|| self.of_member(&read, text))
                    .flatten();
                let changed = named.or_else(|| match &list {
                    Some(lines) => (lines[number] != text.text).then(|| lines[number].clone()),
                    None => match self.text(&text.text) {
                        Cow::Owned(changed) => Some(changed),
                        Cow::Borrowed(_) => None,
                    },
                });
                if let Some(changed) = changed {
                    out.push_str(&json[copied..text.open]);
                    out.push_str(&serde_json::Value::from(changed).to_string());
                    copied = text.end;
                }
            }
            debug_assert!(text.open < text.end, "a string has quotes");
            at += count;
        }
        match copied {
            0 => Cow::Borrowed(json),
            _ => {
                out.push_str(&json[copied..]);
                Cow::Owned(out)
            }
        }
    }

    /// The placeholder of a value that its member, or another one of its object,
    /// makes a secret.
    fn of_member(&mut self, read: &Read<'_>, text: &Text<'_>) -> Option<String> {
        let name = &read.texts[text.name?].text;
        if let Some(placeholder) = self.value(name, &text.text) {
            return Some(placeholder);
        }
        // A header: its name says what stands in its value.
        let header = matches!(
            names::plain(name).as_str(),
            "auth" | "authorization" | "cookie"
        );
        if header {
            let line = format!("{name}: {}", text.text);
            let found = self.redactor.secrets(&line);
            if let Some(span) = found.first().filter(|span| span.start > name.len() + 1) {
                return self.placed(span.kind, &text.text);
            }
        }
        let object = &read.objects[text.object];
        let data = object.name.map(|name| read.texts[name].text.as_ref());
        let manifest = read.objects[object.parent].is_secret
            && matches!(data, Some("data" | "stringData"))
            && !text.text.is_empty()
            && !text.text.starts_with("[redacted:");
        if manifest {
            return self.placed(Kind::Secret, &text.text);
        }
        let about = object
            .about
            .filter(|_| names::plain(name).ends_with("value"))?;
        self.value(&read.texts[about].text, &text.text)
    }

    /// Notes in each object which member names the value of another, and which
    /// objects are secrets of Kubernetes.
    fn say_what_values_are(&self, read: &mut Read<'_>) {
        for (at, text) in read.texts.iter().enumerate() {
            let Some(name) = text.name.filter(|_| !text.is_name && !text.in_list) else {
                continue;
            };
            let name = names::plain(&read.texts[name].text);
            let object = &mut read.objects[text.object];
            object.is_secret |= name == "kind" && text.text == "Secret";
            let names_another = ["name", "key", "id", "variable"]
                .iter()
                .any(|end| name.ends_with(end));
            if names_another && names::promise(&text.text, &self.redactor.names).is_some() {
                object.about = Some(at);
            }
        }
    }

    /// The strings of the list that begins at `at` as they are without secrets. A
    /// list may hold the lines of one text, so they are read as one: line by line
    /// a private key could not be known.
    fn lines_of_list(&mut self, read: &Read<'_>, at: usize) -> Option<Vec<String>> {
        let first = &read.texts[at];
        let same = |text: &&Text<'_>| {
            text.in_list && !text.is_name && text.object == first.object && text.name == first.name
        };
        let strings: Vec<&Text<'_>> = read.texts[at..].iter().take_while(same).collect();
        if strings.len() < 2 {
            return None;
        }
        let texts: Vec<&str> = strings.iter().map(|text| text.text.as_ref()).collect();
        let changed = self.text(&texts.join("\n")).into_owned();
        // A placeholder keeps the line ends of what it stands for.
        let mut lines = changed.split('\n');
        let each = texts.iter().map(|text| {
            let count = text.matches('\n').count() + 1;
            let part: Vec<&str> = lines.by_ref().take(count).collect();
            part.join("\n")
        });
        Some(each.collect())
    }
}

/// The strings of a text, and the objects in which they stand.
fn read(json: &str) -> Read<'_> {
    let bytes = json.as_bytes();
    let mut read = Read {
        texts: Vec::new(),
        objects: vec![Object::default()],
    };
    let mut name: Option<usize> = None;
    // Where an object or a list goes on when an inner one has ended.
    let mut within: Vec<(usize, bool, Option<usize>)> = Vec::new();
    let (mut object, mut in_list) = (0, false);
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'"', &bytes[at..]).map(|place| at + place) {
        for byte in &bytes[at..open] {
            match byte {
                b'{' => {
                    within.push((object, in_list, name));
                    read.objects.push(Object {
                        name,
                        parent: object,
                        ..Object::default()
                    });
                    object = read.objects.len() - 1;
                    (in_list, name) = (false, None);
                }
                b'[' => {
                    within.push((object, in_list, name));
                    in_list = true;
                }
                b'}' | b']' => (object, in_list, name) = within.pop().unwrap_or_default(),
                b',' if !in_list => name = None,
                _ => {}
            }
        }
        let Some(end) = string_end(bytes, open) else {
            break;
        };
        at = end;
        let Ok(text) = serde_json::from_str::<Cow<'_, str>>(&json[open..end]) else {
            continue;
        };
        let behind = bytes[end..].iter().find(|b| !b.is_ascii_whitespace());
        let is_name = behind == Some(&b':');
        read.texts.push(Text {
            open,
            end,
            text,
            name,
            is_name,
            in_list,
            object,
        });
        if is_name {
            name = Some(read.texts.len() - 1);
        }
    }
    read
}

/// Where the string that opens at `open` ends, its quote included.
fn string_end(bytes: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        let place = memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        at += place;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}
