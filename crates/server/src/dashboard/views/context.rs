//! A context: what the model would be sent now, or was sent at any point before.

use longhaul_engine::measure::{Meter, Parts};
use longhaul_engine::standing::{self, Standing};
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::{EntryId, Role};
use schemars::JsonSchema;
use serde::Serialize;

use super::Shown;
use crate::desk::Desk;

/// A threshold of a window.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Threshold {
    /// Its name.
    pub name: &'static str,
    /// Where it is, in tokens.
    pub at: u32,
    /// What happens there.
    pub what: &'static str,
}

/// A part of a context.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Filled {
    /// What it is.
    pub part: String,
    /// Its tokens by our count; none where nobody recorded it.
    pub tokens: Option<u32>,
}

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

/// What is put back beside the messages.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Restored {
    /// What it is.
    pub kind: String,
    /// The text.
    pub text: String,
    /// Its tokens.
    pub tokens: u32,
}

/// A context.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextView {
    /// The session's id.
    pub session: String,
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
    pub thresholds: Vec<Threshold>,
    /// What comes next.
    pub next: String,
    /// What fills it, part by part.
    pub parts: Vec<Filled>,
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
        let pins = pins(desk, &measured.session)?;
        let messages = measured.context.messages.iter();
        let messages = messages.zip(&measured.reading.per_message);
        let messages = messages.map(|(message, tokens)| {
            let view = message.view();
            MessageRow {
                entry: message.entry.to_string(),
                role: message.role.to_string(),
                tool: view
                    .tool_name()
                    .filter(|_| message.role == Role::ToolResult)
                    .map(|tool| tool.into_owned()),
                tokens: tokens.0,
                text: longhaul_engine::recall::message_text(&view),
                edited: message.edited,
                pinned: pins.contains(&message.entry),
            }
        });
        let status = match at {
            Some(_) => None,
            None => {
                let standing = Standing::of(&measured, &desk.config, &desk.state_dir)?;
                let model = measured.reading.model.as_deref();
                Some(standing.to_json(
                    &measured,
                    model.filter(|model| !model.is_empty()),
                    &desk.state_dir,
                ))
            }
        };
        Ok(ContextView {
            session: longhaul_engine::catalog::id_of(measured.session.reference()),
            status,
            at: at.map(str::to_owned),
            tokens: tokens.0,
            tokens_from: measured.reading.measurement.source.to_string(),
            window: measured.window.size().0,
            percent: measured.percent(),
            thresholds: thresholds(&measured.window),
            next: standing::next_threshold(&measured.window, tokens),
            parts: filled(&parts, tokens, measured.reading.anchor.is_some()),
            messages: messages.collect(),
        })
    }
}

fn pins(desk: &Desk, session: &longhaul_transcript::Session) -> Shown<Vec<EntryId>> {
    use longhaul_engine::survey::Survey;
    let survey = Survey::of(session, &desk.keep(session))?;
    let labels = survey.labels().into_iter();
    let pins = labels.filter(|(_, label)| longhaul_transcript::is_pin(label));
    Ok(pins.map(|(entry, _)| entry).collect())
}

fn filled(parts: &Parts, tokens: Tokens, is_reported: bool) -> Vec<Filled> {
    let rows = parts.rows().into_iter();
    let rows = rows.filter(|(_, tokens)| *tokens > Tokens::ZERO);
    let mut rows: Vec<Filled> = rows
        .map(|(part, tokens)| Filled {
            part: part.to_owned(),
            tokens: Some(tokens.0),
        })
        .collect();
    // Agents do not record their prompts and tools; a provider's count has them.
    let unrecorded = tokens - parts.total();
    rows.push(Filled {
        part: "system prompt and tools (not recorded)".to_owned(),
        tokens: (is_reported && unrecorded > Tokens::ZERO).then_some(unrecorded.0),
    });
    rows
}

pub(super) fn thresholds(window: &Window) -> Vec<Threshold> {
    let all = standing::thresholds(window).into_iter();
    let shown = all.filter(|(name, ..)| *name != "prune");
    let rows = shown.map(|(name, at, what)| Threshold {
        name,
        at: at.0,
        what,
    });
    rows.collect()
}
