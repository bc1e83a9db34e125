//! JSON objects that keep the bytes they were read from.
//!
//! Session files belong to other programs, so a field we do not know must come
//! out exactly as it went in. An [`Object`] is therefore a list of keys with the
//! raw text of each value; typed access parses one value at a time and never
//! fails the whole object. A line is checked once, as it is read: what stands
//! inside it is JSON by then, and is only taken apart.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON object whose values are still text, in stored order.
#[derive(Debug, Clone, Default)]
pub struct Object<'a> {
    fields: Vec<(Cow<'a, str>, &'a str)>,
}

/// A JSON value as text.
#[derive(Debug, Clone, Copy)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// The text.
    pub fn get(self) -> &'a str {
        self.0
    }
}

impl<'a> Object<'a> {
    /// Reads one object; anything after it is an error.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Reads one object from bytes, which must be UTF-8.
    pub fn parse_bytes(bytes: &'a [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }

    /// The object that a value is which was read as JSON before, such as a field of
    /// another one; none where it is something else.
    pub fn of(value: &'a str) -> Option<Self> {
        let mut parts = Parts::within(value, b'{', b'}')?;
        let mut fields = Vec::with_capacity(8);
        while parts.goes_on()? {
            let key = key(parts.value()?)?;
            parts.pass(b':')?;
            fields.push((key, parts.value()?));
        }
        Some(Object { fields })
    }

    /// The raw text of a field. A repeated key means its last value, as in JavaScript.
    pub fn raw(&self, key: &str) -> Option<&'a str> {
        self.fields
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .map(|(_, value)| *value)
    }

    /// The field as a string; `None` when absent, `null` or of another type.
    pub fn str(&self, key: &str) -> Option<Cow<'a, str>> {
        string(self.raw(key)?)
    }

    /// The field as a string, or the number it is written as.
    pub fn str_or_number(&self, key: &str) -> Option<Cow<'a, str>> {
        let raw = self.raw(key)?;
        string(raw).or_else(|| number(raw).map(|_| Cow::Borrowed(raw)))
    }

    /// The field as a number.
    pub fn f64(&self, key: &str) -> Option<f64> {
        number(self.raw(key)?)
    }

    /// The field as a non-negative whole number; fractions are cut off.
    pub fn u64(&self, key: &str) -> Option<u64> {
        let value = self.f64(key)?;
        (value >= 0.0 && value < u64::MAX as f64).then_some(value as u64)
    }

    /// The field as a boolean.
    pub fn bool(&self, key: &str) -> Option<bool> {
        match self.raw(key)? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The field as an object.
    pub fn object(&self, key: &str) -> Option<Object<'a>> {
        Object::of(self.raw(key)?)
    }

    /// The elements of a field that is an array.
    pub fn array(&self, key: &str) -> Option<Vec<Raw<'a>>> {
        array(self.raw(key)?)
    }

    /// Whether the field is there at all, even as `null`.
    pub fn has(&self, key: &str) -> bool {
        self.raw(key).is_some()
    }

    /// Whether one of these fields is a string that says something.
    pub(crate) fn has_text(&self, keys: &[&str]) -> bool {
        keys.iter()
            .any(|key| self.str(key).is_some_and(|text| !text.trim().is_empty()))
    }

    /// Keys and raw values in stored order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> + '_ {
        self.fields
            .iter()
            .map(|(name, value)| (name.as_ref(), *value))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut fields = Vec::with_capacity(8);
                while let Some(key) = map.next_key::<Key<'de>>()? {
                    fields.push((key.0, map.next_value::<&'de RawValue>()?.get()));
                }
                Ok(Object { fields })
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

/// A map key, borrowed when it holds no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Text)
    }
}

/// Decodes a raw JSON string. A lone surrogate (`"\ud800"`), which JavaScript
/// writes without complaint, becomes U+FFFD instead of losing the string.
pub fn string(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    if let Some(text) = unescaped(inner) {
        return Some(Cow::Owned(text));
    }
    match serde_json::from_str::<String>(raw) {
        Ok(text) => Some(Cow::Owned(text)),
        Err(_) => serde_json::from_str::<LossyText>(raw)
            .ok()
            .map(|text| Cow::Owned(text.0)),
    }
}

/// The text of a string in which no character is written as two escapes.
fn unescaped(inner: &str) -> Option<String> {
    let mut text = String::with_capacity(inner.len());
    let mut left = inner;
    while let Some(at) = memchr::memchr(b'\\', left.as_bytes()) {
        text.push_str(&left[..at]);
        let (escape, rest) = left[at + 1..].split_at_checked(1)?;
        left = rest;
        text.push(match escape.as_bytes()[0] {
            b'n' => '\n',
            b'"' => '"',
            b'\\' => '\\',
            b't' => '\t',
            b'r' => '\r',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                let (digits, rest) = left.split_at_checked(4)?;
                left = rest;
                let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| hex)?)?
            }
            _ => return None,
        });
    }
    text.push_str(left);
    Some(text)
}

