//! Laying the layers over each other.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::admit::{Setting, checked, unknown};
use super::catalogue::{self, Found, Known};
use super::check::shown;
use super::consistency::clashes;
use super::document::{self, Document};
use super::key::VARIABLE_PREFIX;
use super::text_value::from_text;
use super::{
    Config, ConfigError, ConfigFile, Flag, FoundBy, KeyPath, Note, OpenClawFile, Origin, Problem,
    Resolved, Sources, openclaw, secret,
};

/// Variables of ours that are no settings; the last two are the plugins' and
/// that of commands an agent runs.
const OTHER_VARIABLES: [&str; 6] = [
    "LONGHAUL_CONFIG",
    "LONGHAUL_STATE_DIR",
    "LONGHAUL_LOG",
    "LONGHAUL_NOW",
    "LONGHAUL_BINARY",
    "LONGHAUL_COMMAND",
];

/// Settings that a workspace does not get to make, since it may be somebody
/// else's work, and what its author could do with them.
const NOT_FROM_WORKSPACE: [(&str, &str); 7] = [
    ("redaction.keep", SECRET),
    ("redaction.off", SECRET),
    ("memory.embedding.baseUrl", KEY),
    ("memory.embedding.apiKeyEnv", KEY),
    ("compaction.model.baseUrl", KEY),
    ("dreaming.model.baseUrl", KEY),
    (
        "dreaming.promoteAtConfidence",
        "could have lines of theirs kept as your memory without your review",
    ),
];
const SECRET: &str = "could have your secrets written down";
const KEY: &str = "could have your key sent elsewhere";

/// Why a workspace does not get to make a setting.
fn barred(key: &KeyPath, value: &Value) -> Option<&'static str> {
    let mut all = NOT_FROM_WORKSPACE.iter();
    let (_, why) = all.find(|(name, _)| *name == key.as_str())?;
    // To ask for review is anybody's right.
    (*why == KEY || !value.is_null()).then_some(*why)
}

/// The configuration from all layers, or everything that is wrong with them.
pub fn resolve(sources: &Sources) -> Result<Resolved, ConfigError> {
    let mut stack = Stack::new();
    if let Some(file) = &sources.openclaw {
        stack.add_openclaw(file);
    }
    if let Some(file) = &sources.file {
        stack.add_file(file);
    }
    stack.add_environment(&sources.environment);
    stack.add_flags(&sources.flags);
    stack.finish()
}

struct Stack {
    tree: Value,
    origins: BTreeMap<KeyPath, Origin>,
    notes: Vec<Note>,
    problems: Vec<Problem>,
}

