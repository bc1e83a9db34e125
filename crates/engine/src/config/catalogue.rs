//! Every setting there is, from the schema.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

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

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// A value.
    Setting,
    /// A group of them.
    Section,
    /// A value by another name.
    Alias,
}

/// A path looked up.
pub(super) enum Found {
    Setting {
        key: KeyPath,
        schema: &'static Value,
    },
    Section,
    Nothing,
}

struct Catalogue {
    schema: Value,
    settings: Vec<(KeyPath, Value)>,
    kinds: BTreeMap<String, Known>,
}

impl Catalogue {
    fn build() -> Catalogue {
        // Written out in place rather than referred to: a reader of the schema finds
        // everything about a key where the key is.
        let generator = SchemaSettings::draft2020_12()
            .with(|settings| settings.inline_subschemas = true)
            .into_generator();
        let mut schema = generator.into_root_schema_for::<Config>().to_value();
        // The sections' own defaults would repeat those of their keys.
        drop_section_defaults(&mut schema);
        let mut settings = Vec::new();
        let mut kinds = BTreeMap::new();
        collect(&schema, &KeyPath::root(), &mut settings, &mut kinds);
        for (alias, key) in ALIASES {
            kinds.insert((*alias).to_owned(), Known::Alias);
            let original = settings.iter().find(|(path, _)| path.as_str() == *key);
            if let Some((_, original)) = original {
                insert_alias(&mut schema, alias, key, original.clone());
            }
        }
        Catalogue {
            schema,
            settings,
            kinds,
        }
    }
}

fn drop_section_defaults(schema: &mut Value) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for property in properties.values_mut() {
        if property["properties"].is_object()
            && let Some(section) = property.as_object_mut()
        {
            section.remove("default");
            drop_section_defaults(property);
        }
    }
}

fn collect(
    schema: &Value,
    path: &KeyPath,
    settings: &mut Vec<(KeyPath, Value)>,
    kinds: &mut BTreeMap<String, Known>,
) {
    let properties = schema["properties"].as_object();
    for (name, property) in properties.into_iter().flatten() {
        let path = path.child(name);
        if property["properties"].is_object() {
            kinds.insert(path.as_str().to_owned(), Known::Section);
            collect(property, &path, settings, kinds);
        } else {
            kinds.insert(path.as_str().to_owned(), Known::Setting);
            settings.push((path, property.clone()));
        }
    }
}

fn insert_alias(schema: &mut Value, alias: &str, key: &str, mut property: Value) {
    property["description"] = format!("Another name for `{key}`.").into();
    if let Some(property) = property.as_object_mut() {
        property.remove("default");
    }
    let alias = KeyPath::new(alias);
    let (section, name) = alias.split();
    let pointer: String = section
        .split('.')
        .map(|part| format!("/properties/{part}"))
        .collect();
    let properties = schema.pointer_mut(&format!("{pointer}/properties"));
    if let Some(properties) = properties.and_then(Value::as_object_mut) {
        properties.insert(name.to_owned(), property);
    }
}

/// What a path names, other names resolved.
pub(super) fn find(path: &str) -> Found {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == path);
    let path = alias.map_or(path, |(_, key)| key);
    if CATALOGUE.kinds.get(path) == Some(&Known::Section) {
        return Found::Section;
    }
    let mut settings = CATALOGUE.settings.iter();
    match settings.find(|(key, _)| key.as_str() == path) {
        Some((key, schema)) => Found::Setting {
            key: key.clone(),
            schema,
        },
        None => Found::Nothing,
    }
}

/// Every path that can be written, other names and sections included.
pub(super) fn known_paths() -> impl Iterator<Item = (&'static str, Known)> {
    let kinds = CATALOGUE.kinds.iter();
    kinds.map(|(path, known)| (path.as_str(), *known))
}

/// The path whose variable has this name.
pub(super) fn by_variable(variable: &str) -> Option<&'static str> {
    known_paths()
        .filter(|(_, known)| *known != Known::Section)
        .map(|(path, _)| path)
        .find(|path| KeyPath::new(*path).variable() == variable)
}

/// A sentence for somebody who wrote a path that does not exist.
pub(super) fn hint<'a>(written: &KeyPath, known: impl Iterator<Item = (&'a str, Known)>) -> String {
    const CLOSE_ENOUGH: f64 = 0.6;
    let best = known
        .map(|(path, _)| (likeness(written, path), path))
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

/// The tree of defaults, for layers to be laid over.
pub(super) fn defaults() -> Map<String, Value> {
    match serde_json::to_value(Config::default()) {
        Ok(Value::Object(tree)) => tree,
        // A struct of plain values always serialises to an object.
        _ => Map::new(),
    }
}
