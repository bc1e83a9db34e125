//! The life cycle of a host's session, method by method.
//!
//! Trouble of ours never breaks a host's turn: where something goes wrong, the
//! host gets its own messages back and is told what happened. Committing a turn
//! is the exception, since a host that is told "done" never tries again.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use longhaul_engine::Error;
use longhaul_engine::hosted::{Ask, Assembly, Base, Committed, Compaction, Given};
use longhaul_engine::tools::{Outcome, Toolbox};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::frame::{BAD_PARAMS, Fault, NOT_COMMITTED, UNKNOWN_LIST, safe};
use super::params::{self, Budget, Compact, Listing, One, Several, ToolCall};
use super::worker::{Job, Worker};

/// What is asked about one session.
pub(super) const METHODS: [&str; 10] = [
    "bootstrap",
    "ingest",
    "ingestBatch",
    "assemble",
    "compact",
    "commitTurn",
    "afterTurn",
    "maintain",
    "tools/call",
    "status",
];

/// The tools that a host may offer its agents.
const OFFERED: [&str; 4] = ["recall", "memory_search", "memory_get", "note"];

/// An answer, as JSON.
type Answer = Result<String, Fault>;

/// Answers one request.
pub(super) async fn answer(worker: &mut Worker, job: &Job) -> Answer {
    match job.method.as_str() {
        "bootstrap" => bootstrap(worker, &job.params),
        "ingest" => ingest(worker, &job.params),
        "ingestBatch" => ingest_batch(worker, &job.params),
        "assemble" => assemble(worker, job).await,
        "compact" => compact(worker, job).await,
        "commitTurn" => commit_turn(worker, &job.params),
        "afterTurn" => after_turn(worker, job).await,
        "maintain" => maintain(worker, job).await,
        "tools/call" => call_tool(worker, job).await,
        "status" => status(worker),
        other => Err(Fault::new(BAD_PARAMS, format!("{other:?} has no session"))),
    }
}

/// What a host is told when a request ended in a bug of ours.
pub(super) fn without_us(method: &str, reason: &str) -> Answer {
    let reason = &safe(reason);
    match method {
        "commitTurn" => Err(Fault::new(NOT_COMMITTED, reason)),
        // The host's messages went down with the request; it has them itself.
        "assemble" => Err(Fault::new(UNKNOWN_LIST, reason)),
        "tools/call" => Ok(json!({ "text": reason, "isError": true }).to_string()),
        "compact" => {
            let answer = json!({ "ok": false, "compacted": false, "reason": reason });
            Ok(answer.to_string())
        }
        _ => Ok(json!({ "degraded": reason }).to_string()),
    }
}

/// What happened, and what to do about it, without secrets.
fn said(error: &Error) -> String {
    match error.remedy() {
        Some(remedy) => safe(&format!("{error}; {remedy}")),
        None => safe(&error.to_string()),
    }
}

/// Trouble that is ours: the session is read again the next time, and the
/// people who run the host are told.
fn trouble(worker: &mut Worker, what: &str, error: &Error) -> String {
    worker.close();
    let reason = format!("{what}: {}", said(error));
    worker.peer.log("error", &reason);
    reason
}

/// What a message that is no object is kept as: one of a role that nobody has.
const ODD: &str = "{\"role\":\"longhaul.odd\",\"value\":";

/// Messages as text. What is no object is wrapped, so that the rest of its list
/// is not lost for it.
fn texts<'a>(worker: &mut Worker, messages: &[&'a RawValue]) -> Vec<Cow<'a, str>> {
    let mut odd = None;
    let mut texts = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        let text = message.get();
        if text.starts_with('{') {
            texts.push(Cow::Borrowed(text));
        } else {
            odd.get_or_insert((at, text));
            texts.push(Cow::Owned(format!("{ODD}{text}}}")));
        }
    }
    if let Some((at, text)) = odd
        && !std::mem::replace(&mut worker.said_odd, true)
    {
        let excerpt: String = text.chars().take(60).collect();
        let session = &worker.lodger.session_id;
        let message = format!(
            "{session}: message {at} is no object but {excerpt}; it is kept as one of an unknown \
             role and given back as it came"
        );
        worker.peer.log("warn", &message);
    }
    texts
}

