//! `memory init|lint|verify|status`: the files that outlive a session.

use jiff::civil::DateTime;
use longhaul_checkpoint::AGENTS_TEMPLATE;
use longhaul_index::{Condition, IndexError, SqliteIndex};
use longhaul_memory::files::{AgentsFile, Finding, Limits, Outcome, Standing, Verified, Verify};
use longhaul_memory::{MemoryFolder, Seal};
use serde_json::{Value, json};

use super::dream::unfinished;
use super::{answer, memory as memory_index};
use crate::app::App;

use crate::args::{InitArgs, LintArgs, MemoryFilesCommand, VerifyArgs};
use crate::failure::Failure;
use crate::out;
use crate::paint;
use crate::style::style;
use crate::table::{Table, left, right};

pub(crate) fn run(app: &App, command: &MemoryFilesCommand) -> Result<(), Failure> {
    match command {
        MemoryFilesCommand::Init(args) => init(app, args),
        MemoryFilesCommand::Lint(args) => lint(app, args),
        MemoryFilesCommand::Verify(args) => verify(app, args),
        MemoryFilesCommand::Status => status(app),
    }
}

/// The memory of the workspace, only to be read.
pub(super) fn reading(app: &App) -> Result<MemoryFolder, Failure> {
    Ok(MemoryFolder::open(&app.workspace, None)?)
}

fn refuse_read_only(app: &App) -> Result<(), Failure> {
    match app.config.config.sandbox.read_only {
        false => Ok(()),
        true => Err(Failure::blocked("the workspace is read-only")
            .detail("`sandbox.readOnly` is set")
            .help("unset it to change the memory")),
    }
}

/// The memory of the workspace with the installation's seal.
pub(super) fn writing(app: &App) -> Result<MemoryFolder, Failure> {
    refuse_read_only(app)?;
    Ok(MemoryFolder::open(&app.workspace, Some(seal(app)?))?)
}

/// The installation's seal, made where there is none yet.
pub(super) fn seal(app: &App) -> Result<Seal, Failure> {
    // Each has 74 bits that nobody can guess.
    let mut fresh = Vec::new();
    for _ in 0..3 {
        fresh.extend_from_slice(uuid::Uuid::now_v7().as_bytes());
    }
    Ok(Seal::of_state_dir(&app.state_dir, &fresh)?)
}

/// The time where the user is, for logs.
fn clock(app: &App) -> DateTime {
    app.zoned().datetime()
}

pub(super) fn limits(app: &App) -> Limits {
    app.config.config.memory_limits()
}

fn init(app: &App, args: &InitArgs) -> Result<(), Failure> {
    let memory = writing(app)?;
    let folder = memory.root().file_name().unwrap_or_default();
    let folder = folder.to_string_lossy();
    let name = args.name.as_deref().unwrap_or(&folder);
    let agents = match (args.agents, args.no_agents) {
        (true, _) => AgentsFile::Wanted(AGENTS_TEMPLATE),
        (_, true) => AgentsFile::Unwanted,
        _ => AgentsFile::Usual(AGENTS_TEMPLATE),
    };
    let made = memory.init(clock(app), name, agents)?;
    standings(app, &memory)?;
    let findings = memory.lint(limits(app), &app.config.config.tokens.estimator)?;
    if app.json {
        return out::json(&json!({
            "workspace": answer::path(memory.root()),
            "files": made.iter().map(|one| json!({
                "file": one.file,
                "created": one.outcome == Outcome::Made,
            })).collect::<Vec<_>>(),
            "findings": findings.iter().map(finding).collect::<Vec<_>>(),
        }));
    }
    for one in &made {
        match one.outcome {
            Outcome::Made => say!("{}  {}", style("made").green(), one.file)?,
            Outcome::Kept => say!("{}  {}", style("kept").dim(), one.file)?,
            Outcome::LeftToClaude => app.note(&format!(
                "note: {} was not made: it would be read in the place of CLAUDE.md, which is \
                 there; --agents makes it all the same",
                one.file
            )),
        }
    }
    for found in &findings {
        app.note(&format!("note: {}; {}", told(found), found.remedy()));
    }
    Ok(())
}

