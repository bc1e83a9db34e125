//! The replay report as one self-contained page.

use std::fmt::Write;

use longhaul_engine::replay::{Point, ReplayReport};
use longhaul_tokens::Window;

use crate::prelude::*;

const STYLE: &str = include_str!("replay_page.css");
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 320.0;

pub(super) fn render(report: &ReplayReport, window: &Window) -> String {
    let mut page = String::new();
    let title = format!("longhaul replay of {}", report.session);
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{0}</title><style>{STYLE}</style></head><body><main>\
         <h1>{0}</h1><p class=\"dim\">{1} session, {2} entries, window {3}</p>",
        escape(&title),
        escape(report.agent),
        paint::number(report.totals.entries as u64),
        report.window,
    );
    picture(&mut page, report, window);
    figures(&mut page, report);
    compactions(&mut page, report);
    page.push_str("</main></body></html>\n");
    page
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn picture(page: &mut String, report: &ReplayReport, window: &Window) {
    let last = report.timeline.last().map_or(1, |point| point.at).max(1) as f64;
    let top = f64::from(window.size().0) * 1.1;
    let x = |at: usize| at as f64 / last * WIDTH;
    let y = |tokens: f64| HEIGHT - (tokens / top * HEIGHT).min(HEIGHT);
    let _ = write!(
        page,
        "<figure><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"Tokens in the context over the session\">"
    );
    for (name, at) in [
        ("window", window.size()),
        ("hard", window.hard()),
        ("checkpoint", window.checkpoint()),
    ] {
        let height = y(f64::from(at.0));
        let _ = write!(
            page,
            "<line class=\"mark\" x1=\"0\" x2=\"{WIDTH}\" y1=\"{height:.1}\" y2=\"{height:.1}\"/>\
             <text class=\"mark\" x=\"4\" y=\"{:.1}\">{name} {}</text>",
            height - 4.0,
            at.short()
        );
    }
    for row in &report.compactions {
        let at = x(row.at);
        let _ = write!(
            page,
            "<line class=\"cut\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"0\" y2=\"{HEIGHT}\"/>"
        );
    }
    let line = |class: &str, value: &dyn Fn(&Point) -> Option<f64>| {
        let points: Vec<String> = report
            .timeline
            .iter()
            .filter_map(|point| Some(format!("{:.1},{:.1}", x(point.at), y(value(point)?))))
            .collect();
        format!(
            "<polyline class=\"{class}\" points=\"{}\"/>",
            points.join(" ")
        )
    };
    page.push_str(&line("nothing", &|point| {
        Some(f64::from(point.unmanaged.0))
    }));
    page.push_str(&line("recorded", &|point| point.recorded.map(|n| n as f64)));
    page.push_str(&line("ours", &|point| Some(f64::from(point.longhaul.0))));
    page.push_str(
        "</svg><figcaption><span class=\"ours\">with longhaul</span> \
         <span class=\"recorded\">as recorded</span> \
         <span class=\"nothing\">nothing removed</span> \
         <span class=\"cut\">compaction</span></figcaption></figure>",
    );
}

fn figures(page: &mut String, report: &ReplayReport) {
    let totals = &report.totals;
    let cost = |cost: f64| paint::number(cost.round() as u64);
    let mut rows = vec![
        ("Requests", paint::number(totals.requests)),
        ("Largest context", totals.largest_context.to_string()),
        ("Lost for good", totals.nowhere.to_string()),
        ("Input bill with longhaul", cost(totals.cost_longhaul)),
        (
            "Input bill, old tool output masked",
            cost(totals.cost_masking),
        ),
        ("Input bill, nothing removed", cost(totals.cost_nothing)),
    ];
    if let Some(native) = totals.cost_native {
        rows.insert(4, ("Input bill as recorded", cost(native)));
    }
    page.push_str("<h2>In figures</h2><table>");
    for (name, value) in rows {
        let _ = write!(page, "<tr><th>{name}</th><td>{}</td></tr>", escape(&value));
    }
    page.push_str(
        "</table><p class=\"dim\">Bills are in tokens of fresh input: cache reads count 0.1, \
         writes 1.25, the cache lives five minutes.</p>",
    );
}

fn compactions(page: &mut String, report: &ReplayReport) {
    if report.compactions.is_empty() {
        page.push_str("<p>No compaction was needed.</p>");
        return;
    }
    page.push_str(
        "<h2>Compactions</h2><table><tr><th>#</th><th>Layer</th><th>Before</th><th>After</th>\
         <th>Out</th><th>ms</th><th>Fidelity</th></tr>",
    );
    for row in &report.compactions {
        let event = &row.event;
        let _ = write!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.1}</td><td>{}</td></tr>",
            event.epoch,
            event.layer,
            event.tokens_before,
            event.tokens_after,
            paint::number(event.messages_compacted as u64),
            event.milliseconds,
            escape(&event.fidelity.to_string())
        );
    }
    page.push_str("</table>");
}
