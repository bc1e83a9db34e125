//! `session …`: reading, checking and copying one session.

use longhaul_transcript::{Fault, FaultKind, Report, Session, fork, verify};

use super::{change, handoff, list, show, transfer, trash};
use crate::args::{ForkArgs, SessionCommand, Which};
use crate::prelude::*;

pub(crate) fn run(app: &App, command: &SessionCommand) -> Result {
    match command {
        SessionCommand::List(args) => list::list(app, args),
        SessionCommand::Show(args) => show::show(app, args),
        SessionCommand::Verify { which } => check(app, which),
        SessionCommand::Import(args) => transfer::import(app, args),
        SessionCommand::Branch(args) => change::branch(app, args),
        SessionCommand::Fork(args) => fork_at(app, args),
        SessionCommand::Archive(args) => change::pack(app, args),
        SessionCommand::Restore(args) => change::unpack(app, args),
        SessionCommand::Pin(args) => change::pin(app, args),
        SessionCommand::Pins { which } => change::pins(app, which),
        SessionCommand::Label(args) => change::label(app, args),
        SessionCommand::Rename(args) => change::rename(app, args),
        SessionCommand::Delete(args) => trash::delete(app, args),
        SessionCommand::Undelete { id } => trash::undelete(app, id.as_deref()),
        SessionCommand::Handoff(args) => handoff::run(app, args),
    }
}

fn check(app: &App, which: &Which) -> Result {
    let session = resolve::session(app, which.name())?;
    let report = verify(&session)?;
    if app.json {
        let session = answer::session(app, &session);
        let head = json!({ "session": session, "sound": report.is_sound() });
        let mut value = answer::joined(head, &report)?;
        value["faults"] = answer::faults(&report.faults);
        out::json(&value)?;
    } else {
        print_report(app, &session, &report)?;
    }
    if report.is_sound() {
        return Ok(());
    }
    let lost = report.faults.iter().any(|fault| fault.kind.is_loss());
    let altered = report.faults.iter().any(is_altered);
    let faults = paint::plural(report.faults.len() as u64, "fault");
    let failure = fail!("{faults} in {}", app.show_path(session.path()));
    let others = paint::entries(report.entries);
    Err(failure.help(match (altered, lost) {
        (true, _) => {
            "what stands there now may not be what was said; compare it with a backup".to_owned()
        }
        (_, true) => format!(
            "the other {others} are intact; a copy without the damage: `longhaul session import`"
        ),
        _ => "nothing is lost; every entry can be read".to_owned(),
    }))
}

fn is_altered(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::Altered { .. })
}

fn print_report(app: &App, session: &Session, report: &Report) -> Result {
    say!("{} ({})", app.show_path(session.path()), session.format())?;
    let (entries, on_path) = (paint::number(report.entries), paint::number(report.on_path));
    row!(
        "Entries",
        "{entries} ({on_path} on the path, {})",
        paint::plural(report.tips, "branch end")
    )?;
    out::row("Context", paint::plural(report.context_messages, "message"))?;
    out::row("Compactions", report.compactions)?;
    let calls = paint::number(report.tool_calls);
    row!(
        "Tool calls",
        "{calls}, {}",
        paint::plural(report.tool_results, "result")
    )?;
    let marked = report.proven > 0 || report.faults.iter().any(is_altered);
    let proven = paint::plural(report.proven, "mark");
    let uncovered = paint::plural(report.uncovered, "line");
    match marked {
        true => row!(
            "Hashes",
            "{proven} as written; {uncovered} from the last one on not covered yet"
        )?,
        false => out::row("Hashes", "none; changed entries cannot be found here")?,
    }
    for fault in &report.faults {
        say!(
            "{} {}",
            style("✗").red(),
            paint::gist(&fault.to_string(), 400)
        )?;
    }
    if report.is_sound() {
        say!("{} sound", style("✓").green())?;
    }
    Ok(())
}

fn fork_at(app: &App, args: &ForkArgs) -> Result {
    let session = resolve::session(app, args.on.name())?;
    let at = match &args.entry {
        Some(name) => Some(resolve::entry(&session.tree()?, &session, name)?),
        None => None,
    };
    let new = app.new_session();
    let target = app.target(args.output.as_ref(), &new);
    let copied = fork(&session, at.as_ref(), &target, &new)?;
    let value = json!({
        "session": answer::session(app, &session),
        "output": answer::path(&target),
        "id": new.id,
        "entries": copied.entries,
    });
    let (entries, shown) = (paint::entries(copied.entries), app.show_path(&target));
    app.answer(&value, format!("{entries} forked to {shown}"))
}