fn lint(app: &App, args: &LintArgs) -> Result<(), Failure> {
    let estimator = &app.config.config.tokens.estimator;
    let memory = reading(app)?;
    unfinished(app, &memory);
    let findings = memory.lint(limits(app), estimator)?;
    let fixable = findings.iter().any(|found| found.is_fixable());
    if args.fix && fixable {
        let memory = writing(app)?;
        if !args.yes {
            for found in &findings {
                app.note(&format!("{}: {}", told(found), found.remedy()));
            }
        }
        app.confirm("Mend this?", args.yes)?;
        let fixed = memory.fix(clock(app), limits(app), estimator)?;
        if app.json {
            out::json(&json!({
                "workspace": answer::path(memory.root()),
                "findings": fixed.left.iter().map(finding).collect::<Vec<_>>(),
                "changed": fixed.files,
            }))?;
            return counted(&fixed.left);
        }
        for file in &fixed.files {
            say!("{}  {file}", style("mended").green())?;
        }
        return verdict(&fixed.left);
    }
    if app.json {
        out::json(&json!({
            "workspace": answer::path(memory.root()),
            "findings": findings.iter().map(finding).collect::<Vec<_>>(),
            "changed": [],
        }))?;
        return counted(&findings);
    }
    verdict(&findings).map_err(|failure| match fixable {
        true => failure.help("`longhaul memory lint --fix` mends what it can; no line is lost"),
        false => failure,
    })
}

/// Prints what is wrong.
fn verdict(findings: &[Finding]) -> Result<(), Failure> {
    if findings.is_empty() {
        return say!("Nothing to mend.");
    }
    for found in findings {
        say!("{}", &told(found))?;
        say!("  {}", style(&found.remedy()).dim())?;
    }
    counted(findings)
}

/// Anything at all is a failure, for scripts.
fn counted(findings: &[Finding]) -> Result<(), Failure> {
    match findings.len() as u64 {
        0 => Ok(()),
        count => Err(Failure::new(paint::plural(count, "finding"))),
    }
}

fn told(found: &Finding) -> String {
    let place = match found.line {
        Some(line) => format!("{}:{line}", found.file),
        None => found.file.clone(),
    };
    format!("{place} {}", found.trouble)
}

fn finding(found: &Finding) -> Value {
    json!({
        "file": found.file,
        "line": found.line,
        "trouble": found.trouble,
        "hold": found.hold,
        "message": found.trouble.to_string(),
        "remedy": found.remedy(),
        "fixable": found.is_fixable(),
    })
}

fn verify(app: &App, args: &VerifyArgs) -> Result<(), Failure> {
    let mode = match (args.mark, args.accept) {
        (true, _) => Verify::Mark,
        (_, true) => Verify::Accept,
        _ => Verify::Tell,
    };
    refuse_read_only(app)?;
    let memory = reading(app)?;
    unfinished(app, &memory);
    let verified = match mode {
        Verify::Tell => standings(app, &memory)?,
        mode => memory.verify(mode)?,
    };
    let stale = verified.iter().filter(|one| one.standing.is_stale());
    let stale = stale.count() as u64;
    if app.json {
        out::json(&json!({
            "workspace": answer::path(memory.root()),
            "pointers": verified,
            "stale": stale,
        }))?;
    } else {
        for one in &verified {
            say!("{}", standing(one))?;
        }
        if verified.is_empty() {
            say!("MEMORY.md points to nothing.")?;
        }
    }
    match stale {
        0 => Ok(()),
        stale => Err(Failure::new(format!(
            "{} cannot be believed",
            paint::plural(stale, "pointer")
        ))
        .help("read those files, correct MEMORY.md, then `longhaul memory verify --accept`")),
    }
}

/// How pointers stand. That can be told also where it cannot be remembered, as
/// on a full disk.
fn standings(app: &App, memory: &MemoryFolder) -> Result<Vec<Verified>, Failure> {
    let error = match memory.verify(Verify::Tell) {
        Ok(verified) => return Ok(verified),
        Err(error) => error,
    };
    let verified = memory.verify(Verify::Look)?;
    let reason = match error {
        longhaul_memory::Error::ReadOnly { path } => {
            format!("{} cannot be written", app.show_path(&path))
        }
        other => other.to_string(),
    };
    app.note(&format!("note: new pointers are not remembered: {reason}"));
    Ok(verified)
}

