//! What is refused, and the advice given.

use longhaul_engine::config::{FoundBy, resolve};

use super::{environment, flag, json5, refused, yaml};

/// As a provider gives them out.
const KEY: &str = "ghp_a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8i9J0";

#[test]
fn unknown_keys_are_answered_with_the_nearest() {
    let cases = [
        (
            "compaction:\n  autoEnable: true",
            "compaction.autoEnable",
            2,
            "compaction.autoEnabled",
        ),
        (
            "compaction:\n  auto_enabled: true",
            "compaction.auto_enabled",
            2,
            "compaction.autoEnabled",
        ),
        (
            "\nautoEnabled: true",
            "autoEnabled",
            2,
            "compaction.autoEnabled",
        ),
        ("compactoin: {}", "compactoin", 1, "compaction"),
        (
            "memory:\n  maxResults: 3",
            "memory.maxResults",
            2,
            "memory.search.maxResults",
        ),
        (
            "dreaming:\n  triggers:\n    - type: session_idle\n      idleMinutes: 5",
            "dreaming.triggers[0].idleMinutes",
            4,
            "dreaming.triggers[0].idle_minutes",
        ),
    ];
    for (text, key, line, meant) in cases {
        assert_eq!(
            refused(&yaml(text)),
            format!("there is no setting `{key}` (longhaul.yaml:{line}); did you mean `{meant}`?")
        );
    }
    assert_eq!(
        refused(&json5(
            "{\n  /* one */ compaction: {\n    'prune': { enable: true } }\n}"
        )),
        "there is no setting `compaction.prune.enable` (longhaul.json5:3); \
         did you mean `compaction.prune.enabled`?"
    );
    assert_eq!(
        refused(&yaml("zzz: 1")),
        "there is no setting `zzz` (longhaul.yaml:1); `longhaul config schema` lists every setting"
    );
    assert!(refused(&yaml("compaction.autoEnabled: true")).contains("below each other"));
    assert!(refused(&flag("compaction", "1")).contains("it is a section"));
}