impl Stack {
    fn new() -> Stack {
        let origins = catalogue::key_paths().map(|key| (key, Origin::Default));
        Stack {
            tree: Value::Object(catalogue::defaults()),
            origins: origins.collect(),
            notes: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn put(&mut self, setting: Setting) {
        if let Some(place) = self.tree.pointer_mut(&setting.key.pointer()) {
            *place = setting.value;
            self.origins.insert(setting.key, setting.origin);
        }
    }

    /// Another program's file stops nothing of ours: what cannot be used is noted.
    fn add_openclaw(&mut self, file: &OpenClawFile) {
        let (settings, notes) = openclaw::settings(file);
        self.notes.extend(notes);
        for setting in settings {
            self.put(setting);
        }
        let Ok(config) = serde_json::from_value::<Config>(self.tree.clone()) else {
            return;
        };
        let defaults = Value::Object(catalogue::defaults());
        for clash in clashes(&config) {
            self.notes.push(Note {
                origin: self.highest(&clash.keys),
                message: format!("not used: {}", clash.reason),
            });
            for key in clash.keys {
                let default = defaults.pointer(&key.pointer()).cloned();
                self.put(Setting {
                    written: key.clone(),
                    value: default.unwrap_or_default(),
                    origin: Origin::Default,
                    key,
                });
            }
        }
    }

    fn add_file(&mut self, file: &ConfigFile) {
        match document::parse(&file.path, &file.text) {
            Err(problem) => self.problems.push(problem),
            Ok(document) => {
                let mut layer = Vec::new();
                self.read_section(
                    file,
                    &document,
                    &document.keys,
                    &KeyPath::root(),
                    &mut layer,
                );
                self.add_layer(layer);
            }
        }
    }

    fn read_section(
        &mut self,
        file: &ConfigFile,
        document: &Document,
        keys: &Map<String, Value>,
        section: &KeyPath,
        layer: &mut Vec<Setting>,
    ) {
        let origin_of = |key: &KeyPath| Origin::File {
            path: file.path.clone(),
            line: document.line(key),
        };
        for (name, value) in keys {
            let written = section.child(name);
            let origin = origin_of(&written);
            if name.contains('.') {
                let hint = "write its parts below each other, each on a line of its own";
                self.problems.push(Problem::UnknownKey {
                    key: written,
                    origin,
                    hint: hint.to_owned(),
                });
                continue;
            }
            match (catalogue::find(written.as_str()), value) {
                (Found::Section, Value::Object(keys)) => {
                    self.read_section(file, document, keys, &written, layer);
                }
                // A section whose keys are all commented out.
                (Found::Section, Value::Null) => {}
                (Found::Section, value) => self.problems.push(Problem::Invalid {
                    key: written,
                    value: shown(value),
                    origin,
                    expected: "a section with keys of its own".to_owned(),
                }),
                (Found::Setting { key, schema }, value) => {
                    let is_strange = file.found_by == FoundBy::Workspace;
                    if let Some(could) = barred(&key, value).filter(|_| is_strange) {
                        let could = could.to_owned();
                        let problem = Problem::NotFromWorkspace { key, origin, could };
                        self.problems.push(problem);
                        continue;
                    }
                    match checked(written, key, value, schema, &origin_of) {
                        Ok(setting) => layer.push(setting),
                        Err(problem) => self.problems.push(problem),
                    }
                }
                (Found::Nothing, _) => self.problems.push(unknown(written, origin)),
            }
        }
    }

    fn add_environment(&mut self, variables: &[(String, String)]) {
        let mut layer = Vec::new();
        let mut strangers = Vec::new();
        for (variable, text) in variables {
            let ours = variable.starts_with(VARIABLE_PREFIX);
            if !ours || OTHER_VARIABLES.contains(&variable.as_str()) || text.is_empty() {
                continue;
            }
            let origin = Origin::Environment {
                variable: variable.clone(),
            };
            let path = catalogue::by_variable(variable);
            match path.map(|path| (path, catalogue::find(path))) {
                Some((path, Found::Setting { key, schema })) => {
                    let value = from_text(text, schema);
                    let written = KeyPath::new(path);
                    match checked(written, key, &value, schema, &|_| origin.clone()) {
                        Ok(setting) => layer.push(setting),
                        Err(problem) => self.problems.push(problem),
                    }
                }
                _ => strangers.push(variable),
            }
        }
        self.add_layer(layer);
        for variable in strangers {
            self.refuse_stranger(variable);
        }
    }

    /// A variable that sets nothing may hold the key that `apiKeyEnv` names.
    fn refuse_stranger(&mut self, variable: &str) {
        let named = self.tree.pointer("/memory/embedding/apiKeyEnv");
        if named.and_then(Value::as_str) == Some(variable) {
            return;
        }
        let hint = if secret::is_secret_name(variable) {
            "to use it as a key, set `memory.embedding.apiKeyEnv` to its name".to_owned()
        } else {
            let variables = catalogue::known_paths()
                .filter(|(_, known)| *known != Known::Section)
                .map(|(path, _)| KeyPath::new(path).variable())
                .collect::<Vec<_>>();
            let known = variables.iter().map(|name| (name.as_str(), Known::Setting));
            catalogue::hint(&KeyPath::new(variable), known)
        };
        let variable = variable.to_owned();
        self.problems
            .push(Problem::UnknownVariable { variable, hint });
    }

    fn add_flags(&mut self, flags: &[Flag]) {
        for flag in flags {
            let origin = Origin::Flag {
                name: flag.name.clone(),
            };
            let written = KeyPath::new(&flag.key);
            let setting = match catalogue::find(&flag.key) {
                Found::Setting { key, schema } => {
                    let value = from_text(&flag.value, schema);
                    checked(written, key, &value, schema, &|_| origin.clone())
                }
                Found::Section => Err(Problem::UnknownKey {
                    key: written,
                    origin,
                    hint: "it is a section; name one of its keys".to_owned(),
                }),
                Found::Nothing => Err(unknown(written, origin)),
            };
            match setting {
                Ok(setting) => self.put(setting),
                Err(problem) => self.problems.push(problem),
            }
        }
    }

    /// Within a layer nothing has an order, so two names of one setting must agree.
    fn add_layer(&mut self, layer: Vec<Setting>) {
        let mut seen: BTreeMap<KeyPath, Setting> = BTreeMap::new();
        for setting in layer {
            match seen.get(&setting.key) {
                Some(other) if other.value != setting.value => {
                    self.problems.push(Problem::Contradiction {
                        key: other.written.clone(),
                        other: setting.written,
                        origin: setting.origin,
                    });
                }
                _ => {
                    seen.insert(setting.key.clone(), setting.clone());
                    self.put(setting);
                }
            }
        }
    }

    fn finish(mut self) -> Result<Resolved, ConfigError> {
        ConfigError::unless_none(std::mem::take(&mut self.problems))?;
        let config: Config =
            serde_json::from_value(self.tree.clone()).map_err(|error| Problem::Inconsistent {
                keys: Vec::new(),
                origin: Origin::Default,
                reason: format!("the settings do not make a configuration: {error}"),
            })?;
        let clashes = clashes(&config).into_iter();
        let problems = clashes.map(|clash| Problem::Inconsistent {
            origin: self.highest(&clash.keys),
            keys: clash.keys,
            reason: clash.reason,
        });
        ConfigError::unless_none(problems.collect())?;
        Ok(Resolved {
            config,
            origins: self.origins,
            notes: self.notes,
        })
    }

    /// Where the one of these settings was set that came last.
    fn highest(&self, keys: &[KeyPath]) -> Origin {
        let rank = |origin: &&Origin| match origin {
            Origin::Default => 0,
            Origin::OpenClaw { .. } => 1,
            Origin::File { .. } => 2,
            Origin::Environment { .. } => 3,
            Origin::Flag { .. } => 4,
        };
        let origins = keys.iter().filter_map(|key| self.origins.get(key));
        origins.max_by_key(rank).cloned().unwrap_or(Origin::Default)
    }
}
