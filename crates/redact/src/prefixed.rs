//! Secrets that begin with their provider's mark.

use std::sync::LazyLock;

use super::shape::{Shape, is_example, looks_hex};
use super::{Kind, drawn, pieces};

/// What a key is made of behind its mark.
#[derive(Debug, Clone, Copy)]
enum Alphabet {
    /// Letters and digits.
    Alnum,
    /// Those, `_` and `-`.
    Word,
    /// Those and `.`.
    Dotted,
    /// Base64, with `-`, `_` and `.`.
    Base64,
    /// Capitals and digits.
    Upper,
    /// Hexadecimal digits.
    Hex,
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        match self {
            Alphabet::Alnum => byte.is_ascii_alphanumeric(),
            Alphabet::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Alphabet::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Alphabet::Base64 => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'=')
            }
            Alphabet::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Alphabet::Hex => byte.is_ascii_hexdigit(),
        }
    }
}

/// How sure the mark alone makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// Nothing else is written so; it counts anywhere.
    Certain,
    /// It counts where a word begins.
    AtWord,
    /// Words begin so too; what follows must look random.
    Weak,
    /// Names begin so too; what follows must be no words.
    Drawn,
    /// The same, and a dot parts it from hexadecimal digits.
    Parted,
    /// The ends of names are written so; it counts where none goes on into it.
    Alone,
}

struct Form {
    mark: &'static str,
    kind: Kind,
    alphabet: Alphabet,
    /// Characters behind the mark.
    least: usize,
    /// And exactly so many, where the provider's keys have one length.
    most: usize,
    trust: Mark,
}

const fn form(
    mark: &'static str,
    kind: Kind,
    alphabet: Alphabet,
    least: usize,
    trust: Mark,
) -> Form {
    Form {
        mark,
        kind,
        alphabet,
        least,
        most: MOST,
        trust,
    }
}

const fn fixed(
    mark: &'static str,
    kind: Kind,
    alphabet: Alphabet,
    length: usize,
    trust: Mark,
) -> Form {
    Form {
        mark,
        kind,
        alphabet,
        least: length,
        most: length,
        trust,
    }
}

/// Enough to judge by. What goes on after it belongs to the key as well, but is
/// looked at only once that is known.
const MOST: usize = 512;
/// Hexadecimal digits of a key that has no other letters.
const HASH: usize = 32;

use Alphabet::{Alnum, Base64, Dotted, Hex, Upper, Word};
use Mark::{Alone, AtWord, Certain, Drawn, Parted, Weak};

