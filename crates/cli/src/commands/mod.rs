//! The commands, one file each group.

pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod doctor;
pub(crate) mod list;
pub(crate) mod sample;
pub(crate) mod session;

use longhaul_transcript::Fault;

use crate::app::App;

/// Says what was wrong with a file that could still be read.
pub(crate) fn report_faults(app: &App, faults: &[Fault]) {
    const SHOWN: usize = 3;
    for fault in faults.iter().take(SHOWN) {
        app.note(&format!("note: {fault}"));
    }
    if faults.len() > SHOWN {
        app.note(&format!(
            "note: {} more; `longhaul session verify` lists them all",
            faults.len() - SHOWN
        ));
    }
}

/// Prints JSON for programs.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), crate::failure::Failure> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}
