//! What an `openclaw.json` says about the same things.
//!
//! Only where a key means the same here it is taken over. Everything else in the
//! sections we read is named in a note, so that nobody believes it in force. The
//! names are those of OpenClaw's current documentation and those it has retired,
//! which files in use still have.

use jiff::{Span, SpanRelativeTo, Unit};
use serde_json::{Map, Value};

use super::OpenClawFile;
use super::admit::{Setting, admit, is_variable_name};
use super::document::parse;
use super::{Note, Origin};

/// How a value becomes ours.
#[derive(Clone, Copy)]
enum As {
    /// It is the same.
    Same(&'static str),
    /// `off` or a way of pruning.
    PruneMode,
    /// `"1h"`, or minutes.
    CacheTtl,
    /// `provider/model`.
    SummaryModel,
    /// An embedding adapter.
    EmbeddingProvider,
    /// A reference to a variable, or a secret.
    EmbeddingKey,
    /// Paths, some with patterns.
    ExtraPaths,
    /// Not taken, and why.
    Not(&'static str),
}

use As::{
    CacheTtl, EmbeddingKey, EmbeddingProvider, ExtraPaths, Not, PruneMode, Same, SummaryModel,
};

const COMPACTION: &[(&str, As)] = &[
    ("enabled", Same("compaction.autoEnabled")),
    ("reserveTokens", Same("compaction.reserveTokens")),
    ("reserveTokensFloor", Same("compaction.reserveTokensFloor")),
    ("keepRecentTokens", Same("compaction.preserveRecentTokens")),
    ("notifyUser", Same("compaction.notifyBeforeAuto")),
    ("postCompactionSections", Same("restore.agentsSections")),
    ("model", SummaryModel),
    (
        "memoryFlush.enabled",
        Same("compaction.memoryFlush.enabled"),
    ),
    (
        "memoryFlush.softThresholdTokens",
        Same("compaction.softThresholdTokens"),
    ),
    ("memoryFlush.prompt", Same("compaction.memoryFlush.prompt")),
    (
        "memoryFlush.systemPrompt",
        Same("compaction.memoryFlush.systemPrompt"),
    ),
];

const PRUNING: &[(&str, As)] = &[
    ("mode", PruneMode),
    ("ttl", CacheTtl),
    (
        "keepLastAssistants",
        Same("compaction.prune.pruneAfterRounds"),
    ),
    (
        "softTrim.maxChars",
        Same("compaction.prune.onArrival.resultChars"),
    ),
    (
        "softTrim.tailChars",
        Same("compaction.prune.onArrival.resultTailChars"),
    ),
    (
        "softTrim.headChars",
        Not("the beginning of a shortened result is not kept here, only its end"),
    ),
];

const SEARCH: &[(&str, As)] = &[
    ("enabled", Same("memory.search.enabled")),
    ("provider", EmbeddingProvider),
    ("model", Same("memory.embedding.model")),
    ("remote.baseUrl", Same("memory.embedding.baseUrl")),
    ("remote.apiKey", EmbeddingKey),
    ("extraPaths", ExtraPaths),
    ("chunkSize", Same("memory.index.chunkTokens")),
    ("chunking.tokens", Same("memory.index.chunkTokens")),
    ("chunkOverlap", Same("memory.index.chunkOverlapTokens")),
    ("chunking.overlap", Same("memory.index.chunkOverlapTokens")),
    ("sync.watch", Same("memory.index.watch")),
    ("maxResults", Same("memory.search.maxResults")),
    ("query.maxResults", Same("memory.search.maxResults")),
    (
        "query.minScore",
        Not("scores are on another scale here; set `memory.search.minimumScore` if you need it"),
    ),
    (
        "query.hybrid.vectorWeight",
        Same("memory.search.vectorWeight"),
    ),
    ("query.hybrid.textWeight", Same("memory.search.textWeight")),
    (
        "query.hybrid.candidateMultiplier",
        Same("memory.search.candidateMultiplier"),
    ),
    ("query.hybrid.mmr.lambda", Same("memory.search.mmrLambda")),
    (
        "query.hybrid.temporalDecay.halfLifeDays",
        Same("memory.search.halfLifeDays"),
    ),
];

/// The sections read, later ones winning: OpenClaw moved the last.
const SECTIONS: [(&str, &[(&str, As)]); 4] = [
    ("agents.defaults.compaction", COMPACTION),
    ("agents.defaults.contextPruning", PRUNING),
    ("agents.defaults.memorySearch", SEARCH),
    ("memory.search", SEARCH),
];

/// What can be taken over, and remarks about what cannot.
pub(super) fn settings(file: &OpenClawFile) -> (Vec<Setting>, Vec<Note>) {
    let mut reading = Reading {
        file,
        settings: Vec::new(),
        notes: Vec::new(),
    };
    match parse(&file.path, &file.text) {
        Ok(document) => {
            let root = Value::Object(document.keys);
            if root.get("$include").is_some() {
                reading.note("$include", "not followed; only this file is read");
            }
            for (section, table) in SECTIONS {
                let pointer = format!("/{}", section.replace('.', "/"));
                if let Some(keys) = root.pointer(&pointer).and_then(Value::as_object) {
                    reading.section(section, table, keys);
                }
            }
        }
        Err(problem) => {
            let origin = Origin::File {
                path: file.path.clone(),
                line: None,
            };
            let message = format!("not used: {problem}");
            reading.notes.push(Note { origin, message });
        }
    }
    (reading.settings, reading.notes)
}

struct Reading<'a> {
    file: &'a OpenClawFile,
    settings: Vec<Setting>,
    notes: Vec<Note>,
}

impl Reading<'_> {
    fn origin(&self, key: &str) -> Origin {
        Origin::OpenClaw {
            path: self.file.path.clone(),
            key: key.to_owned(),
        }
    }

