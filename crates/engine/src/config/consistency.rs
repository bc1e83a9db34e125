//! Settings that are each fine and together are not.

use longhaul_compaction::Layer;
use longhaul_redact::Redactor;

use super::{Config, DreamTrigger, KeyPath};

/// Settings that do not go together, and why.
pub(super) struct Clash {
    pub(super) keys: Vec<KeyPath>,
    pub(super) reason: String,
}

/// Every clash in a configuration.
pub(super) fn clashes(config: &Config) -> Vec<Clash> {
    let mut clashes = Vec::new();
    let mut clash = |is: bool, keys: &[&str], reason: String| {
        if is {
            let keys = keys.iter().map(|key| KeyPath::new(*key)).collect();
            clashes.push(Clash { keys, reason });
        }
    };

    let bootstrap = &config.bootstrap;
    let kept = bootstrap.head_percent + bootstrap.tail_percent;
    clash(
        kept > 100.0,
        &["bootstrap.headPercent", "bootstrap.tailPercent"],
        format!(
            "`bootstrap.headPercent` and `bootstrap.tailPercent` add up to {kept}; together they can be at most 100"
        ),
    );

    let trim = &config.compaction.prune.on_arrival;
    clash(
        trim.result_tail_chars >= trim.result_chars,
        &[
            "compaction.prune.onArrival.resultChars",
            "compaction.prune.onArrival.resultTailChars",
        ],
        format!(
            "`compaction.prune.onArrival.resultTailChars` is {}, which would shorten nothing above {}; make it smaller than `resultChars`",
            trim.result_tail_chars, trim.result_chars
        ),
    );

    let wrong = Redactor::new(&config.redaction).map_err(|error| error.to_string());
    clash(
        wrong.is_err(),
        &["redaction.rules", "redaction.off"],
        wrong.err().unwrap_or_default(),
    );

    let index = &config.memory.index;
    clash(
        index.chunk_overlap_tokens >= index.chunk_tokens,
        &[
            "memory.index.chunkTokens",
            "memory.index.chunkOverlapTokens",
        ],
        format!(
            "`memory.index.chunkOverlapTokens` is {} and a chunk only {}; make the overlap smaller",
            index.chunk_overlap_tokens, index.chunk_tokens
        ),
    );

    let search = &config.memory.search;
    clash(
        search.vector_weight + search.text_weight <= 0.0,
        &["memory.search.vectorWeight", "memory.search.textWeight"],
        "`memory.search.vectorWeight` and `memory.search.textWeight` are both 0, so that nothing \
         could be ranked; raise one of them"
            .to_owned(),
    );

    let risk = &config.compaction.risk;
    clash(
        risk.medium_at > risk.high_at || risk.high_at > risk.critical_at,
        &[
            "compaction.risk.mediumAt",
            "compaction.risk.highAt",
            "compaction.risk.criticalAt",
        ],
        format!(
            "`compaction.risk` goes from medium at {} over high at {} to critical at {}; each must be at least the one before",
            risk.medium_at, risk.high_at, risk.critical_at
        ),
    );

    let layers = &config.compaction.layers;
    for layer in Layer::LADDER {
        clash(
            layers.iter().filter(|rule| rule.layer == layer).count() > 1,
            &["compaction.layers"],
            format!("`compaction.layers` has the layer {layer} more than once; keep one"),
        );
    }

    // One threshold, not two: durable pruning and the checkpoint happen together.
    let checkpoint = config.checkpoint.trigger_percent;
    let prune = layers.iter().find(|rule| rule.layer == Layer::Prune);
    let own = prune.and_then(|rule| rule.trigger_percent);
    clash(
        own.is_some_and(|own| own != checkpoint),
        &["compaction.layers", "checkpoint.triggerPercent"],
        format!(
            "`compaction.layers` begins the layer prune at {} %, and the checkpoint comes at {checkpoint} %; \
             they happen together: leave it out there and set `checkpoint.triggerPercent`",
            own.unwrap_or_default()
        ),
    );

    for (at, rule) in config.models.iter().enumerate() {
        let trouble = rule.trouble();
        clash(
            trouble.is_some(),
            &["models"],
            format!(
                "item {} of `models` {}",
                at + 1,
                trouble.unwrap_or_default()
            ),
        );
    }

    // An address in a name would be one that a workspace may set, and would get
    // the provider's key.
    let dreams = &config.dreaming.model;
    for (key, name) in [
        (
            "compaction.model.provider",
            &config.compaction.model.provider,
        ),
        (
            "compaction.model.modelName",
            &config.compaction.model.model_name,
        ),
        ("dreaming.model.provider", &dreams.provider),
        ("dreaming.model.modelName", &dreams.model_name),
    ] {
        let name = name.as_deref().unwrap_or_default();
        clash(
            name.contains("://"),
            &[key],
            format!("`{key}` holds an address (\"{name}\"); write the name alone"),
        );
    }
    clash(
        dreams.provider.is_some() != dreams.model_name.is_some(),
        &["dreaming.model.provider", "dreaming.model.modelName"],
        "`dreaming.model.provider` and `dreaming.model.modelName` name a model together; set \
         both or none"
            .to_owned(),
    );
    let summaries = &config.compaction.model;
    for (section, url, is_named) in [
        (
            "compaction",
            &summaries.base_url,
            summaries.provider.is_some() && summaries.model_name.is_some(),
        ),
        ("dreaming", &dreams.base_url, dreams.provider.is_some()),
    ] {
        let key = format!("{section}.model.baseUrl");
        clash(
            url.is_some() && !is_named,
            &[&key],
            format!(
                "`{key}` is the address of no model; set `{section}.model.provider` and \
                 `{section}.model.modelName` too"
            ),
        );
        let address = url.as_deref().unwrap_or("http://");
        clash(
            !(address.starts_with("http://") || address.starts_with("https://")),
            &[&key],
            format!("`{key}` is \"{address}\"; an address begins with http:// or https://"),
        );
    }

    for trigger in &config.dreaming.triggers {
        let DreamTrigger::Schedule { cron } = trigger else {
            continue;
        };
        let fields = cron.split_whitespace().count();
        clash(
            !(cron.starts_with('@') || matches!(fields, 5 | 6)),
            &["dreaming.triggers"],
            format!(
                "`dreaming.triggers` has the schedule \"{cron}\"; write five fields, such as \"0 3 * * *\" for three in the morning"
            ),
        );
    }
    clashes
}
