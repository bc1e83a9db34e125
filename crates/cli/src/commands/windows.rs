//! `context windows`: what servers said of their windows, by refusing a request.

use longhaul_engine::session::{LearntWindow, forget_windows, learnt_windows};

use crate::args::WindowsArgs;
use crate::prelude::*;

pub(super) fn windows(app: &App, args: &WindowsArgs) -> Result {
    let meant = |learnt: &LearntWindow| {
        args.model.as_deref().is_none_or(|model| {
            model == learnt.model || model == format!("{}/{}", learnt.provider, learnt.model)
        })
    };
    let windows: Vec<LearntWindow> = match args.forget {
        true => forget_windows(&app.state_dir, &meant)?,
        false => learnt_windows(&app.state_dir)
            .into_iter()
            .filter(meant)
            .collect(),
    };
    if app.json {
        return out::json(&json!({ "windows": windows, "forgotten": args.forget }));
    }
    if windows.is_empty() {
        let of = match &args.model {
            Some(model) => format!(" of {}", paint::gist(model, 60)),
            None => String::new(),
        };
        return Err(nothing!("no window{of} was learnt from an error"));
    }
    for learnt in &windows {
        let server = learnt.endpoint.as_deref().unwrap_or("its server");
        say!(
            "{}{}/{} at {server}: {} tokens",
            if args.forget { "forgotten: " } else { "" },
            &learnt.provider,
            &learnt.model,
            learnt.window
        )?;
    }
    Ok(())
}