    fn note(&mut self, key: &str, message: &str) {
        let origin = self.origin(key);
        let message = message.to_owned();
        self.notes.push(Note { origin, message });
    }

    /// Every value of a section, by its path within it.
    fn section(&mut self, section: &str, table: &[(&str, As)], keys: &Map<String, Value>) {
        // A model and an address belong to their provider: none without the other.
        let provider = keys.get("provider").and_then(Value::as_str);
        let foreign = provider.is_some_and(|name| embedding_provider(name).is_none());
        self.walk(section, "", table, keys, foreign);
    }

    fn walk(
        &mut self,
        section: &str,
        within: &str,
        table: &[(&str, As)],
        keys: &Map<String, Value>,
        foreign: bool,
    ) {
        for (name, value) in keys {
            let path = match within {
                "" => name.clone(),
                within => format!("{within}.{name}"),
            };
            let key = format!("{section}.{path}");
            let entry = table.iter().find(|(theirs, _)| *theirs == path);
            match (entry, value) {
                (Some((_, how)), value) => {
                    let ours = matches!(how, Same(ours) if ours.starts_with("memory.embedding"));
                    if foreign && (ours || matches!(how, EmbeddingKey)) {
                        self.note(&key, "not used, because its provider is not supported here");
                    } else {
                        self.take(&key, *how, value);
                    }
                }
                (None, Value::Object(keys)) => self.walk(section, &path, table, keys, foreign),
                (None, _) => self.note(&key, "has no counterpart here and is not used"),
            }
        }
    }