fn standing(one: &Verified) -> String {
    let (word, why) = match one.standing {
        Standing::Fresh => (style("fresh").green(), ""),
        Standing::New => (style("new").cyan(), ""),
        Standing::Changed => (
            style("stale").yellow(),
            "  changed since the pointer was written",
        ),
        Standing::Gone => (style("stale").red(), "  is gone"),
        Standing::SectionGone => (
            style("stale").red(),
            "  the file is there, the section is gone",
        ),
        Standing::Outside => (style("stale").red(), "  is outside the workspace"),
        Standing::Unreadable => (style("stale").red(), "  cannot be read"),
    };
    let target = match &one.anchor {
        Some(anchor) => format!("{}#{anchor}", one.target),
        None => one.target.clone(),
    };
    format!("{word:<5}  MEMORY.md:{}  {target}{why}", one.line)
}

fn status(app: &App) -> Result<(), Failure> {
    let memory = reading(app)?;
    unfinished(app, &memory);
    let status = memory.status(limits(app), &app.config.config.tokens.estimator)?;
    let chosen = memory_index::chosen(app)?;
    let index = memory_index::condition(app, chosen.encoder.clone());
    if app.json {
        let mut value = json!({ "workspace": answer::path(memory.root()) });
        if let (Value::Object(all), Value::Object(own)) =
            (&mut value, serde_json::to_value(&status)?)
        {
            all.extend(own);
            all.insert("index".into(), index_json(app, &index));
            all.insert("embedding".into(), memory_index::embedding(&chosen));
        }
        return out::json(&value);
    }
    let mut table = Table::new([left("FILE"), right("SIZE"), right("TOKENS")]);
    for file in &status.files {
        let tokens = match (file.tokens, file.file == "MEMORY.md") {
            (Some(tokens), true) => format!("{tokens} of {}", status.max_tokens),
            (Some(tokens), false) => paint::number(u64::from(tokens)),
            (None, _) => String::new(),
        };
        let size = match file.bytes {
            Some(bytes) => paint::bytes(bytes),
            None if file.unread.is_some() => String::new(),
            None => style("not there").dim().to_string(),
        };
        let tokens = match &file.unread {
            Some(_) => style("not read").yellow().to_string(),
            None => tokens,
        };
        table.row([file.file.clone(), size, tokens]);
    }
    table.print(app.columns())?;
    for file in &status.files {
        if let Some(why) = &file.unread {
            say!("{} {}", file.file, why)?;
        }
    }
    say!("")?;
    paint::row("pointers", status.pointers)?;
    let logs = paint::plural(status.logs as u64, "day");
    paint::row(
        "daily logs",
        match status.newest_log {
            Some(date) => format!("{logs}, {}, newest {date}", paint::bytes(status.log_bytes)),
            None => "none".into(),
        },
    )?;
    let findings = match status.findings {
        0 => style("nothing to mend".to_owned()).green(),
        some => style(format!(
            "{}; `longhaul memory lint` lists them",
            paint::plural(some as u64, "finding")
        ))
        .yellow(),
    };
    paint::row("lint", findings)?;
    print_index(app, &index)?;
    paint::row(
        "vectors",
        match &chosen.encoder {
            Some(encoder) => {
                let made = match &index {
                    Ok(Some(found)) => format!(
                        ", {} of {} made{}",
                        paint::number(found.status.vectors),
                        paint::plural(found.status.chunks, "chunk"),
                        memory_index::without_vectors(&found.status)
                    ),
                    _ => String::new(),
                };
                format!("{} ({}){made}", encoder.id(), chosen.kind())
            }
            None => "none: searches go by words alone".to_owned(),
        },
    )?;
    if let Some(why) = &chosen.why {
        say!("  {}", style(why).dim())?;
    }
    for reason in &chosen.reasons {
        say!("  {}", style(&reason.text).dim())?;
    }
    Ok(())
}