#[test]
fn values_out_of_range_name_key_value_place_and_remedy() {
    let cases = [
        (
            "compaction: {autoThresholdPercent: 120}",
            "`compaction.autoThresholdPercent` cannot be 120 (longhaul.yaml:1); it must be a number from 1 to 100",
        ),
        (
            "compaction: {reserveTokens: 0}",
            "`compaction.reserveTokens` cannot be 0 (longhaul.yaml:1); it must be a whole number of at least 1",
        ),
        (
            "compaction: {reserveTokens: 1.5}",
            "`compaction.reserveTokens` cannot be 1.5 (longhaul.yaml:1); it must be a whole number of at least 1",
        ),
        (
            "compaction: {reserveTokens: 5000000000}",
            "`compaction.reserveTokens` cannot be 5000000000 (longhaul.yaml:1); it must be a whole number of at least 1 and at most 4294967295",
        ),
        (
            "compaction: {autoEnabled: maybe}",
            "`compaction.autoEnabled` cannot be \"maybe\" (longhaul.yaml:1); it must be true or false",
        ),
        (
            "compaction: {autoEnabled: }",
            "`compaction.autoEnabled` cannot be empty (longhaul.yaml:1); it must be true or false",
        ),
        (
            "transcript: {durability: never}",
            "`transcript.durability` cannot be \"never\" (longhaul.yaml:1); it must be one of always, turn, os",
        ),
        (
            "tokens: {estimator: gpt2}",
            "`tokens.estimator` cannot be \"gpt2\" (longhaul.yaml:1); it must be one of heuristic, o200k, cl100k, compact-rs",
        ),
        (
            "compaction: 5",
            "`compaction` cannot be 5 (longhaul.yaml:1); it must be a section with keys of its own",
        ),
        (
            "compaction: {layers: [{layer: prune}, {triggerPercent: 5}]}",
            "`compaction.layers[1]` cannot be without `layer` (longhaul.yaml:1); it must be keys and values with `layer`",
        ),
        (
            "dreaming: {triggers: [{type: nightly}]}",
            "`dreaming.triggers[0]` cannot be {\"type\":\"nightly\"} (longhaul.yaml:1); it must be `type: schedule` with `cron`, or `type: session_idle` with `idle_minutes`, or `type: daily_log_size` with `threshold_kb`",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(refused(&yaml(text)), expected);
    }
    assert_eq!(
        refused(&environment(&[(
            "LONGHAUL_COMPACTION_AUTO_ENABLED",
            "perhaps"
        )])),
        "`compaction.autoEnabled` cannot be \"perhaps\" ($LONGHAUL_COMPACTION_AUTO_ENABLED); it must be true or false"
    );
}

#[test]
fn all_problems_are_told_at_once() {
    let error = resolve(&yaml(
        "compaction: {reserveTokens: -1, autoEnable: true}\nfoo: 1",
    ));
    assert_eq!(error.unwrap_err().problems().len(), 3);
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    let cases = [
        ("bootstrap: {headPercent: 90}", "add up to 110"),
        (
            "memory: {index: {chunkTokens: 50}}",
            "make the overlap smaller",
        ),
        (
            "compaction: {layers: [{layer: full}, {layer: full}]}",
            "more than once",
        ),
        (
            "compaction: {layers: [{layer: prune, triggerPercent: 60}]}",
            "set `checkpoint.triggerPercent`",
        ),
        ("compaction: {risk: {highAt: 9}}", "at least the one before"),
        (
            "dreaming: {triggers: [{type: schedule, cron: daily}]}",
            "five fields",
        ),
        (
            "dreaming: {model: {provider: anthropic}}",
            "set both or none",
        ),
        (
            "dreaming: {model: {baseUrl: 'http://10.0.0.5:8000'}}",
            "the address of no model",
        ),
        (
            "dreaming: {model: {provider: vllm, modelName: qwen, baseUrl: 'localhost:8000'}}",
            "begins with http:// or https://",
        ),
    ];
    for (text, expected) in cases {
        let message = refused(&yaml(text));
        assert!(
            message.contains(expected) && message.ends_with("(longhaul.yaml:1)"),
            "{message}"
        );
    }
    assert_eq!(
        refused(&yaml(
            "compaction:\n  preserveRecentTokens: 9000\n  keepRecentTokens: 8000"
        )),
        "`compaction.preserveRecentTokens` and `compaction.keepRecentTokens` are the same setting, \
         and differ (longhaul.yaml:3); keep one of them"
    );
}

#[test]
fn secrets_are_refused_and_never_repeated() {
    let cases = [
        "memory: {embedding: {apiKey: KEY}}",
        "memory: {embedding: {apiKeyEnv: KEY}}",
        "memory: {embedding: {apiKeyEnv: hunter2!}}",
        "memory: {embedding: {baseUrl: 'https://me:hunter2@example.com/v1'}}",
        "memory: {embedding: {baseUrl: 'https://example.com/v1?key=KEY'}}",
        "compaction: {model: {provider: x, api_key: hunter2}}",
        "memory: {index: {extraPaths: [KEY]}}",
    ];
    for text in cases {
        let message = refused(&yaml(&text.replace("KEY", KEY)));
        assert!(
            message.contains("secret") && message.contains("environment variable"),
            "{message}"
        );
        let is_repeated = message.contains("hunter2") || message.contains(KEY);
        assert!(!is_repeated, "{message}");
    }
}

#[test]
fn secrets_in_the_wrong_place_are_not_repeated_either() {
    for text in [
        "memory: KEY",
        "dreaming: {triggers: [{type: x, apiKey: hunter2}]}",
    ] {
        let message = refused(&yaml(&text.replace("KEY", KEY)));
        assert!(message.contains("***"), "{message}");
        let is_repeated = message.contains("hunter2") || message.contains(KEY);
        assert!(!is_repeated, "{message}");
    }
}

#[test]
fn a_workspace_does_not_decide_that_memory_is_kept_without_review() {
    let mut sources = yaml("dreaming: {promoteAtConfidence: 0.2}");
    assert!(resolve(&sources).is_ok());
    sources.file.as_mut().unwrap().found_by = FoundBy::Workspace;
    let message = refused(&sources);
    assert!(
        message.contains("`dreaming.promoteAtConfidence` is not taken from the workspace")
            && message.contains("kept as your memory without your review"),
        "{message}"
    );
    // That everything is reviewed may be asked for.
    let mut sources = yaml("dreaming: {promoteAtConfidence: null}");
    sources.file.as_mut().unwrap().found_by = FoundBy::Workspace;
    assert!(resolve(&sources).is_ok());
}

#[test]
fn a_workspace_does_not_decide_who_gets_a_key() {
    let text =
        "memory: {embedding: {baseUrl: 'https://evil.example/v1', apiKeyEnv: OPENAI_API_KEY}}";
    let mut sources = yaml(text);
    assert!(resolve(&sources).is_ok());
    sources.file.as_mut().unwrap().found_by = FoundBy::Workspace;
    assert_eq!(resolve(&sources).unwrap_err().problems().len(), 2);
    assert!(refused(&sources).contains("name this file with --config if you trust it"));
    let dreams =
        "dreaming: {model: {provider: openai, modelName: m, baseUrl: 'https://evil.example'}}";
    let mut sources = yaml(dreams);
    let config = resolve(&sources).unwrap().config;
    let named = config.dreaming.model.named();
    assert_eq!(named.as_deref(), Some("openai/m@https://evil.example"));
    sources.file.as_mut().unwrap().found_by = FoundBy::Workspace;
    assert!(refused(&sources).contains("`dreaming.model.baseUrl`"));
    // Nor by the back door: a name may not carry an address.
    for section in ["dreaming", "compaction"] {
        for model in [
            "provider: openai, modelName: 'm@https://evil.example'",
            "provider: 'openai/m@https://evil.example/', modelName: m",
        ] {
            let message = refused(&yaml(&format!("{section}: {{model: {{{model}}}}}")));
            assert!(message.contains("write the name alone"), "{message}");
        }
    }
}

#[test]
fn a_workspace_does_not_decide_that_secrets_stay() {
    for text in ["redaction: {off: [names]}", "redaction: {keep: [x]}"] {
        let mut sources = yaml(text);
        assert!(resolve(&sources).is_ok());
        sources.file.as_mut().unwrap().found_by = FoundBy::Workspace;
        let message = refused(&sources);
        assert!(
            message.contains("is not taken from the workspace"),
            "{message}"
        );
    }
    let mut sources = yaml("redaction: {names: [door code]}");
    sources.file.as_mut().unwrap().found_by = FoundBy::Workspace;
    assert!(resolve(&sources).is_ok());
}

#[test]
fn a_redaction_rule_that_finds_nothing_is_refused() {
    for (text, said) in [
        (
            "redaction: {rules: [{id: a, pattern: '('}]}",
            "no regular expression",
        ),
        (
            "redaction: {rules: [{id: a}]}",
            "either a `pattern` or a `prefix`",
        ),
        ("redaction: {off: [githib]}", "githib"),
    ] {
        let message = refused(&yaml(text));
        assert!(message.contains(said), "{message}");
    }
}

#[test]
fn an_example_that_looks_like_a_key_may_be_kept() {
    assert!(resolve(&yaml("redaction: {keep: [AKIAIOSFODNN7EXAMPLE]}")).is_ok());
}