fn borrowed<'a>(texts: &'a [Cow<'_, str>]) -> Vec<&'a str> {
    texts.iter().map(AsRef::as_ref).collect()
}

/// A message as the host gave it.
fn unwrapped(json: &str) -> &str {
    let inner = json.strip_prefix(ODD);
    inner
        .and_then(|rest| rest.strip_suffix('}'))
        .unwrap_or(json)
}

fn bootstrap(worker: &mut Worker, params: &RawValue) -> Answer {
    let listing: Listing<'_> = params::read(params)?;
    let came = listing.messages.as_deref();
    let texts = came.map(|came| texts(worker, came));
    let mut listener = worker.listener();
    let done = worker.hosted().and_then(|hosted| {
        let imported = match &texts {
            Some(texts) => hosted.observe(&Given::whole(&borrowed(texts)), &mut listener)?,
            None => 0,
        };
        Ok((hosted.messages(), imported))
    });
    Ok(match done {
        Ok((messages, imported)) => json!({
            "bootstrapped": true,
            "importedMessages": imported,
            "messages": messages,
        }),
        Err(error) => {
            let reason = trouble(worker, "the session could not be opened", &error);
            json!({ "bootstrapped": false, "reason": reason, "degraded": reason })
        }
    }
    .to_string())
}

fn ingest(worker: &mut Worker, params: &RawValue) -> Answer {
    let one: One<'_> = params::read(params)?;
    let message = params::wanted(one.message, "message")?;
    let text = texts(worker, &[message]);
    let mut listener = worker.listener();
    let done = worker
        .hosted()
        .and_then(|hosted| hosted.ingest(&text[0], &mut listener));
    Ok(match done {
        Ok(ingested) => json!({ "ingested": ingested }),
        Err(error) => {
            let reason = trouble(worker, "the message was not kept", &error);
            json!({ "ingested": false, "degraded": reason })
        }
    }
    .to_string())
}

fn ingest_batch(worker: &mut Worker, params: &RawValue) -> Answer {
    let several: Several<'_> = params::read(params)?;
    let messages = params::wanted(several.messages, "messages")?;
    let texts = texts(worker, &messages);
    let mut listener = worker.listener();
    let done = worker.hosted().and_then(|hosted| {
        let mut count = 0;
        for text in &texts {
            count += usize::from(hosted.ingest(text, &mut listener)?);
        }
        Ok(count)
    });
    Ok(match done {
        Ok(count) => json!({ "ingestedCount": count }),
        Err(error) => {
            let reason = trouble(worker, "the messages were not kept", &error);
            json!({ "ingestedCount": 0, "degraded": reason })
        }
    }
    .to_string())
}

fn commit_turn(worker: &mut Worker, params: &RawValue) -> Answer {
    let several: Several<'_> = params::read(params)?;
    let key = params::wanted(several.advancement_key, "advancementKey")?;
    if key.is_empty() {
        return Err(Fault::new(BAD_PARAMS, "`advancementKey` is empty"));
    }
    let messages = params::wanted(several.messages, "messages")?;
    let texts = texts(worker, &messages);
    let mut said = DefaultHasher::new();
    texts.hash(&mut said);
    let said = said.finish();
    let mut listener = worker.listener();
    let done = worker
        .hosted()
        .and_then(|hosted| hosted.commit_turn(&key, &borrowed(&texts), &mut listener));
    match done {
        Ok(Committed::Now) => {
            worker.turns.insert(key, said);
            Ok(json!({ "status": "committed" }).to_string())
        }
        Ok(Committed::Before) => {
            if worker.turns.get(&key).is_some_and(|other| *other != said) {
                let session = &worker.lodger.session_id;
                let message = format!(
                    "{session}: the turn {key:?} was committed before with other messages; those \
                     are kept, and these are not"
                );
                worker.peer.log("warn", &message);
            }
            Ok(json!({ "status": "duplicate" }).to_string())
        }
        Err(error) => {
            let reason = trouble(worker, "the turn is not on the disk", &error);
            Err(Fault::new(NOT_COMMITTED, reason))
        }
    }
}

/// The list of a request: how it was given, and its texts.
fn given<'a>(listing: &'a Listing<'_>, texts: &'a [&'a str]) -> Given<'a> {
    Given {
        base: listing.history.as_ref().map(|history| Base {
            token: &history.base,
            keep: history.keep,
        }),
        tail: texts,
    }
}

/// The messages that came with a request.
fn came<'a, 'b>(listing: &'b Listing<'a>) -> Result<&'b [&'a RawValue], Fault> {
    match (&listing.history, &listing.messages) {
        (Some(history), _) => Ok(&history.tail),
        (None, Some(messages)) => Ok(messages),
        (None, None) => Err(Fault::new(
            BAD_PARAMS,
            "neither `messages` nor `history` is there",
        )),
    }
}

async fn assemble(worker: &mut Worker, job: &Job) -> Answer {
    let listing: Listing<'_> = params::read(&job.params)?;
    let came = came(&listing)?;
    let texts = texts(worker, came);
    let texts = borrowed(&texts);
    let names = params::names(listing.available_tools.as_ref());
    let budget = params::budget(
        listing.token_budget,
        listing.runtime_settings.as_ref(),
        listing.runtime_context.as_ref(),
    );
    let ask = Ask {
        budget: budget.tokens,
        tools: names.as_deref(),
    };
    let given = given(&listing, &texts);
    let mut listener = worker.listener();
    let done = match worker.hosted() {
        Ok(hosted) if listing.tool_loop => {
            hosted
                .assemble_again(&given, &ask, &job.cancel, &mut listener)
                .await
        }
        Ok(hosted) => {
            hosted
                .assemble(&given, &ask, &job.cancel, &mut listener)
                .await
        }
        Err(error) => Err(error),
    };
    match done {
        Ok(mut assembly) => {
            assembly.degraded.splice(..0, budget.wrong);
            Ok(assembled(&assembly, listing.refs))
        }
        Err(error) if error.is_cancelled() => Err(Fault::cancelled()),
        Err(error @ Error::UnknownList { .. }) => Err(Fault::new(UNKNOWN_LIST, error.to_string())),
        Err(error) => {
            let what = "the host's messages are given back unchanged";
            let reason = trouble(worker, what, &error);
            unchanged(&listing, came, &reason)
        }
    }
}

/// The host's own messages, because something went wrong with ours.
fn unchanged(listing: &Listing<'_>, came: &[&RawValue], reason: &str) -> Answer {
    let mut text = String::from("{\"messages\":[");
    let kept = listing.history.as_ref().map_or(0, |history| history.keep);
    if !listing.refs && kept > 0 {
        return Err(Fault::new(
            UNKNOWN_LIST,
            format!("{reason}; give the list whole"),
        ));
    }
    let mut characters = 0;
    for at in 0..kept + came.len() {
        if at > 0 {
            text.push(',');
        }
        match listing.refs {
            true => text.push_str(&format!("{{\"ref\":{at}}}")),
            false => text.push_str(came[at].get()),
        }
        characters += at.checked_sub(kept).map_or(0, |at| came[at].get().len());
    }
    let rest = json!({
        "estimatedTokens": characters / 3,
        "base": "",
        "degraded": reason,
    })
    .to_string();
    text.push_str("],");
    text.push_str(&rest[1..]);
    Ok(text)
}

fn assembled(assembly: &Assembly, refs: bool) -> String {
    let size: usize = assembly.messages.iter().map(|shown| shown.json.len()).sum();
    let mut text = String::with_capacity(if refs { 4096 } else { size });
    text.push_str("{\"messages\":[");
    for (index, shown) in assembly.messages.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        match shown.at {
            Some(at) if refs => text.push_str(&format!("{{\"ref\":{at}}}")),
            _ => text.push_str(unwrapped(&shown.json)),
        }
    }
    let mut rest = json!({ "estimatedTokens": assembly.tokens, "base": assembly.token });
    if let Some(addition) = &assembly.addition {
        rest["systemPromptAddition"] = addition.as_str().into();
    }
    if !assembly.degraded.is_empty() {
        rest["degraded"] = safe(&assembly.degraded.join("; ")).into();
    }
    text.push_str("],");
    text.push_str(&rest.to_string()[1..]);
    text
}

