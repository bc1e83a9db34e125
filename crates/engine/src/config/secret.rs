//! Telling secrets from settings. A configuration is copied, shown and committed;
//! it names the variable that holds a key and never the key.

/// Ends of names that mean a secret, in lower case without separators.
const SECRET_NAMES: &[&str] = &[
    "apikey",
    "secret",
    "secretkey",
    "password",
    "passwd",
    "passphrase",
    "privatekey",
    "accesskey",
    "accesstoken",
    "authtoken",
    "bearertoken",
    "refreshtoken",
    "credential",
    "credentials",
    "authorization",
];

/// Beginnings that providers give their keys.
const SECRET_BEGINNINGS: &[&str] = &[
    "sk-",
    "sk_",
    "pk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "AIza",
    "hf_",
    "gsk_",
    "pplx-",
    "xai-",
    "Bearer ",
];

/// Whether a key of this name would hold a secret. `apiKeyEnv` would not.
pub(super) fn is_secret_name(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    plain == "token" || SECRET_NAMES.iter().any(|end| plain.ends_with(end))
}

/// Whether a value is a secret by its look: a provider's key, a private key, or
/// an address with a password or key in it.
pub(super) fn is_secret_value(value: &str) -> bool {
    if value.contains("-----BEGIN") && value.contains("PRIVATE KEY") {
        return true;
    }
    let by_beginning = value.len() >= 16
        && SECRET_BEGINNINGS
            .iter()
            .any(|beginning| value.starts_with(beginning))
        && !value.trim_start_matches("Bearer ").contains(' ');
    by_beginning || is_address_with_secret(value)
}

fn is_address_with_secret(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let has_password = authority
        .rsplit_once('@')
        .is_some_and(|(user, _)| user.contains(':'));
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    has_password
        || query.split('&').any(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            !value.is_empty() && (is_secret_name(name) || name == "key")
        })
}

/// Whether a text can be the name of an environment variable.
pub(super) fn is_variable_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_told_from_names_of_settings() {
        for name in [
            "apiKey",
            "api_key",
            "API-KEY",
            "openaiApiKey",
            "token",
            "password",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "apiKeyEnv",
            "maxTokens",
            "tokens",
            "reserveTokens",
            "triggerTokens",
            "key",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn values_are_told_by_their_look() {
        for value in [
            "sk-proj-0123456789abcdef",
            "https://user:hunter2@example.com/v1",
            "https://example.com/v1?api_key=abc",
            "Bearer 0123456789abcdef",
        ] {
            assert!(is_secret_value(value), "{value}");
        }
        for value in [
            "sk-",
            "google/gemini-2.0-flash-exp:free",
            "https://example.com/v1?region=eu",
            "sk- is what keys begin with, so do not write one down",
        ] {
            assert!(!is_secret_value(value), "{value}");
        }
    }
}
