//! Laying the layers over each other.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::admit::{Setting, admit, would_hold_secret};
use super::catalogue::{self, Found};
use super::check::{Places, shown};
use super::consistency::clashes;
use super::document;
use super::key::VARIABLE_PREFIX;
use super::text_value::from_text;
use super::{
    Config, ConfigError, ConfigFile, FoundBy, KeyPath, Note, OpenClawFile, Origin, Problem,
    Resolved, Sources, openclaw,
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
    let origins = catalogue::key_paths().map(|key| (key, Origin::Default));
    let mut stack = Stack {
        tree: serde_json::to_value(Config::default()).unwrap_or_default(),
        origins: origins.collect(),
        notes: Vec::new(),
        problems: Vec::new(),
    };
    if let Some(file) = &sources.openclaw {
        stack.add_openclaw(file);
    }
    if let Some(file) = &sources.file {
        stack.add_file(file);
    }
    stack.add_environment(&sources.environment);
    for flag in &sources.flags {
        let origin = Origin::Flag {
            name: flag.name.clone(),
        };
        let setting = admit(&flag.key, &|schema| from_text(&flag.value, schema), &|_| {
            origin.clone()
        });
        let layer: Vec<Setting> = stack.noted(setting).into_iter().collect();
        stack.add_layer(layer);
    }
    stack.finish()
}

struct Stack {
    tree: Value,
    origins: BTreeMap<KeyPath, Origin>,
    notes: Vec<Note>,
    problems: Vec<Problem>,
}

impl Stack {
    fn put(&mut self, setting: Setting) {
        if let Some(place) = self.tree.pointer_mut(&setting.key.pointer()) {
            *place = setting.value;
            self.origins.insert(setting.key, setting.origin);
        }
    }

    /// The setting; what is wrong with it is kept.
    fn noted(&mut self, setting: Result<Setting, Problem>) -> Option<Setting> {
        setting.map_err(|problem| self.problems.push(problem)).ok()
    }

    /// Another program's file stops nothing of ours: what cannot be used is noted.
    fn add_openclaw(&mut self, file: &OpenClawFile) {
        let (settings, notes) = openclaw::settings(file);
        self.notes.extend(notes);
        let defaults = self.tree.clone();
        for setting in settings {
            self.put(setting);
        }
        let Ok(config) = serde_json::from_value::<Config>(self.tree.clone()) else {
            return;
        };
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
                let origin_of = |key: &KeyPath| Origin::File {
                    path: file.path.clone(),
                    line: document.line(key),
                };
                let mut layer = Vec::new();
                let is_strange = file.found_by == FoundBy::Workspace;
                let root = KeyPath::root();
                self.read_section(&document.keys, &root, is_strange, &origin_of, &mut layer);
                self.add_layer(layer);
            }
        }
    }

    fn read_section(
        &mut self,
        keys: &Map<String, Value>,
        section: &KeyPath,
        is_strange: bool,
        origin_of: &Places<'_>,
        layer: &mut Vec<Setting>,
    ) {
        for (name, value) in keys {
            let written = section.child(name);
            if name.contains('.') {
                let hint = "write its parts below each other, each on a line of its own";
                let problem = Problem::unknown_key(&written, &origin_of(&written), hint);
                self.problems.push(problem);
                continue;
            }
            match (catalogue::find(written.as_str()), value) {
                (Found::Section, Value::Object(keys)) => {
                    self.read_section(keys, &written, is_strange, origin_of, layer);
                }
                // A section whose keys are all commented out.
                (Found::Section, Value::Null) => {}
                (Found::Section, value) => {
                    let expected = "a section with keys of its own";
                    let origin = origin_of(&written);
                    let problem = Problem::invalid(&written, &shown(value), &origin, expected);
                    self.problems.push(problem);
                }
                (Found::Setting(..) | Found::Nothing, value) => {
                    let setting = admit(written.as_str(), &|_| value.clone(), origin_of);
                    let setting = setting.and_then(|setting| match is_strange {
                        true => unbarred(setting),
                        false => Ok(setting),
                    });
                    layer.extend(self.noted(setting));
                }
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
            let mut names = catalogue::names();
            let Some(name) = names.find(|name| KeyPath::new(*name).variable() == *variable) else {
                strangers.push(variable);
                continue;
            };
            let origin = Origin::Environment {
                variable: variable.clone(),
            };
            let setting = admit(name, &|schema| from_text(text, schema), &|_| origin.clone());
            layer.extend(self.noted(setting));
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
        let hint = if would_hold_secret(variable) {
            "to use it as a key, set `memory.embedding.apiKeyEnv` to its name".to_owned()
        } else {
            let known = catalogue::names().map(|name| KeyPath::new(name).variable());
            let known: Vec<String> = known.collect();
            catalogue::hint(&KeyPath::new(variable), known.iter().map(String::as_str))
        };
        self.problems
            .push(Problem::unknown_variable(variable, &hint));
    }

    /// Within a layer nothing has an order, so two names of one setting must agree.
    fn add_layer(&mut self, layer: Vec<Setting>) {
        let mut seen: BTreeMap<KeyPath, Setting> = BTreeMap::new();
        for setting in layer {
            match seen.get(&setting.key) {
                Some(other) if other.value != setting.value => {
                    self.problems.push(Problem::new(format!(
                        "`{}` and `{}` are the same setting, and differ ({}); keep one of them",
                        other.written, setting.written, setting.origin
                    )));
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
        let config: Config = serde_json::from_value(self.tree.clone()).map_err(|error| {
            Problem::new(format!("the settings do not make a configuration: {error}"))
        })?;
        let clashes = clashes(&config).into_iter().map(|clash| {
            let origin = self.highest(&clash.keys);
            Problem::new(format!("{} ({origin})", clash.reason))
        });
        ConfigError::unless_none(clashes.collect())?;
        Ok(Resolved {
            config,
            origins: self.origins,
            notes: self.notes,
        })
    }

    /// Where the one of these settings was set that came last.
    fn highest(&self, keys: &[KeyPath]) -> Origin {
        let origins = keys.iter().filter_map(|key| self.origins.get(key));
        let highest = origins.max_by_key(|origin| origin.rank());
        highest.cloned().unwrap_or(Origin::Default)
    }
}

/// A setting of a workspace's file, unless a workspace does not get to make it.
fn unbarred(setting: Setting) -> Result<Setting, Problem> {
    let Some(could) = barred(&setting.key, &setting.value) else {
        return Ok(setting);
    };
    Err(Problem::new(format!(
        "`{}` is not taken from the workspace ({}), because whoever wrote the workspace {could}; \
         set it in the state folder's longhaul.yaml, or name this file with --config if you \
         trust it",
        setting.key, setting.origin
    )))
}
