//! What does not come from our own file: variables and OpenClaw.

use std::collections::BTreeSet;

use longhaul_engine::config::{Config, DreamTrigger, Origin, key_paths, resolve};
use longhaul_tokens::{Estimator, Tokens};
use longhaul_transcript::Durability;
use serde_json::{Value, json};

use super::{environment, openclaw, origin, yaml};

#[test]
fn variables_are_named_after_their_keys() {
    let resolved = resolve(&environment(&[
        ("LONGHAUL_COMPACTION_AUTO_ENABLED", "false"),
        (
            "LONGHAUL_COMPACTION_MEMORY_FLUSH_SOFT_THRESHOLD_TOKENS",
            "3000",
        ),
        ("LONGHAUL_COMPACTION_PRUNE_ON_ARRIVAL_RESULT_CHARS", "1,500"),
        ("LONGHAUL_COMPACTION_MODEL_MODEL_NAME", "gpt-5-mini"),
        ("LONGHAUL_TRANSCRIPT_DURABILITY", "always"),
        ("LONGHAUL_TOKENS_ESTIMATOR", "o200k"),
        ("LONGHAUL_RESTORE_AGENTS_SECTIONS", "Rules, Style"),
        (
            "LONGHAUL_DREAMING_TRIGGERS",
            "[{type: 'daily_log_size', threshold_kb: 9}]",
        ),
        ("LONGHAUL_GAUGE_ENABLED", ""),
        ("LONGHAUL_CONFIG", "x"),
        ("LONGHAUL_STATE_DIR", "x"),
        ("LONGHAUL_LOG", "debug"),
    ]))
    .unwrap();
    assert_eq!(resolved.notes, []);
    let mut expected = Config::default();
    expected.compaction.auto_enabled = false;
    expected.compaction.soft_threshold_tokens = Tokens(3_000);
    expected.compaction.prune.on_arrival.result_chars = 1_500;
    expected.compaction.model.model_name = Some("gpt-5-mini".to_owned());
    expected.transcript.durability = Durability::Always;
    expected.tokens.estimator = Estimator::O200k;
    expected.restore.agents_sections = vec!["Rules".to_owned(), "Style".to_owned()];
    expected.dreaming.triggers = vec![DreamTrigger::DailyLogSize { threshold_kb: 9 }];
    assert_eq!(resolved.config, expected);

    let variables: BTreeSet<_> = key_paths().map(|key| key.variable()).collect();
    assert_eq!(variables.len(), key_paths().count());
}

#[test]
fn an_unknown_variable_is_an_error_unless_it_holds_the_key_that_is_named() {
    let refused = |variable| resolve(&environment(&[variable])).unwrap_err();
    let misspelt = refused(("LONGHAUL_COMPACTION_AUTO_ENABLE", "false"));
    assert!(misspelt.has_unknown_variable());
    assert_eq!(
        misspelt.to_string(),
        "$LONGHAUL_COMPACTION_AUTO_ENABLE: no setting has this name, so correct or \
         unset it; did you mean `LONGHAUL_COMPACTION_AUTO_ENABLED`?"
    );
    let key = ("LONGHAUL_EMBEDDING_API_KEY", "sk-0123456789abcdef");
    let told = refused(key).to_string();
    assert!(
        told.contains("memory.embedding.apiKeyEnv") && !told.contains("sk-"),
        "{told}"
    );
    let mut sources = environment(&[key, ("LONGHAUL_BINARY", "/usr/bin/longhaul")]);
    sources.file = yaml("memory: {embedding: {apiKeyEnv: LONGHAUL_EMBEDDING_API_KEY}}").file;
    assert_eq!(resolve(&sources).unwrap().notes, []);
}

