//! What to generate.
use std::path::PathBuf;

use longhaul_transcript::Millis;

/// How long a sample is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// So many user messages.
    Turns(u32),
    /// At least so many bytes, and at most 5 % more (from 200,000 on; a
    /// smaller file can be a few thousand bytes longer).
    AtLeastBytes(u64),
}

/// Whether the sample was compacted on its way, as pi would have done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compactions {
    /// Never: one context from the first line to the last.
    None,
    /// Whenever the context has grown to so many tokens (24,000 at least).
    /// Like pi, each keeps the last 20,000 tokens, or a quarter of a small window.
    Every(u32),
}

/// The recipe of a sample: the same plan always gives the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Decides everything that is not fixed below. Five kinds of projects take
    /// turns: a Rust tool, a Python service, a web app, Terraform, a translated guide.
    pub seed: u64,
    /// How long the session is.
    pub size: Size,
    /// When it begins.
    pub start: Millis,
    /// The working folder it claims to have run in.
    pub cwd: PathBuf,
    /// The model's name.
    pub model: String,
    /// The provider's name; also decides the `api` field.
    pub provider: String,
    /// Whether rules, decisions, facts and check-lists are planted in it.
    pub planted: bool,
    /// Whether it has compaction entries.
    pub compactions: Compactions,
    /// Whether some messages carry pictures.
    pub images: bool,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            seed: 1,
            size: Size::Turns(40),
            start: Millis(1_772_442_000_000),
            cwd: PathBuf::from("/home/ada/work/project"),
            model: String::from("claude-sonnet-4-5"),
            provider: String::from("anthropic"),
            planted: true,
            compactions: Compactions::None,
            images: false,
        }
    }
}
