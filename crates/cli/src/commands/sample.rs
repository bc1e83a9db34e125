//! `sample`: a session of our own making, for trying things out.

use longhaul_transcript::sample::{Compactions, Plan, Size, generate};
use serde_json::json;

use super::answer;
use crate::app::App;
use crate::args::SampleArgs;
use crate::failure::Failure;
use crate::out;
use crate::paint;

pub(crate) fn run(app: &App, args: &SampleArgs) -> Result<(), Failure> {
    super::refuse_existing(&args.output)?;
    let plan = Plan {
        seed: args.seed,
        size: match args.bytes {
            Some(bytes) => Size::AtLeastBytes(bytes),
            None => Size::Turns(args.turns),
        },
        compactions: match args.compact_at {
            Some(tokens) => Compactions::Every(tokens),
            None => Compactions::None,
        },
        ..Plan::default()
    };
    let mut truth = None;
    longhaul_files::create_whole(&args.output, &mut |out| {
        truth = Some(generate(&plan, out)?);
        Ok(())
    })?;
    if let (Some(path), Some(truth)) = (&args.truth, &truth) {
        let text = serde_json::to_string_pretty(truth)?;
        longhaul_files::replace(path, text.as_bytes())?;
    }
    let bytes = std::fs::metadata(&args.output)?.len();
    if app.json {
        return out::json(&json!({
            "output": answer::path(&args.output),
            "bytes": bytes,
            "lines": truth.as_ref().map(|truth| truth.lines),
            "seed": args.seed,
        }));
    }
    say!(
        "{} written to {}",
        paint::bytes(bytes),
        args.output.display()
    )?;
    app.note(&format!(
        "look at it with `longhaul context status {}`",
        args.output.display()
    ));
    Ok(())
}