/// Of two marks that begin alike the longer stands first.
const FORMS: [Form; 128] = [
    form("sk-ant-", Kind::Anthropic, Word, 20, Certain),
    form("sk-or-", Kind::OpenRouter, Word, 20, Certain),
    form("sk-proj-", Kind::OpenAi, Word, 20, Certain),
    form("sk-svcacct-", Kind::OpenAi, Word, 20, Certain),
    form("sk-admin-", Kind::OpenAi, Word, 20, AtWord),
    form("sk-lf-", Kind::Provider, Word, 20, AtWord),
    form("sk-", Kind::OpenAi, Word, 20, Weak),
    fixed("AIza", Kind::Google, Word, 35, AtWord),
    form("GOCSPX-", Kind::Google, Word, 20, Certain),
    form("ya29.", Kind::Google, Word, 20, AtWord),
    form("1//0", Kind::Google, Word, 36, Weak),
    fixed("AKIA", Kind::Aws, Upper, 16, AtWord),
    fixed("ASIA", Kind::Aws, Upper, 16, AtWord),
    fixed("ABIA", Kind::Aws, Upper, 16, AtWord),
    fixed("ACCA", Kind::Aws, Upper, 16, AtWord),
    form("github_pat_", Kind::GitHub, Word, 22, Certain),
    form("ghp_", Kind::GitHub, Alnum, 30, Certain),
    form("gho_", Kind::GitHub, Alnum, 30, Certain),
    form("ghu_", Kind::GitHub, Alnum, 30, Certain),
    form("ghs_", Kind::GitHub, Alnum, 30, Certain),
    form("ghr_", Kind::GitHub, Alnum, 30, Certain),
    form("glpat-", Kind::GitLab, Dotted, 18, Certain),
    form("gldt-", Kind::GitLab, Word, 18, AtWord),
    form("glrt-", Kind::GitLab, Word, 18, AtWord),
    form("glptt-", Kind::GitLab, Word, 18, AtWord),
    form("glcbt-", Kind::GitLab, Word, 18, AtWord),
    form("glsoat-", Kind::GitLab, Word, 18, AtWord),
    form("xoxb-", Kind::Slack, Word, 16, Certain),
    form("xoxp-", Kind::Slack, Word, 16, Certain),
    form("xoxa-", Kind::Slack, Word, 16, Certain),
    form("xoxe-", Kind::Slack, Word, 16, Certain),
    form("xoxe.", Kind::Slack, Word, 16, Certain),
    form("xoxr-", Kind::Slack, Word, 16, Certain),
    form("xoxs-", Kind::Slack, Word, 16, Certain),
    form("xapp-", Kind::Slack, Word, 20, Weak),
    form(
        "hooks.slack.com/services/",
        Kind::Slack,
        Base64,
        20,
        Certain,
    ),
    form("sk_live_", Kind::Stripe, Alnum, 16, Certain),
    form("sk_test_", Kind::Stripe, Alnum, 16, Certain),
    form("rk_live_", Kind::Stripe, Alnum, 16, Certain),
    form("rk_test_", Kind::Stripe, Alnum, 16, Certain),
    form("whsec_", Kind::Stripe, Base64, 24, AtWord),
    form("npm_", Kind::Npm, Alnum, 36, AtWord),
    form("pypi-AgE", Kind::Pypi, Word, 40, Certain),
    form("hf_", Kind::HuggingFace, Alnum, 30, AtWord),
    form("api_org_", Kind::HuggingFace, Alnum, 30, Weak),
    form("gsk_", Kind::Provider, Alnum, 40, AtWord),
    form("xai-", Kind::Provider, Alnum, 40, AtWord),
    form("pplx-", Kind::Provider, Alnum, 40, AtWord),
    form("r8_", Kind::Provider, Alnum, 32, AtWord),
    form("dop_v1_", Kind::Provider, Hex, 40, Certain),
    form("shpat_", Kind::Provider, Hex, 30, Certain),
    form("SG.", Kind::Provider, Dotted, 50, Weak),
    form("lin_api_", Kind::Provider, Alnum, 32, AtWord),
    form("ntn_", Kind::Provider, Alnum, 40, AtWord),
    form("dapi", Kind::Provider, Hex, 32, AtWord),
    form("hvs.", Kind::Provider, Word, 24, Weak),
    form("dckr_pat_", Kind::Provider, Word, 20, Certain),
    form("AGE-SECRET-KEY-1", Kind::PrivateKey, Upper, 50, Certain),
    form("ATATT3x", Kind::Provider, Base64, 40, Certain),
    form("figd_", Kind::Provider, Word, 30, AtWord),
    form("sbp_", Kind::Provider, Hex, 36, AtWord),
    form("tvly-", Kind::Provider, Word, 28, Weak),
    form(
        "discord.com/api/webhooks/",
        Kind::Provider,
        Base64,
        60,
        Certain,
    ),
    form("dp.pt.", Kind::Provider, Alnum, 32, Certain),
    form("dp.st.", Kind::Provider, Dotted, 32, Weak),
    form("dp.ct.", Kind::Provider, Alnum, 32, Certain),
    form("dp.sa.", Kind::Provider, Alnum, 32, Certain),
    form("dp.scim.", Kind::Provider, Alnum, 32, Certain),
    form("pscale_tkn_", Kind::Provider, Dotted, 30, Certain),
    form("pscale_pw_", Kind::Provider, Dotted, 30, Certain),
    form("pscale_oauth_", Kind::Provider, Dotted, 30, Certain),
    form("fm1r_", Kind::Provider, Base64, 40, AtWord),
    form("fm1a_", Kind::Provider, Base64, 40, AtWord),
    form("fm2_", Kind::Provider, Base64, 40, AtWord),
    form("fo1_", Kind::Provider, Word, 40, AtWord),
    form("shpss_", Kind::Provider, Hex, 30, Certain),
    form("shpca_", Kind::Provider, Hex, 30, Certain),
    form("shppa_", Kind::Provider, Hex, 30, Certain),
    form("doo_v1_", Kind::Provider, Hex, 40, Certain),
    form("dor_v1_", Kind::Provider, Hex, 40, Certain),
    form("rubygems_", Kind::Provider, Hex, 40, AtWord),
    form("sntrys_", Kind::Provider, Base64, 40, AtWord),
    form("sntryu_", Kind::Provider, Hex, 40, AtWord),
    form("PMAK-", Kind::Provider, Word, 40, AtWord),
    form("NRAK-", Kind::Provider, Upper, 24, AtWord),
    form("sq0atp-", Kind::Provider, Word, 20, AtWord),
    form("sq0csp-", Kind::Provider, Word, 40, AtWord),
    form("nvapi-", Kind::Provider, Word, 40, AtWord),
    form("lsv2_pt_", Kind::Provider, Word, 32, AtWord),
    form("lsv2_sk_", Kind::Provider, Word, 32, AtWord),
    form("tskey-", Kind::Provider, Word, 24, Weak),
    form("pul-", Kind::Provider, Hex, 40, AtWord),
    form("glsa_", Kind::Provider, Word, 32, AtWord),
    form("glc_", Kind::Provider, Base64, 40, Weak),
    form("sgp_", Kind::Provider, Word, 40, AtWord),
    form("phx_", Kind::Provider, Alnum, 40, AtWord),
    form("rnd_", Kind::Provider, Alnum, 28, Weak),
    form("hvb.", Kind::Provider, Word, 40, Weak),
    form("dt0c01.", Kind::Provider, Dotted, 60, AtWord),
    form("xoxc-", Kind::Slack, Word, 16, Certain),
    form("xoxd-", Kind::Slack, Base64, 16, Certain),
    form("gloas-", Kind::GitLab, Word, 18, AtWord),
    form("glft-", Kind::GitLab, Word, 18, AtWord),
    form("glagent-", Kind::GitLab, Word, 18, AtWord),
    form("ATCTT3x", Kind::Provider, Base64, 40, Certain),
    form("pcsk_", Kind::Provider, Word, 40, AtWord),
    // Mailgun's; `cache-key-…` is a name.
    fixed("key-", Kind::Provider, Hex, 32, Alone),
    form("nfp_", Kind::Provider, Alnum, 36, AtWord),
    form("csk-", Kind::Provider, Alnum, 40, AtWord),
    // Resend's, behind which a name may go on as well.
    form("re_", Kind::Provider, Word, 28, Drawn),
    form("jina_", Kind::Provider, Word, 50, Weak),
    fixed("sqp_", Kind::Provider, Hex, 40, AtWord),
    fixed("squ_", Kind::Provider, Hex, 40, AtWord),
    fixed("sqa_", Kind::Provider, Hex, 40, AtWord),
    // A service account of 1Password.
    form("ops_eyJ", Kind::Provider, Base64, 80, AtWord),
    // HubSpot's, with a UUID.
    fixed("pat-na1-", Kind::Provider, Word, 36, AtWord),
    fixed("pat-eu1-", Kind::Provider, Word, 36, AtWord),
    // Airtable's: 14 characters, a dot and 64 digits.
    fixed("pat", Kind::Provider, Dotted, 79, Parted),
    form("HRKU-", Kind::Provider, Word, 36, AtWord),
    form("CCIPAT_", Kind::Provider, Word, 40, AtWord),
    form("ATBB", Kind::Provider, Alnum, 32, Drawn),
    // A secret token of Mapbox.
    form("sk.eyJ", Kind::Provider, Dotted, 60, AtWord),
    fixed("e2b_", Kind::Provider, Hex, 40, AtWord),
    // Notion's old ones.
    fixed("secret_", Kind::Provider, Alnum, 43, Drawn),
    // Facebook's.
    form("EAA", Kind::Provider, Alnum, 120, Drawn),
    // Dropbox's.
    form("sl.", Kind::Provider, Dotted, 120, Drawn),
    // Plaid's, with a UUID.
    fixed("access-sandbox-", Kind::Provider, Word, 36, AtWord),
    fixed("access-production-", Kind::Provider, Word, 36, AtWord),
];