async fn compact(worker: &mut Worker, job: &Job) -> Answer {
    let asked: Compact<'_> = params::read(&job.params)?;
    let budget = params::budget(
        asked.token_budget,
        asked.runtime_settings.as_ref(),
        asked.runtime_context.as_ref(),
    );
    let budget = sound(worker, budget);
    let focus = asked.custom_instructions.as_deref();
    let focus = focus.filter(|focus| !focus.trim().is_empty());
    let mut listener = worker.listener();
    let done = match worker.hosted() {
        Ok(hosted) => {
            hosted.keep_to(budget);
            hosted
                .compact(asked.force, focus, &job.cancel, &mut listener)
                .await
        }
        Err(error) => Err(error),
    };
    match done {
        Ok(compaction) => Ok(compacted(&compaction).to_string()),
        Err(error) if error.is_cancelled() => Err(Fault::cancelled()),
        Err(error) => {
            let reason = trouble(worker, "nothing was compacted", &error);
            let answer = json!({
                "ok": false, "compacted": false, "reason": reason, "degraded": reason,
            });
            Ok(answer.to_string())
        }
    }
}

fn compacted(compaction: &Compaction) -> Value {
    let mut answer = json!({
        "ok": true,
        "compacted": compaction.compacted,
        "result": {
            "tokensBefore": compaction.tokens_before,
            "tokensAfter": compaction.tokens_after,
        },
    });
    if let Some(reason) = &compaction.reason {
        answer["reason"] = safe(reason).into();
    }
    if let Some(summary) = &compaction.summary {
        answer["result"]["summary"] = summary.as_str().into();
    }
    if let Some(first) = &compaction.first_kept {
        answer["result"]["firstKeptEntryId"] = first.as_str().into();
    }
    answer
}

