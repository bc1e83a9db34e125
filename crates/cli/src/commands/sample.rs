//! `sample`: a session of our own making, for trying things out.

use longhaul_engine::sample;

use crate::args::SampleArgs;
use crate::prelude::*;

pub(crate) fn run(app: &App, args: &SampleArgs) -> Result {
    super::refuse_existing(&args.output)?;
    let (header, entries) = sample::session(args.turns, args.compact_at);
    longhaul_transcript::write_path(&args.output, &header, &entries)?;
    let bytes = std::fs::metadata(&args.output)?.len();
    if app.json {
        return out::json(&json!({
            "output": answer::path(&args.output),
            "bytes": bytes,
            "lines": entries.len() + 1,
        }));
    }
    say!(
        "{} written to {}",
        paint::bytes(bytes),
        args.output.display()
    )?;
    note!(
        "look at it with `longhaul context status {}`",
        args.output.display()
    );
    Ok(())
}