#[test]
fn openclaws_settings_are_taken_over_where_they_mean_the_same() {
    let resolved = resolve(&openclaw(
        "// their file\n{
        channels: {telegram: {}},
        agents: {defaults: {
            compaction: {
                enabled: false, mode: 'safeguard', reserveTokensFloor: 0, keepRecentTokens: 50000,
                model: 'openrouter/anthropic/claude-sonnet-4-6', notifyUser: false,
                postCompactionSections: ['Rules'], timeoutSeconds: 180,
                memoryFlush: {enabled: false, softThresholdTokens: 6000, model: 'x/y'},
            },
            contextPruning: {mode: 'off', ttl: '1h', keepLastAssistants: 4,
                softTrim: {maxChars: 4000, headChars: 1500, tailChars: 1500}},
            memorySearch: {query: {maxResults: 9, minScore: 0.35}, chunking: {tokens: 300, overlap: 60}},
        }},
        memory: {search: {
            provider: 'openai', model: 'text-embedding-3-small',
            remote: {baseUrl: 'https://api.example.com/v1/', apiKey: '${EMBED_KEY}'},
            query: {maxResults: 12, hybrid: {vectorWeight: 0.6, mmr: {lambda: 0.5}}},
            extraPaths: ['../notes', {path: 'x', pattern: '*.md'}],
        }},
    }",
    ))
    .unwrap();
    let expected = json!({
        "compaction.autoEnabled": false,
        "compaction.reserveTokensFloor": 0,
        "compaction.preserveRecentTokens": 50_000,
        "compaction.model.provider": "openrouter",
        "compaction.model.modelName": "anthropic/claude-sonnet-4-6",
        "compaction.notifyBeforeAuto": false,
        "restore.agentsSections": ["Rules"],
        "compaction.memoryFlush.enabled": false,
        "compaction.softThresholdTokens": 6_000,
        "compaction.prune.enabled": false,
        "compaction.prune.cacheTtlSeconds": 3_600,
        "compaction.prune.pruneAfterRounds": 4,
        "compaction.prune.onArrival.resultChars": 4_000,
        "compaction.prune.onArrival.resultTailChars": 1_500,
        "memory.index.chunkTokens": 300,
        "memory.index.chunkOverlapTokens": 60,
        "memory.search.maxResults": 12,
        "memory.search.vectorWeight": 0.6,
        "memory.search.mmrLambda": 0.5,
        "memory.embedding.provider": "openai-compatible",
        "memory.embedding.model": "text-embedding-3-small",
        "memory.embedding.baseUrl": "https://api.example.com/v1/",
        "memory.embedding.apiKeyEnv": "EMBED_KEY",
        "memory.index.extraPaths": ["../notes"],
    });
    let set: serde_json::Map<_, _> = resolved
        .rows()
        .into_iter()
        .filter(|row| row.origin != Origin::Default)
        .map(|row| (row.key.to_string(), row.value))
        .collect();
    assert_eq!(Value::Object(set), expected);
    assert_eq!(
        origin(&resolved, "memory.search.maxResults"),
        "openclaw.json memory.search.query.maxResults"
    );
    let noted: Vec<_> = resolved
        .notes
        .iter()
        .map(|note| note.origin.to_string())
        .collect();
    let expected = [
        "agents.defaults.compaction.mode",
        "agents.defaults.compaction.timeoutSeconds",
        "agents.defaults.compaction.memoryFlush.model",
        "agents.defaults.contextPruning.softTrim.headChars",
        "agents.defaults.memorySearch.query.minScore",
        "memory.search.extraPaths",
    ];
    assert_eq!(noted, expected.map(|key| format!("openclaw.json {key}")));
}

#[test]
fn openclaws_file_never_stops_us() {
    let texts = [
        "{not json",
        "[]",
        "{agents: {defaults: {compaction: {reserveTokens: 'lots'}}}}",
        "{agents: {defaults: {contextPruning: {softTrim: {maxChars: 100}}}}}",
        "{memory: {search: {remote: {apiKey: 'sk-hunter2-0123456789'}}}}",
        "{memory: {search: {provider: 'voyage', model: 'voyage-3'}}}",
        "{agents: 5, memory: {search: null}}",
    ];
    for text in texts {
        let resolved = resolve(&openclaw(text)).unwrap();
        let notes: Vec<_> = resolved.notes.iter().map(ToString::to_string).collect();
        assert_eq!(resolved.config, Config::default(), "{text}");
        assert_eq!(
            notes.is_empty(),
            text.starts_with("{agents: 5"),
            "{notes:?}"
        );
        assert!(!notes.concat().contains("hunter2"));
    }
}
