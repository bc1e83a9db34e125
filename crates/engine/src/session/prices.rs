//! What tokens cost, for the arithmetic of the prompt cache.

use longhaul_compaction::cost::{Prices, Unit};
use longhaul_model::{ModelInfo, listed};

use crate::config::Config;

/// What a model's tokens cost: as configured or tabulated for its provider, else
/// what its maker charges, else in the usual ratios; with the time that a prompt is
/// kept.
pub fn cache_prices(config: &Config, info: Option<&ModelInfo>, name: &str) -> Prices {
    let of_provider = info.and_then(|info| info.prices);
    // Where tokens are free, they still take time in proportion.
    let known = of_provider
        .filter(|prices| prices.input > 0.0)
        .or_else(|| listed(name)?.prices)
        .map(|prices| Prices {
            input: prices.input,
            cache_read: prices.cache_read,
            cache_write: prices.cache_write,
            output: prices.output,
            ttl_seconds: Prices::RATIO.ttl_seconds,
            unit: Unit::Dollars,
        });
    let prices = known.unwrap_or(Prices::RATIO);
    let of_model = info
        .and_then(|info| info.cache_ttl)
        .and_then(|ttl| u32::try_from(ttl.as_secs()).ok());
    match config.compaction.prune.cache_ttl_seconds.or(of_model) {
        Some(ttl) => prices.with_ttl(ttl),
        None => prices,
    }
}