/// The index in one word.
fn index_state(app: &App, index: &Result<Option<Condition>, IndexError>) -> &'static str {
    match index {
        _ if !app.config.config.memory.index.enabled => "off",
        Ok(None) if SqliteIndex::was_here(&memory_index::path(app)) => "incomplete",
        Ok(None) => "none",
        Ok(Some(found)) if found.unfilled => "incomplete",
        Ok(Some(found)) if found.behind.total() > 0 => "behind",
        Ok(Some(_)) => "current",
        Err(IndexError::Damaged { .. }) => "damaged",
        Err(_) => "unusable",
    }
}

fn index_json(app: &App, index: &Result<Option<Condition>, IndexError>) -> Value {
    let found = index.as_ref().ok().and_then(Option::as_ref);
    json!({
        "path": answer::path(&memory_index::path(app)),
        "state": index_state(app, index),
        "reason": index.as_ref().err().map(ToString::to_string),
        "records": found.map(|found| found.status.records),
        "chunks": found.map(|found| found.status.chunks),
        "textBytes": found.map(|found| found.status.text_bytes),
        "diskBytes": found.map(|found| found.status.disk_bytes),
        "vectors": found.map(|found| found.status.vectors),
        "vectorsRefused": found.map(|found| found.status.vectors_refused),
        "updated": found.and_then(|found| found.current).map(|time| time.to_iso()),
        "behind": found.map(|found| json!({
            "new": found.behind.new,
            "changed": found.behind.changed,
            "gone": found.behind.gone,
        })),
    })
}

/// Less text than this may be in an index of more than one and a half times its
/// size.
const LITTLE_TEXT: u64 = 100_000;

fn print_index(app: &App, index: &Result<Option<Condition>, IndexError>) -> Result<(), Failure> {
    if index_state(app, index) == "off" {
        return paint::row("index", "none: `memory.index.enabled` is false");
    }
    let found = match index {
        Ok(Some(found)) => found,
        Ok(None) if index_state(app, index) == "incomplete" => {
            let what = "incomplete: its file was deleted or emptied, or is of an older layout; \
                        `longhaul memory index` makes it anew with sessions";
            return paint::row("index", style(what).yellow());
        }
        Ok(None) => {
            return paint::row(
                "index",
                "none yet: a search makes it, and `longhaul memory index` with sessions",
            );
        }
        Err(IndexError::Damaged { reason, .. }) => {
            let what = format!("damaged ({})", reason);
            paint::row("index", style(what).red())?;
            let remedy = "a search makes it anew from memory files, `longhaul memory index` from \
                          sessions too";
            return say!("  {}", style(remedy).dim());
        }
        Err(error) => {
            let what = error.to_string();
            return paint::row("index", style(what).yellow());
        }
    };
    let (status, behind) = (&found.status, &found.behind);
    // A chat takes the files in beside its work and notes no time.
    let when = match (found.current, behind.total()) {
        (Some(time), _) => format!("brought up to date {}", paint::ago(app.now(), time)),
        (None, 0) => "as the memory files are now".to_owned(),
        (None, _) => "the memory files not taken in yet".to_owned(),
    };
    row!(
        "index",
        "{} in {}, {} of text in {} on disk, {when}",
        paint::plural(status.records, "text"),
        paint::plural(status.chunks, "chunk"),
        paint::bytes(status.text_bytes),
        paint::bytes(status.disk_bytes)
    )?;
    if status.text_bytes < LITTLE_TEXT && status.disk_bytes > status.text_bytes * 3 / 2 {
        let told = "an index has some 11 KB of its own, which shows beside little text";
        say!("  {}", style(told).dim())?;
    }
    if found.unfilled {
        let told = "incomplete: begun anew, or being filled, or that was cut short; `longhaul memory index` \
                    completes it";
        say!("  {}", style(told).yellow())?;
    }
    match behind.total() {
        0 => Ok(()),
        all => {
            let since = format!(
                "{} changed since ({} new, {} changed, {} gone); the next search takes in up to {} of \
                 that, `longhaul memory index` all of it",
                paint::plural(all, "memory file"),
                behind.new,
                behind.changed,
                behind.gone,
                paint::bytes(memory_index::SYNCED.bytes)
            );
            say!("  {}", style(since).yellow())
        }
    }
}
