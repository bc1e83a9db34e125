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
        let model = args
            .model
            .as_ref()
            .map(|model| format!(" of {}", paint::gist(model, 60)));
        let of = model.unwrap_or_default();
        return Err(nothing!("no window{of} was learnt from an error"));
    }
    for learnt in &windows {
        let server = learnt.endpoint.as_deref().unwrap_or("its server");
        let LearntWindow {
            provider,
            model,
            window,
            ..
        } = learnt;
        let forgotten = if args.forget { "forgotten: " } else { "" };
        say!("{forgotten}{provider}/{model} at {server}: {window} tokens")?;
    }
    Ok(())
}