    fn take(&mut self, key: &str, how: As, value: &Value) {
        match how {
            Same(ours) => self.set(key, ours, value.clone()),
            PruneMode => self.set(key, "compaction.prune.enabled", (value != "off").into()),
            CacheTtl => match seconds(value) {
                Some(seconds) => self.set(key, "compaction.prune.cacheTtlSeconds", seconds.into()),
                None => self.note(key, "not used: not a duration such as \"5m\" or \"1h\""),
            },
            SummaryModel => match value.as_str().and_then(|model| model.split_once('/')) {
                Some((provider, model)) => {
                    self.set(key, "compaction.model.provider", provider.into());
                    self.set(key, "compaction.model.modelName", model.into());
                }
                None => self.note(
                    key,
                    "not used: an alias of OpenClaw's own; set `compaction.model` with provider and modelName",
                ),
            },
            EmbeddingProvider => match value.as_str().and_then(embedding_provider) {
                Some(provider) => self.set(key, "memory.embedding.provider", provider.into()),
                None => self.note(
                    key,
                    "not used: this provider is not supported here; an OpenAI-compatible endpoint would be",
                ),
            },
            EmbeddingKey => match variable(value) {
                Some(name) => self.set(key, "memory.embedding.apiKeyEnv", name.into()),
                None => self.note(
                    key,
                    "a secret, which is not read from a file; put it in an environment variable \
                     and give the variable's name in `memory.embedding.apiKeyEnv`",
                ),
            },
            ExtraPaths => self.extra_paths(key, value),
            Not(reason) => self.note(key, reason),
        }
    }

    fn set(&mut self, key: &str, ours: &str, value: Value) {
        let origin = self.origin(key);
        match admit(ours, &|_| value.clone(), &|_| origin.clone()) {
            Ok(setting) => self.settings.push(setting),
            Err(problem) => self.note(key, &format!("not used: {problem}")),
        }
    }

    fn extra_paths(&mut self, key: &str, value: &Value) {
        let items = value.as_array().into_iter().flatten();
        let (plain, others): (Vec<_>, Vec<_>) = items.cloned().partition(Value::is_string);
        if !others.is_empty() {
            self.note(key, "paths with a pattern are not used, plain ones are");
        }
        if !plain.is_empty() {
            self.set(key, "memory.index.extraPaths", Value::Array(plain));
        }
    }
}

fn embedding_provider(name: &str) -> Option<&'static str> {
    match name {
        "auto" => Some("auto"),
        "local" => Some("local"),
        "none" => Some("none"),
        "openai" | "openai-compatible" | "lmstudio" => Some("openai-compatible"),
        _ => None,
    }
}

/// The variable that `"${NAME}"` or `{source: "env", id: "NAME"}` refers to.
fn variable(value: &Value) -> Option<&str> {
    let name = match value {
        Value::String(text) => text.strip_prefix("${")?.strip_suffix('}')?,
        Value::Object(reference) if reference.get("source")? == "env" => {
            reference.get("id")?.as_str()?
        }
        _ => return None,
    };
    is_variable_name(name).then_some(name)
}

/// `"1h30m"`, `"90s"`; a bare number is minutes.
fn seconds(value: &Value) -> Option<u32> {
    let mut text = match value {
        Value::Number(minutes) => minutes.to_string(),
        Value::String(text) => text.trim().to_ascii_lowercase(),
        _ => return None,
    };
    if text.ends_with(|c: char| c.is_ascii_digit()) {
        text.push('m');
    }
    let span: Span = text.parse().ok()?;
    let days = SpanRelativeTo::days_are_24_hours();
    let seconds = span.total((Unit::Second, days)).ok()?.round();
    (1.0..=f64::from(u32::MAX))
        .contains(&seconds)
        .then_some(seconds as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_openclaw_reads_them() {
        let cases = [
            (Value::from("1h"), Some(3_600)),
            (Value::from("5m"), Some(300)),
            (Value::from("1h30m"), Some(5_400)),
            (Value::from("90s"), Some(90)),
            (Value::from("5"), Some(300)),
            (Value::from(5), Some(300)),
            (Value::from("0s"), None),
            (Value::from("soon"), None),
            (Value::from(""), None),
            (Value::Null, None),
        ];
        for (value, expected) in cases {
            assert_eq!(seconds(&value), expected, "{value}");
        }
    }
}
