//! The budget: what a request may hold, and what each part of it takes.
//!
//! Parts are served in the order of [`PartName::ALL`], the indispensable first.
//! Each may have what those before it left over, so a part that does not fit is
//! the first one for which there is no room, and the error can name it. The
//! history comes last, because it is the one thing that can be compacted.

use std::fmt;

use longhaul_tokens::{Tokens, Window, settings};
use serde::Serialize;

use crate::{Error, Result};

/// A part of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartName {
    /// Definitions of tools.
    Tools,
    /// The system prompt beside files and skills.
    Prompt,
    /// The new message.
    Event,
    /// What changes with every request: time, hooks, recalled memory, gauge.
    Dynamic,
    /// The workspace's files.
    Files,
    /// The list of skills.
    Skills,
    /// What is put back after a compaction.
    Restored,
    /// The conversation.
    History,
}

impl PartName {
    /// Every part, in the order in which they are served.
    pub const ALL: [PartName; 8] = [
        PartName::Tools,
        PartName::Prompt,
        PartName::Event,
        PartName::Dynamic,
        PartName::Files,
        PartName::Skills,
        PartName::Restored,
        PartName::History,
    ];

    pub(crate) fn remedy(self) -> &'static str {
        match self {
            PartName::Tools => "deny tools that are not needed with `tools.deny`",
            PartName::Prompt => "shorten the extra prompt, or use a model with a larger window",
            PartName::Event => "send a shorter message; put long text into a file and name it",
            PartName::Dynamic => "let hooks add less, or recall less at once",
            PartName::Files => "shorten the workspace's files, or lower `bootstrap.totalMaxChars`",
            PartName::Skills => "remove skills that are not used here",
            PartName::Restored => "lower the limits under `restore`",
            PartName::History => "compact the session (`longhaul compact`)",
        }
    }
}

impl fmt::Display for PartName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            PartName::Tools => "tool definitions",
            PartName::Prompt => "system prompt",
            PartName::Event => "new message",
            PartName::Dynamic => "dynamic notes",
            PartName::Files => "workspace files",
            PartName::Skills => "list of skills",
            PartName::Restored => "restored state",
            PartName::History => "history",
        })
    }
}

settings! {
    /// What a request leaves free.
    #[derive(Copy)]
    pub struct Reserves {
        /// Tokens left for the answer (for 200,000).
        #[serde(rename = "responseReserveTokens")]
        response: Tokens [min = 1] = Tokens(8_000),
        /// Tokens left for tool definitions (for 200,000); what they need beyond it comes out of the rest.
        #[serde(rename = "toolsReserveTokens")]
        tools: Tokens = Tokens(2_000),
    }
}

/// How much a context may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    window: Tokens,
    response_reserve: Tokens,
    tools_reserve: Tokens,
    available: Tokens,
}

impl Budget {
    /// The budget of a window; reserves shrink with it.
    pub fn new(window: &Window, reserves: Reserves) -> Result<Budget> {
        let (response, tools) = (
            window.scaled(reserves.response),
            window.scaled(reserves.tools),
        );
        let available = window.size() - response - tools;
        if available == Tokens::ZERO {
            return Err(Error::NoRoom {
                window: window.size(),
                response,
                tools,
            });
        }
        Ok(Budget {
            window: window.size(),
            response_reserve: response,
            tools_reserve: tools,
            available,
        })
    }

    /// What all parts but tool definitions may have together.
    pub fn available(&self) -> Tokens {
        self.available
    }

    /// Divides the budget, or says for which part there is no room.
    pub(crate) fn divide(&self, size: impl Fn(PartName) -> Tokens) -> Result<Breakdown> {
        let mut left = self.available + self.tools_reserve;
        let mut parts = Vec::with_capacity(PartName::ALL.len());
        for name in PartName::ALL {
            let (tokens, cap) = (size(name), left);
            if tokens > cap {
                return Err(Error::OverBudget {
                    part: name,
                    tokens,
                    cap,
                    over: tokens - cap,
                    window: self.window,
                });
            }
            parts.push(Part { name, tokens, cap });
            left -= tokens;
            if name == PartName::Tools {
                // What tools do not need of their reserve stays reserved.
                left = left.min(self.available);
            }
        }
        Ok(Breakdown {
            window: self.window,
            response_reserve: self.response_reserve,
            tools_reserve: self.tools_reserve,
            available: self.available,
            total: parts.iter().map(|part| part.tokens).sum(),
            parts,
        })
    }
}

/// One part and what it may have had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Part {
    /// Which.
    pub name: PartName,
    /// Its size.
    pub tokens: Tokens,
    /// What the parts before it left for it.
    pub cap: Tokens,
}

/// Where the tokens of a context are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Breakdown {
    /// The whole window.
    pub window: Tokens,
    /// Left for the answer.
    pub response_reserve: Tokens,
    /// Left for tool definitions.
    pub tools_reserve: Tokens,
    /// What the other parts may have together.
    pub available: Tokens,
    /// What all parts have together.
    pub total: Tokens,
    /// The parts, in the order in which they are served.
    pub parts: Vec<Part>,
}

impl Breakdown {
    /// The size of one part.
    pub fn tokens(&self, name: PartName) -> Tokens {
        let part = self.parts.iter().find(|part| part.name == name);
        part.map_or(Tokens::ZERO, |part| part.tokens)
    }
}