async fn after_turn(worker: &mut Worker, job: &Job) -> Answer {
    let listing: Listing<'_> = params::read(&job.params)?;
    let mut degraded = None;
    let mut base = None;
    if listing.messages.is_some() || listing.history.is_some() {
        let came = came(&listing)?;
        let texts = texts(worker, came);
        let texts = borrowed(&texts);
        let mut listener = worker.listener();
        let given = given(&listing, &texts);
        let done = worker.hosted().and_then(|hosted| {
            hosted.observe(&given, &mut listener)?;
            Ok(hosted.token())
        });
        match done {
            Ok(token) => base = Some(token),
            Err(error @ Error::UnknownList { .. }) => {
                return Err(Fault::new(UNKNOWN_LIST, error.to_string()));
            }
            Err(error) => {
                degraded = Some(trouble(worker, "the turn was not kept", &error));
            }
        }
    }
    if degraded.is_none() {
        fit(
            worker,
            params::budget(
                listing.token_budget,
                listing.runtime_settings.as_ref(),
                listing.runtime_context.as_ref(),
            ),
        );
        degraded = look_after(worker, job).await?;
    }
    let mut answer = json!({});
    if let Some(base) = base {
        answer["base"] = base.into();
    }
    if let Some(degraded) = degraded {
        answer["degraded"] = degraded.into();
    }
    Ok(answer.to_string())
}

/// A budget, with a word to the people who run the host if it was none.
fn sound(worker: &Worker, budget: Budget) -> Option<f64> {
    if let Some(wrong) = budget.wrong {
        let session = &worker.lodger.session_id;
        worker.peer.log("warn", &format!("{session}: {wrong}"));
    }
    budget.tokens
}

/// Takes a window over, where the host names one.
fn fit(worker: &mut Worker, budget: Budget) {
    // A session that cannot be opened is told of by whatever comes next.
    if let (Some(budget), Ok(hosted)) = (sound(worker, budget), worker.hosted()) {
        hosted.keep_to(Some(budget));
    }
}

/// Checkpoint, pruning, compaction where it is due; what went wrong with it.
async fn look_after(worker: &mut Worker, job: &Job) -> Result<Option<String>, Fault> {
    let mut listener = worker.listener();
    let done = match worker.hosted() {
        Ok(hosted) => hosted.maintain(&job.cancel, &mut listener).await,
        Err(error) => Err(error),
    };
    match done {
        Ok(()) => Ok(None),
        Err(error) if error.is_cancelled() => Err(Fault::cancelled()),
        Err(error) => Ok(Some(trouble(
            worker,
            "the session was not looked after",
            &error,
        ))),
    }
}

async fn maintain(worker: &mut Worker, job: &Job) -> Answer {
    let asked: Compact<'_> = params::read(&job.params)?;
    fit(
        worker,
        params::budget(
            asked.token_budget,
            asked.runtime_settings.as_ref(),
            asked.runtime_context.as_ref(),
        ),
    );
    let degraded = look_after(worker, job).await?;
    // Nothing of the host's transcript is ever rewritten from here.
    let mut answer = json!({ "changed": false, "bytesFreed": 0, "rewrittenEntries": 0 });
    if let Some(degraded) = degraded {
        answer["degraded"] = degraded.into();
    }
    Ok(answer.to_string())
}