/// A key at one place: what it is and where it ends.
pub(super) struct Found {
    pub(super) kind: Kind,
    pub(super) end: usize,
}

/// The forms by the first byte of their mark, in their order, so that nearly
/// every place of a text is passed over by one look.
static BY_FIRST: LazyLock<[Vec<&Form>; 256]> = LazyLock::new(|| {
    let mut all = [const { Vec::new() }; 256];
    for form in &FORMS {
        all[usize::from(form.mark.as_bytes()[0])].push(form);
    }
    all
});

/// Every mark.
pub(super) fn marks() -> impl Iterator<Item = &'static str> {
    FORMS.iter().map(|form| form.mark)
}

/// The key that begins at `at`, if one does.
pub(super) fn find(bytes: &[u8], at: usize) -> Option<Found> {
    let rest = &bytes[at..];
    let form = BY_FIRST[usize::from(bytes[at])]
        .iter()
        .find(|form| rest.starts_with(form.mark.as_bytes()))?;
    if form.trust != Certain && !is_word_start(bytes, at) {
        return None;
    }
    let start = at + form.mark.len();
    let (body, mut end) = body(bytes, start, form)?;
    let body = match body.len() < form.least {
        // Strings that a program joins; the others follow as pieces.
        true => pieces::with_others(bytes, body, end, form.least),
        false => body,
    };
    if body.len() < form.least || body.len() > form.most || is_example(&body) {
        return None;
    }
    let shape = Shape::of(&body);
    let sound = match form.trust {
        Certain => shape.distinct >= 6,
        AtWord => shape.distinct >= 6 && shape.digits > 0,
        Weak => {
            let mixed = shape.digits > 0 && shape.upper >= 3 && shape.lower >= 3;
            mixed && shape.entropy > 3.3 || body.len() == HASH && looks_hex(&body)
        }
        Drawn => {
            // What base64 goes on with is a part of something longer.
            let longer = |b: &u8| matches!(b, b'/' | b'+');
            let part = at > 0 && longer(&bytes[at - 1]) || bytes.get(end).is_some_and(longer);
            !part && shape.digits > 0 && drawn::is_key_of_parts(&body)
        }
        Parted => body.get(14) == Some(&b'.') && looks_hex(&body[15..]),
        Alone => {
            let named = at > 0 && matches!(bytes[at - 1], b'-' | b'.' | b'/' | b'#' | b'@');
            !named && looks_hex(&body)
        }
    };
    // Sixteen capitals are a word in a constant; a key has digits.
    let drawn = form.kind != Kind::Aws || shape.digits > 0;
    if !sound || !drawn {
        return None;
    }
    if body.len() >= MOST {
        let rest = bytes[end..].iter();
        end += rest.take_while(|byte| form.alphabet.has(**byte)).count();
    }
    Some(Found {
        kind: form.kind,
        end,
    })
}

