//! Every setting there is, from the schema.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::{Config, KeyPath};

/// Names that the sources and OpenClaw use for a setting that has another name
/// here. They are taken wherever a key is taken.
const ALIASES: &[(&str, &str)] = &[
    ("compaction.enabled", "compaction.autoEnabled"),
    (
        "compaction.keepRecentTokens",
        "compaction.preserveRecentTokens",
    ),
    (
        "compaction.pruneAfterRounds",
        "compaction.prune.pruneAfterRounds",
    ),
    (
        "compaction.memoryFlush.softThresholdTokens",
        "compaction.softThresholdTokens",
    ),
];

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::build);

/// The JSON Schema of a configuration file.
pub fn schema() -> Value {
    CATALOGUE.schema.clone()
}

/// Every setting, in the order of the schema; other names left out.
pub fn key_paths() -> impl Iterator<Item = KeyPath> {
    CATALOGUE.settings.iter().map(|(key, _)| key.clone())
}

/// A path looked up.
pub(super) enum Found {
    Setting(KeyPath, &'static Value),
    Section,
    Nothing,
}

#[derive(Default)]
struct Catalogue {
    schema: Value,
    settings: Vec<(KeyPath, Value)>,
    sections: Vec<KeyPath>,
}

impl Catalogue {
    fn build() -> Catalogue {
        // Written out in place rather than referred to: a reader of the schema finds
        // everything about a key where the key is.
        let generator = SchemaSettings::draft2020_12()
            .with(|settings| settings.inline_subschemas = true)
            .into_generator();
        let mut schema = generator.into_root_schema_for::<Config>().to_value();
        refuse_empty_texts(&mut schema);
        let mut catalogue = Catalogue::default();
        catalogue.collect(&mut schema, &KeyPath::root());
        for (alias, key) in ALIASES {
            let settings = catalogue.settings.iter();
            for (_, original) in settings.filter(|(path, _)| path.as_str() == *key) {
                insert_alias(&mut schema, alias, key, original.clone());
            }
        }
        catalogue.schema = schema;
        catalogue
    }

    fn collect(&mut self, schema: &mut Value, path: &KeyPath) {
        let properties = schema["properties"].as_object_mut();
        for (name, property) in properties.into_iter().flatten() {
            let path = path.child(name);
            match property.as_object_mut() {
                Some(section) if section.contains_key("properties") => {
                    // It would repeat the defaults of the section's keys.
                    section.remove("default");
                    self.collect(property, &path);
                    self.sections.push(path);
                }
                _ => self.settings.push((path, property.clone())),
            }
        }
    }
}

/// No text that can be set means anything when it is empty.
fn refuse_empty_texts(schema: &mut Value) {
    if let Value::Object(words) = schema {
        let is_text = match words.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
            kind => kind.is_some_and(|kind| kind == "string"),
        };
        if is_text && !words.contains_key("const") && !words.contains_key("enum") {
            words.insert("minLength".to_owned(), 1.into());
        }
        words.values_mut().for_each(refuse_empty_texts);
    } else if let Value::Array(branches) = schema {
        branches.iter_mut().for_each(refuse_empty_texts);
    }
}

fn insert_alias(schema: &mut Value, alias: &str, key: &str, mut property: Value) {
    property["description"] = format!("Another name for `{key}`.").into();
    if let Some(property) = property.as_object_mut() {
        property.remove("default");
    }
    let pointer = format!("/properties/{}", alias.replace('.', "/properties/"));
    let (section, name) = pointer.rsplit_once('/').unwrap_or_default();
    if let Some(properties) = schema.pointer_mut(section).and_then(Value::as_object_mut) {
        properties.insert(name.to_owned(), property);
    }
}

/// What a path names, other names resolved.
pub(super) fn find(path: &str) -> Found {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == path);
    let path = alias.map_or(path, |(_, key)| key);
    let mut settings = CATALOGUE.settings.iter();
    match settings.find(|(key, _)| key.as_str() == path) {
        Some((key, schema)) => Found::Setting(key.clone(), schema),
        None if CATALOGUE.sections.iter().any(|key| key.as_str() == path) => Found::Section,
        None => Found::Nothing,
    }
}

/// Every path that holds a value, other names included.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let settings = CATALOGUE.settings.iter().map(|(key, _)| key.as_str());
    settings.chain(ALIASES.iter().map(|(alias, _)| *alias))
}

/// A sentence for somebody who wrote a path that does not exist.
pub(super) fn hint_of_path(written: &KeyPath) -> String {
    let sections = CATALOGUE.sections.iter().map(KeyPath::as_str);
    hint(written, names().chain(sections))
}

/// The same, where only some paths could have been meant.
pub(super) fn hint<'a>(written: &KeyPath, known: impl Iterator<Item = &'a str>) -> String {
    const CLOSE_ENOUGH: f64 = 0.6;
    let best = known
        .map(|path| (likeness(written, path), path))
        .filter(|(likeness, _)| *likeness >= CLOSE_ENOUGH)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((_, path)) => format!("did you mean `{path}`?"),
        None => "`longhaul config schema` lists every setting".to_owned(),
    }
}

/// How alike two paths are, from 0 to 1. Case and separators do not matter, and a
/// right name in the wrong section is nearly right.
fn likeness(written: &KeyPath, known: &str) -> f64 {
    let known = KeyPath::new(known);
    let ((section, name), (known_section, known_name)) = (written.split(), known.split());
    let whole = alike(written.as_str(), known.as_str());
    let within = alike(name, known_name);
    let section_likeness = alike(section, known_section);
    let elsewhere = within * (0.75 + 0.24 * section_likeness);
    let name_matters = if within > 0.8 || section == known_section {
        elsewhere
    } else {
        0.0
    };
    whole.max(name_matters)
}

fn alike(a: &str, b: &str) -> f64 {
    let plain = |text: &str| -> String {
        let kept = text.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
        kept.flat_map(char::to_lowercase).collect()
    };
    strsim::normalized_damerau_levenshtein(&plain(a), &plain(b))
}