fn status(worker: &mut Worker) -> Answer {
    let (id, key) = (
        worker.lodger.session_id.clone(),
        worker.lodger.session_key.clone(),
    );
    let done = worker.hosted().map(|hosted| {
        let status = hosted.status();
        let path = hosted.path().to_string_lossy().into_owned();
        // The names that `context status --json` has, and a few more.
        json!({
            "session": { "id": id, "key": key, "path": path },
            "tokens": status.size.tokens,
            "tokensFrom": if status.size.reported { "provider" } else { "counted" },
            "window": status.window,
            "windowFrom": status.window_origin.to_string(),
            "percent": (status.fullness * 1000.0).round() / 10.0,
            "summarizer": status.summarizer,
            "messages": hosted.messages(),
            "messagesNotInContext": hosted.left(),
            "compactions": status.degradation.compactions,
            "risk": status.degradation.risk,
            "lossPercent": status.degradation.loss_percent,
            "recommendation": status.degradation.recommendation,
            "autocompact": status.brakes.autocompact,
            "breaker": status.brakes.breaker,
            "guard": status.brakes.guard,
            "spending": status.spending,
            "thresholds": { "activation": status.activation, "hard": status.hard },
        })
    });
    Ok(match done {
        Ok(answer) => answer,
        Err(error) => {
            let reason = trouble(worker, "the session could not be read", &error);
            json!({ "degraded": reason })
        }
    }
    .to_string())
}

/// The tools that a host may offer, as it is told of them.
pub(super) fn offered(tools: &dyn Toolbox) -> Value {
    let tools = tools.definitions();
    let offered = tools
        .iter()
        .filter(|tool| OFFERED.contains(&tool.name.as_str()));
    offered
        .map(|tool| {
            let schema: Value = serde_json::from_str(&tool.parameters).unwrap_or_default();
            json!({ "name": tool.name, "description": tool.description, "inputSchema": schema })
        })
        .collect()
}

async fn call_tool(worker: &mut Worker, job: &Job) -> Answer {
    let asked: ToolCall<'_> = params::read(&job.params)?;
    let name = params::wanted(asked.name, "name")?;
    if !OFFERED.contains(&name.as_str()) {
        let offered = OFFERED.join(", ");
        let text = safe(&format!("there is no tool {name:?} here, only {offered}"));
        return Ok(json!({ "text": text, "isError": true }).to_string());
    }
    // A mirror that is not there yet is begun, so that there is something to look in.
    if let Err(error) = worker.hosted() {
        let text = trouble(worker, "the session could not be opened", &error);
        return Ok(json!({ "text": text, "isError": true }).to_string());
    }
    let call = longhaul_model::ToolCall {
        id: job.id.as_ref().map_or("call", |id| id.as_str()).to_owned(),
        name,
        arguments: asked.arguments.map_or("{}", RawValue::get).to_owned(),
    };
    let outcome = worker.tools().run(&call, &job.cancel).await;
    if job.cancel.is_cancelled() {
        return Err(Fault::cancelled());
    }
    Ok(answer_of(&outcome))
}

/// What a tool said. What it brought is without secrets already; what it says
/// went wrong may quote what it was given.
pub(super) fn answer_of(outcome: &Outcome) -> String {
    let text = match outcome.is_error {
        true => safe(&outcome.text),
        false => outcome.text.clone(),
    };
    json!({ "text": text, "isError": outcome.is_error }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_host_gets_in_place_of_an_answer_has_no_secret_in_it() {
        let key = format!("ghp_{}", "a7Bq2Zx9Lm4Tn8Vw".repeat(3).split_at(36).0);
        let reason = format!("panicked over {key}");
        for method in [
            "commitTurn",
            "assemble",
            "tools/call",
            "compact",
            "maintain",
        ] {
            let told = match without_us(method, &reason) {
                Ok(answer) => answer,
                Err(fault) => fault.message,
            };
            assert!(
                told.contains("panicked over [redacted:github-token#1]"),
                "{told}"
            );
            assert!(!told.contains(&key), "{told}");
        }
        let told = answer_of(&Outcome::failed(reason.clone()));
        assert!(!told.contains(&key), "{told}");
        // What a tool brings is redacted where it is made, text by text.
        let brought = answer_of(&Outcome::done(reason));
        assert!(brought.contains(&key), "{brought}");
    }
}
