//! Sizes as people type them.

/// Reads `200000`, `200k` or `1m`.
pub(crate) fn parse_tokens(text: &str) -> Result<u32, String> {
    let size = parse_size(text)?;
    match u32::try_from(size) {
        Ok(0) | Err(_) => Err("must be between 1 and 4294967295".into()),
        Ok(tokens) => Ok(tokens),
    }
}

/// Reads a number with an optional `k`, `m` or `g`.
fn parse_size(text: &str) -> Result<u64, String> {
    let lower = text.trim().to_ascii_lowercase().replace([',', '_'], "");
    let (digits, factor) = match lower.as_bytes().last() {
        Some(b'k') => (&lower[..lower.len() - 1], 1_000),
        Some(b'm') => (&lower[..lower.len() - 1], 1_000_000),
        Some(b'g') => (&lower[..lower.len() - 1], 1_000_000_000),
        _ => (lower.as_str(), 1),
    };
    digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| "write a number such as 200000, 200k or 1m".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_suffix() {
        assert_eq!(parse_tokens("200k"), Ok(200_000));
        assert_eq!(parse_tokens("1M"), Ok(1_000_000));
        assert_eq!(parse_tokens("128,000"), Ok(128_000));
        assert!(parse_tokens("0").is_err());
        assert!(parse_tokens("lots").is_err());
    }
}
