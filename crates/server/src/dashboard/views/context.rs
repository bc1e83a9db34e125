//! A context: what the model would be sent now, or was sent at any point before.

use std::collections::BTreeMap;

use longhaul_engine::measure::{Meter, Parts};
use longhaul_engine::recall::message_text;
use longhaul_engine::standing::{About, Thresholds};
use longhaul_engine::survey::Survey;
use longhaul_tokens::Tokens;
use longhaul_transcript::{ContextMessage, EntryId, Role};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Shown, pins};
use crate::desk::Desk;

/// One message.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageRow {
    /// Its entry.
    pub entry: String,
    /// Who speaks.
    pub role: String,
    /// Of a tool's output: the tool.
    pub tool: Option<String>,
    /// Its tokens by our count.
    pub tokens: u32,
    /// What it says.
    pub text: String,
    /// Whether it is shown otherwise than it is stored.
    pub edited: bool,
    /// Whether it is pinned.
    pub pinned: bool,
}

impl MessageRow {
    pub(super) fn of(message: &ContextMessage, tokens: Tokens, pins: &[EntryId]) -> MessageRow {
        let view = message.view();
        let tool = view.tool_name();
        let tool = tool.filter(|_| message.role == Role::ToolResult);
        MessageRow {
            entry: message.entry.to_string(),
            role: message.role.to_string(),
            tool: tool.map(|tool| tool.into_owned()),
            tokens: tokens.0,
            text: message_text(&view),
            edited: message.edited,
            pinned: pins.contains(&message.entry),
        }
    }
}

/// A context.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextView {
    /// The session.
    pub session: About,
    /// What a status says of it; of the context now, not of earlier ones.
    pub status: Option<serde_json::Value>,
    /// The entry up to which it goes, where that is not the newest.
    pub at: Option<String>,
    /// The tokens of all of it.
    pub tokens: u32,
    /// How that is known.
    pub tokens_from: String,
    /// The window.
    pub window: u32,
    /// The share of the window, in percent.
    pub percent: f64,
    /// The thresholds.
    #[schemars(with = "BTreeMap<String, u32>")]
    pub thresholds: Thresholds,
    /// What comes next.
    pub next: String,
    /// What fills it, part by part, by our own count.
    #[schemars(with = "BTreeMap<String, u32>")]
    pub parts: Parts,
    /// What the provider counted beyond that: the prompt and the tools, which agents
    /// do not record. Unknown where the provider said nothing.
    pub unrecorded: Option<u32>,
    /// The messages.
    pub messages: Vec<MessageRow>,
}

impl ContextView {
    /// The context of a session, up to an entry or as it is now.
    pub fn of(desk: &Desk, name: &str, at: Option<&str>) -> Shown<ContextView> {
        let session = desk.shown(name)?;
        let measured = match at {
            Some(at) => desk.measured_at(session, &EntryId::new(at))?,
            None => desk.measured(session)?,
        };
        let meter = Meter::new(desk.config.tokens.estimator);
        let parts = meter.parts(&measured.context);
        let tokens = measured.tokens();
        let thresholds = Thresholds::of(&measured.window);
        let session = &measured.session;
        let pins = pins(&Survey::of(session, &desk.keep(session))?);
        let messages = measured.context.messages.iter();
        let messages = messages.zip(&measured.reading.per_message);
        let messages = messages.map(|(message, tokens)| MessageRow::of(message, *tokens, &pins));
        // Agents do not record their prompts and tools; a provider's count has them.
        let unrecorded = tokens - parts.total();
        let is_known = measured.reading.anchor.is_some() && unrecorded > Tokens::ZERO;
        let status = match at {
            Some(_) => None,
            None => Some(desk.status_of(&measured)?),
        };
        Ok(ContextView {
            session: About::of(session, &desk.state_dir),
            status,
            at: at.map(str::to_owned),
            tokens: tokens.0,
            tokens_from: measured.reading.measurement.source.to_string(),
            window: measured.window.size().0,
            percent: measured.percent(),
            next: thresholds.next(tokens),
            thresholds,
            parts,
            unrecorded: is_known.then_some(unrecorded.0),
            messages: messages.collect(),
        })
    }
}
