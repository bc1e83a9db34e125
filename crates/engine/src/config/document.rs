//! A file as a tree of values in which every key knows its line.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use serde_saphyr::{Location, Spanned};

use super::json5_map::{self, MapFault};
use super::{KeyPath, Origin, Problem};

/// From 1, as editors count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: u32,
    pub(super) column: u32,
}

/// A parsed file.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) keys: Map<String, Value>,
    pub(super) places: HashMap<KeyPath, Position>,
}

impl Document {
    /// The line of a key, or of what it is in.
    pub(super) fn line(&self, key: &KeyPath) -> Option<u32> {
        let mut path = key.clone();
        loop {
            if let Some(position) = self.places.get(&path) {
                return Some(position.line);
            }
            let parent = path.as_str().rfind(['.', '['])?;
            path = KeyPath::new(&path.as_str()[..parent]);
        }
    }
}

/// The keys of a file, by the ending of its name.
pub(super) fn parse(path: &Path, text: &str) -> Result<Document, Problem> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("yaml" | "yml") => parse_yaml(path, text),
        Some("json5" | "json") => parse_json5(path, text),
        _ => Err(Problem::UnknownFormat {
            path: path.to_owned(),
        }),
    }
}

/// The keys of a JSON5 text. A byte order mark is passed over; a text of comments
/// alone has no keys.
pub(super) fn parse_json5(path: &Path, text: &str) -> Result<Document, Problem> {
    let text = without_mark(text);
    let syntax = |position: Position, reason: String| Problem::Syntax {
        path: path.to_owned(),
        line: position.line,
        column: position.column,
        reason,
    };
    let map = json5_map::map(text);
    if let Err(MapFault::TooDeep(position)) = map {
        return Err(syntax(position, "nested too deeply".to_owned()));
    }
    if json5_map::is_blank(text) {
        return keys_of(path, Value::Null, HashMap::new());
    }
    let value = json5::from_str(text).map_err(|error| {
        let position = match error.position() {
            // At the end of the text the parser does not say where it is.
            Some(at) if !is_at_end(&error) => Position {
                line: small(at.line + 1),
                column: small(at.column + 1),
            },
            _ => json5_map::end(text),
        };
        let reason = match error.code() {
            Some(code) => code.to_string(),
            None => error.to_string(),
        };
        syntax(position, reason)
    })?;
    match map {
        Ok(places) => keys_of(path, value, places),
        Err(MapFault::Twice(key, position)) => Err(twice(path, key, position.line)),
        Err(MapFault::TooDeep(position)) => Err(syntax(position, "nested too deeply".to_owned())),
    }
}

fn is_at_end(error: &json5::Error) -> bool {
    let code = error.code().map(|code| code.to_string());
    code.is_some_and(|code| code.starts_with("EOF"))
}

fn parse_yaml(path: &Path, text: &str) -> Result<Document, Problem> {
    let node: Spanned<Node> = serde_saphyr::from_str(without_mark(text)).map_err(|error| {
        let error = error.without_snippet();
        let at = position(error.location().unwrap_or(Location::UNKNOWN));
        if let serde_saphyr::Error::DuplicateMappingKey { key: Some(key), .. } = error {
            return twice(path, KeyPath::new(key), at.line);
        }
        let reason = error.to_string();
        // The place is told apart; the parser repeats it at the end.
        let reason = reason
            .rsplit_once(" at line ")
            .map_or(reason.as_str(), |(text, _)| text);
        Problem::Syntax {
            path: path.to_owned(),
            line: at.line,
            column: at.column,
            reason: reason.to_owned(),
        }
    })?;
    let mut places = HashMap::new();
    let value = node.value.into_value(&KeyPath::root(), &mut places);
    keys_of(path, value, places)
}

fn keys_of(
    path: &Path,
    value: Value,
    places: HashMap<KeyPath, Position>,
) -> Result<Document, Problem> {
    let found = match value {
        Value::Object(keys) => return Ok(Document { keys, places }),
        Value::Null => {
            let keys = Map::new();
            return Ok(Document { keys, places });
        }
        Value::Array(_) => "a list",
        Value::Bool(_) | Value::Number(_) | Value::String(_) => "a single value",
    };
    let path = path.to_owned();
    Err(Problem::NoKeys { path, found })
}

fn twice(path: &Path, key: KeyPath, line: u32) -> Problem {
    let origin = Origin::File {
        path: path.to_owned(),
        line: Some(line),
    };
    Problem::Twice { key, origin }
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn position(location: Location) -> Position {
    let count = |n: u64| u32::try_from(n).unwrap_or(u32::MAX).max(1);
    Position {
        line: count(location.line()),
        column: count(location.column()),
    }
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A YAML node whose keys carry their place.
enum Node {
    Leaf(Value),
    List(Vec<Node>),
    Keys(Vec<(Spanned<String>, Node)>),
}

impl Node {
    fn into_value(self, path: &KeyPath, places: &mut HashMap<KeyPath, Position>) -> Value {
        match self {
            Node::Leaf(value) => value,
            Node::List(items) => items
                .into_iter()
                .enumerate()
                .map(|(i, item)| item.into_value(&path.item(i), places))
                .collect(),
            Node::Keys(entries) => {
                let mut keys = Map::new();
                for (key, node) in entries {
                    let path = path.child(&key.value);
                    places.insert(path.clone(), position(key.referenced));
                    keys.insert(key.value, node.into_value(&path, places));
                }
                Value::Object(keys)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Node, E> {
        Ok(Node::Leaf(Value::Null))
    }

    fn visit_none<E: de::Error>(self) -> Result<Node, E> {
        Ok(Node::Leaf(Value::Null))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Leaf(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut keys = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            keys.push(entry);
        }
        Ok(Node::Keys(keys))
    }
}