/// What stands behind the mark, and where it ends. A terminal or an editor may
/// have broken it over lines; it goes on in the next one if it is too short to
/// have ended, or so long and random that it was cut by the width.
fn body(bytes: &[u8], start: usize, form: &Form) -> Option<(Vec<u8>, usize)> {
    let run = |from: usize| {
        bytes[from..]
            .iter()
            .take(MOST)
            .take_while(|byte| form.alphabet.has(**byte))
            .count()
    };
    let mut end = start + run(start);
    // A full stop ends the sentence, not the key.
    while end > start && matches!(bytes[end - 1], b'.' | b'/') {
        end -= 1;
    }
    let mut body = bytes[start..end].to_vec();
    for _ in 0..8 {
        if body.len() >= form.least && form.most == form.least {
            break;
        }
        let Some(next) = after_break(bytes, end) else {
            break;
        };
        let length = run(next);
        let more = &bytes[next..next + length];
        let shape = Shape::of(more);
        let too_short = body.len() < form.least;
        let cased = shape.upper > 0 && shape.lower > 0;
        let mixed = shape.digits > 0 && shape.letters() > 0;
        let goes_on = if body.len() >= 4 {
            // By chance a part has no digit; with it the key must be whole.
            let completes =
                form.trust == Certain && too_short && cased && body.len() + length >= form.least;
            length >= 4 && (mixed && (too_short || length >= 12 && cased) || completes)
        } else {
            // The mark alone ends its line: all of the key is in the next.
            let drawn = mixed && (cased || matches!(form.alphabet, Hex));
            form.trust == Certain && body.is_empty() && length >= form.least && drawn
        };
        // The rest of a broken line stands alone in its own.
        let alone = bytes.get(next + length).is_none_or(|byte| {
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\' | b'`' | b',' | b';')
        });
        if !goes_on || !alone || body.len() + length > MOST {
            break;
        }
        body.extend_from_slice(more);
        end = next + length;
    }
    (!body.is_empty()).then_some((body, end))
}

/// Where the text goes on behind a line break, written as such, escaped, or
/// with a backslash before it.
pub(super) fn after_break(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let broken = ["\\\r\n", "\\\n", "\r\n", "\n", "\\r\\n", "\\n"]
        .iter()
        .find(|mark| rest.starts_with(mark.as_bytes()))?;
    let start = at + broken.len();
    let indent = bytes[start..]
        .iter()
        .take(64)
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'|' | b'>'))
        .count();
    Some(start + indent)
}

/// Whether a word begins here. What is before may be an escape that ends in a
/// letter: `\n`, `\u0022`, `%3D`, or a terminal's colour.
pub(super) fn is_word_start(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else {
        return true;
    };
    let byte = bytes[before];
    if !byte.is_ascii_alphanumeric() && byte != b'_' {
        return true;
    }
    let ends_with = |length: usize, mark: u8| before >= length && bytes[before - length] == mark;
    let hex = |length: usize| bytes[at - length..at].iter().all(u8::is_ascii_hexdigit);
    (matches!(byte, b'n' | b't' | b'r' | b'b' | b'f') && ends_with(1, b'\\'))
        || (before >= 5 && bytes[before - 4] == b'u' && bytes[before - 5] == b'\\' && hex(4))
        || (before >= 2 && bytes[before - 2] == b'%' && hex(2))
        || (byte == b'm' && is_colour(bytes, before))
}

/// Whether the `m` at `at` ends a colour sequence, with its escape character
/// as such or written out.
fn is_colour(bytes: &[u8], at: usize) -> bool {
    let from = at.saturating_sub(20);
    let digits = bytes[from..at]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
        .count();
    at > digits && bytes[at - digits - 1] == b'['
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_is_looked_for() {
        for form in &FORMS {
            // The scan looks for other things where these stand.
            let first = form.mark.as_bytes()[0];
            assert!(first.is_ascii_alphanumeric(), "{}", form.mark);
            assert!(form.mark.len() > 1, "{}", form.mark);
        }
    }

    #[test]
    fn a_longer_mark_stands_before_the_one_it_begins_with() {
        for (at, form) in FORMS.iter().enumerate() {
            for later in &FORMS[at + 1..] {
                assert!(
                    !later.mark.starts_with(form.mark),
                    "{} {}",
                    form.mark,
                    later.mark
                );
            }
        }
    }
}