/// Decodes through bytes, where serde_json lets lone surrogates pass.
struct LossyText(String);

impl<'de> Deserialize<'de> for LossyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl Visitor<'_> for Bytes {
            type Value = LossyText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<LossyText, E> {
                Ok(LossyText(String::from_utf8_lossy(bytes).into_owned()))
            }
        }

        deserializer.deserialize_bytes(Bytes)
    }
}

/// The elements of the array that a value is which was read as JSON before.
pub fn array(raw: &str) -> Option<Vec<Raw<'_>>> {
    let mut parts = Parts::within(raw, b'[', b']')?;
    let mut elements = Vec::new();
    while parts.goes_on()? {
        elements.push(Raw(parts.value()?));
    }
    Some(elements)
}

/// The parts of an object or a list that is known to be one: strings are passed
/// over by their quotes, and nothing is checked again.
struct Parts<'a> {
    text: &'a str,
    at: usize,
    close: u8,
    /// Whether no part was taken yet.
    begins: bool,
}

impl<'a> Parts<'a> {
    fn within(text: &'a str, open: u8, close: u8) -> Option<Parts<'a>> {
        let text = text.trim_ascii();
        (text.as_bytes().first() == Some(&open)).then_some(Parts {
            text,
            at: 1,
            close,
            begins: true,
        })
    }

    /// Whether there is another part.
    fn goes_on(&mut self) -> Option<bool> {
        if self.next()? == self.close {
            return (self.at + 1 == self.text.len()).then_some(false);
        }
        if !std::mem::replace(&mut self.begins, false) {
            self.pass(b',')?;
        }
        Some(true)
    }

    /// The next byte that is no space.
    fn next(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn pass(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    fn value(&mut self) -> Option<&'a str> {
        let first = self.next()?;
        let (start, bytes) = (self.at, self.text.as_bytes());
        let mut depth = 0_usize;
        self.at = match first {
            b'"' => string_end(bytes, start)?,
            b'{' | b'[' => loop {
                match bytes.get(self.at)? {
                    b'"' => {
                        self.at = string_end(bytes, self.at)?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                self.at += 1;
                if depth == 0 {
                    break self.at;
                }
            },
            _ => {
                let ends =
                    |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
                start + bytes[start..].iter().position(ends)?
            }
        };
        self.text
            .get(start..self.at)
            .filter(|value| !value.is_empty())
    }
}

/// Where the string ends that begins here.
fn string_end(bytes: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        let quote = at + memchr::memchr(b'"', bytes.get(at..)?)?;
        let escapes = bytes[open + 1..quote].iter().rev();
        if escapes.take_while(|byte| **byte == b'\\').count() % 2 == 0 {
            return Some(quote + 1);
        }
        at = quote + 1;
    }
}

/// A key, borrowed when it holds no escapes.
fn key(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    match memchr::memchr(b'\\', inner.as_bytes()) {
        None => Some(Cow::Borrowed(inner)),
        Some(_) => serde_json::from_str(raw).ok().map(Cow::Owned),
    }
}

fn number(raw: &str) -> Option<f64> {
    let first = raw.as_bytes().first()?;
    (first.is_ascii_digit() || *first == b'-')
        .then(|| raw.parse().ok())
        .flatten()
}

/// Writes a JSON string.
pub fn quote(text: &str) -> String {
    serde_json::to_string(text).expect("a string always serialises")
}

/// Builds an object from keys and raw values, in order.
#[derive(Debug, Default)]
pub struct ObjectWriter {
    text: String,
}

impl ObjectWriter {
    /// An empty object.
    pub fn new() -> Self {
        ObjectWriter {
            text: String::from("{"),
        }
    }

    /// Adds a field whose value is already JSON.
    pub fn raw(mut self, key: &str, value: &str) -> Self {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        self.text.push_str(&quote(key));
        self.text.push(':');
        self.text.push_str(value);
        self
    }

    /// Adds a raw field if there is one.
    pub fn raw_opt(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.raw(key, value),
            None => self,
        }
    }

    /// Adds a string field.
    pub fn str(self, key: &str, value: &str) -> Self {
        self.raw(key, &quote(value))
    }

    /// Adds a string field if there is one.
    pub fn str_opt(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.str(key, value),
            None => self,
        }
    }

    /// Adds a number field.
    pub fn num(self, key: &str, value: impl fmt::Display) -> Self {
        self.raw(key, &value.to_string())
    }

    /// The finished object.
    pub fn finish(mut self) -> String {
        self.text.push('}');
        self.text
    }
}

/// The object with one field set: in its place when it was there, else last.
pub fn with_field(object: &Object<'_>, key: &str, value: &str) -> String {
    let mut writer = ObjectWriter::new();
    let mut placed = false;
    for (name, raw) in object.iter() {
        if name == key {
            if !placed {
                writer = writer.raw(name, value);
            }
            placed = true;
        } else {
            writer = writer.raw(name, raw);
        }
    }
    if !placed {
        writer = writer.raw(key, value);
    }
    writer.finish()
}

/// The object without one field.
pub fn without_field(object: &Object<'_>, key: &str) -> String {
    let mut writer = ObjectWriter::new();
    for (name, raw) in object.iter().filter(|(name, _)| *name != key) {
        writer = writer.raw(name, raw);
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_keep_their_bytes() {
        let text = r#"{"a":1.50,"é":"x\u0041","a":2}"#;
        let object = Object::parse(text).unwrap();
        assert_eq!(object.raw("a"), Some("2"));
        assert_eq!(object.raw("é"), Some(r#""x\u0041""#));
        assert_eq!(object.str("é").unwrap(), "xA");
    }

    #[test]
    fn a_field_is_replaced_in_its_place() {
        let object = Object::parse(r#"{"role":"user","content":"a","timestamp":1}"#).unwrap();
        assert_eq!(
            with_field(&object, "content", "[]"),
            r#"{"role":"user","content":[],"timestamp":1}"#
        );
        assert_eq!(
            with_field(&object, "x", "null"),
            r#"{"role":"user","content":"a","timestamp":1,"x":null}"#
        );
    }

    #[test]
    fn escapes_are_undone_as_the_checking_reader_does_it() {
        for raw in [
            r#""a\n\t\"\\\/\b\f\r\u00e9\u0041\u2028é""#,
            r#""\ud83d\ude00 \uD83D\uDE00\n""#,
            r#""\\n\\\\""#,
            r#""\u0000\uffff""#,
        ] {
            let checked: String = serde_json::from_str(raw).unwrap();
            assert_eq!(string(raw).unwrap(), checked);
        }
        for odd in [r#""\""#, r#""\u12""#, r#""\u+123""#, r#""\x""#, "\"\\é\""] {
            let checked: Option<String> = serde_json::from_str(odd).ok();
            assert_eq!(string(odd).map(Cow::into_owned), checked, "{odd}");
        }
    }

    #[test]
    fn lone_surrogates_do_not_lose_the_string() {
        assert_eq!(
            string(r#""a\ud800b""#).map(|s| s.chars().count() >= 3),
            Some(true)
        );
        assert_eq!(string("12"), None);
    }

    /// Every value that can be taken apart, by its own reader and by the checking one.
    fn taken_apart(value: &str) {
        let checked = Object::parse(value).ok();
        let own = Object::of(value);
        let fields = |object: &Object<'_>| -> Vec<(String, String)> {
            let fields = object.iter();
            fields.map(|(key, raw)| (key.into(), raw.into())).collect()
        };
        assert_eq!(
            own.as_ref().map(fields),
            checked.as_ref().map(fields),
            "{value}"
        );
        let listed = array(value).map(|list| list.iter().map(|raw| raw.get()).collect::<Vec<_>>());
        let checked: Option<Vec<&RawValue>> = serde_json::from_str(value).ok();
        let checked = checked.map(|list| list.iter().map(|raw| raw.get()).collect::<Vec<_>>());
        assert_eq!(listed, checked, "{value}");
        for inner in listed.into_iter().flatten() {
            taken_apart(inner);
        }
        for (_, inner) in own.iter().flat_map(|object| object.iter()) {
            taken_apart(inner);
        }
    }

    #[test]
    fn what_was_checked_is_taken_apart_as_the_checking_reader_does_it() {
        for value in [
            r#"{}"#,
            r#" { "a" : [ 1 , "x\\" , "\\\"" , {"b":"]}\"[{"} , [ ] ] , "" : null }"#,
            r#"{"a":1.5e-3,"a":true,"\u0061":"é\n\"","\ud800":1}"#,
            r#"{"k\ud800":1}"#,
            "[\n{\"a\":\t-1},\r\n\"\\\\\\\"\" ,[[],{}],false]",
            r#""text""#,
            "12",
        ] {
            taken_apart(value);
        }
    }

    #[test]
    fn what_is_no_json_at_all_ends_in_nothing_or_something_but_never_breaks() {
        let text = r#"{"a":[1,{"b":"x\\"}],"é":"y"}"#;
        for end in 0..=text.len() {
            let Some(cut) = text.get(..end) else { continue };
            assert_eq!(Object::of(cut).is_some(), end == text.len());
            let _ = (
                array(cut),
                array(&cut.replace('{', "[")),
                Object::of(&cut.replace(',', ":")),
            );
        }
        for odd in [
            "{", "{]", "[}", "[,]", "{\"a\"}", "{:1}", "[1,]", "[]]", "{} x", "[]x", "[\"]",
        ] {
            assert!(
                Object::of(odd).is_none()
                    && array(odd).is_none_or(|list| odd == "[1,]" && list.len() == 1),
                "{odd}"
            );
        }
    }

    #[test]
    fn deeply_nested_values_stay_text() {
        let deep = format!("{{\"x\":{}1{}}}", "[".repeat(5000), "]".repeat(5000));
        let object = Object::parse(&deep).unwrap();
        assert_eq!(object.raw("x").map(str::len), Some(10_001));
    }
}
