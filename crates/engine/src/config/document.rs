//! A file as a tree of values in which every key knows its line.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use jsonc_parser::ast::Value as Json;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use serde_saphyr::{Location, Spanned};

use super::{KeyPath, Problem};

/// JSON5, and nothing beyond it.
const JSON5: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: true,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: true,
    allow_hexadecimal_numbers: true,
    allow_unary_plus_numbers: true,
    allow_bare_decimal_point_numbers: true,
    allow_non_finite_numbers: true,
    allow_extended_string_escapes: true,
};

/// A parsed file.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) keys: Map<String, Value>,
    /// Lines of keys, from 1 as editors count.
    pub(super) lines: HashMap<KeyPath, u64>,
}

impl Document {
    /// The line of a key, or of what it is in.
    pub(super) fn line(&self, key: &KeyPath) -> Option<u64> {
        let mut path = key.clone();
        loop {
            if let Some(line) = self.lines.get(&path) {
                return Some(*line);
            }
            let parent = path.as_str().rfind(['.', '['])?;
            path = KeyPath::new(&path.as_str()[..parent]);
        }
    }
}

/// The keys of a file, by the ending of its name. A byte order mark is passed over;
/// a text of comments alone has no keys.
pub(super) fn parse(path: &Path, text: &str) -> Result<Document, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let ending = path.extension().and_then(|ending| ending.to_str());
    let node = match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("yaml" | "yml") => parse_yaml(path, text)?,
        Some("json5" | "json") => parse_json5(path, text)?,
        _ => {
            return Err(Problem::new(format!(
                "{} is not a configuration file by its name; it must end in .yaml, .yml, .json5 \
                 or .json",
                path.display()
            )));
        }
    };
    let mut lines = HashMap::new();
    let found = match node.into_value(path, &KeyPath::root(), &mut lines)? {
        Value::Object(keys) => return Ok(Document { keys, lines }),
        Value::Null => {
            let keys = Map::new();
            return Ok(Document { keys, lines });
        }
        Value::Array(_) => "a list",
        Value::Bool(_) | Value::Number(_) | Value::String(_) => "a single value",
    };
    Err(Problem::new(format!(
        "{} holds {found} where keys belong; begin with a section, such as `compaction:`",
        path.display()
    )))
}

/// A JSON5 value on its own, as variables hold it.
pub(super) fn value(text: &str) -> Option<Value> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &JSON5).ok()?;
    parsed.value.map(Value::from)
}

fn parse_json5(path: &Path, text: &str) -> Result<Node, Problem> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &JSON5).map_err(|error| {
        let (line, column) = (error.line_display(), error.column_display());
        syntax(path, line as u64, column as u64, &error.kind().to_string())
    })?;
    let line_ends: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
    Ok(parsed.value.map_or(Node::Leaf(Value::Null), |value| {
        Node::of_json(value, &|at| {
            line_ends.partition_point(|end| *end < at) as u64 + 1
        })
    }))
}

fn parse_yaml(path: &Path, text: &str) -> Result<Node, Problem> {
    let node: Spanned<Node> = serde_saphyr::from_str(text).map_err(|error| {
        let error = error.without_snippet();
        let at = error.location().unwrap_or(Location::UNKNOWN);
        let (line, column) = (at.line().max(1), at.column().max(1));
        if let serde_saphyr::Error::DuplicateMappingKey { key: Some(key), .. } = error {
            return twice(path, &KeyPath::new(key), line);
        }
        let reason = error.to_string();
        // The place is told apart; the parser repeats it at the end.
        let reason = reason.rsplit_once(" at line ");
        let reason = reason.map_or_else(|| error.to_string(), |(text, _)| text.to_owned());
        syntax(path, line, column, &reason)
    })?;
    Ok(node.value)
}

fn syntax(path: &Path, line: u64, column: u64, reason: &str) -> Problem {
    Problem::new(format!(
        "{}, line {line}, column {column}: {reason}",
        path.display()
    ))
}

fn twice(path: &Path, key: &KeyPath, line: u64) -> Problem {
    Problem::new(format!(
        "`{key}` stands twice ({}:{line}); keep one of them",
        path.display()
    ))
}

/// A value whose keys carry their line.
enum Node {
    Leaf(Value),
    List(Vec<Node>),
    Keys(Vec<(String, u64, Node)>),
}

impl Node {
    fn of_json(value: Json<'_>, line_of: &dyn Fn(usize) -> u64) -> Node {
        match value {
            Json::Array(array) => {
                let items = array.elements.into_iter();
                Node::List(items.map(|item| Node::of_json(item, line_of)).collect())
            }
            Json::Object(object) => {
                let properties = object.properties.into_iter();
                let keys = properties.map(|property| {
                    let line = line_of(property.start());
                    (
                        property.name.into_string(),
                        line,
                        Node::of_json(property.value, line_of),
                    )
                });
                Node::Keys(keys.collect())
            }
            leaf => Node::Leaf(leaf.into()),
        }
    }

    fn into_value(
        self,
        file: &Path,
        path: &KeyPath,
        lines: &mut HashMap<KeyPath, u64>,
    ) -> Result<Value, Problem> {
        Ok(match self {
            Node::Leaf(value) => value,
            Node::List(items) => {
                let items = items.into_iter().enumerate();
                let values = items.map(|(i, item)| item.into_value(file, &path.item(i), lines));
                Value::Array(values.collect::<Result<_, _>>()?)
            }
            Node::Keys(entries) => {
                let mut keys = Map::new();
                for (key, line, node) in entries {
                    let path = path.child(&key);
                    if lines.insert(path.clone(), line).is_some() {
                        return Err(twice(file, &path, line));
                    }
                    keys.insert(key, node.into_value(file, &path, lines)?);
                }
                Value::Object(keys)
            }
        })
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
        while let Some((key, node)) = entries.next_entry::<Spanned<String>, Node>()? {
            keys.push((key.value, key.referenced.line().max(1), node));
        }
        Ok(Node::Keys(keys))
    }
}
