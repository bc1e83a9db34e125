//! The report of a replay: the timeline page in one file, with nothing beside it.

use std::collections::BTreeMap;

use longhaul_engine::replay::{Point, ReplayReport};
use longhaul_engine::standing::About;
use longhaul_engine::timeline::Timeline;
use longhaul_tokens::Window;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::text::{number, said};
use super::timeline::place;
use crate::dashboard::assets::{CHART, CHART_STYLE, STYLE, TIMELINE};
use crate::dashboard::views::{Stretch, TimelineView};

/// Nothing is loaded from anywhere, whatever the session says.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";
/// More columns than a picture can show.
const COLUMNS: usize = 2_000;

/// The page: what the engine made of a recorded session, whose timeline `played` is.
pub fn replay_report(
    report: &ReplayReport,
    session: About,
    played: &Timeline,
    window: &Window,
) -> String {
    let view = drawn(report, session, played, window);
    // No text may end the script that it stands in.
    let data = serde_json::to_string(&view).unwrap_or_default();
    let data = data.replace('<', "\\u003c");
    let title = format!("longhaul replay of {}", report.session);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="content-security-policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (said(&title)) }
                style { (PreEscaped(CHART_STYLE)) (PreEscaped(STYLE)) }
            }
            body { main {
                h1 { (said(&title)) }
                p.dim { (report.agent) " session, " (number(report.totals.entries as u64)) " entries, window " (report.window) }
                section.card.chart-card {
                    div.chart-head { h2 { "What filled each request" } p.dim.hint { "Point to see a request, drag to zoom, double-click to see all." } }
                    (place(None))
                }
                (figures(report))
                (compactions(report))
                script type="application/json" #timeline-data { (PreEscaped(data)) }
                script { (PreEscaped(CHART)) }
                script { (PreEscaped(TIMELINE)) }
            } }
        }
    };
    page.into_string()
}

/// The timeline of what was played. What the provider reported was of other contexts
/// and is drawn beside it; what a request has besides messages is as the replay
/// learnt it.
fn drawn(
    report: &ReplayReport,
    session: About,
    played: &Timeline,
    window: &Window,
) -> TimelineView {
    let columns = Some(COLUMNS);
    let wanted = Stretch {
        columns,
        ..Stretch::default()
    };
    let mut view = TimelineView::drawn(session, played, window, wanted);
    let point = |at: &usize| {
        report
            .timeline
            .get(at * report.timeline.len() / view.requests.max(1))
    };
    let line = |value: &dyn Fn(&Point) -> Option<u32>| -> Vec<Option<u32>> {
        let points = view.at.iter().map(point);
        points.map(|point| point.and_then(value)).collect()
    };
    let recorded = line(&|point| u32::try_from(point.recorded?).ok());
    let nothing = line(&|point| Some(point.unmanaged.0));
    view.beside = BTreeMap::from([("as recorded", recorded), ("nothing removed", nothing)]);
    view.unrecorded.fill(Some(report.totals.overhead.0));
    view.dollars.fill(None);
    view.cost = report.totals.dollars_longhaul.unwrap_or_default();
    view.unpriced = 0;
    view
}

fn figures(report: &ReplayReport) -> Markup {
    let totals = &report.totals;
    let bill = |cost: f64| number(cost.round() as u64);
    let mut rows = vec![
        ("Requests", number(totals.requests)),
        ("Largest context", totals.largest_context.to_string()),
        ("Lost for good", totals.nowhere.to_string()),
        ("Input bill with longhaul", bill(totals.cost_longhaul)),
        (
            "Input bill, old tool output masked",
            bill(totals.cost_masking),
        ),
        ("Input bill, nothing removed", bill(totals.cost_nothing)),
    ];
    if let Some(native) = totals.cost_native {
        rows.insert(4, ("Input bill as recorded", bill(native)));
    }
    html! {
        section.card {
            h2 { "In figures" }
            table.parts { tbody { @for (name, value) in rows { tr { th scope="row" { (name) } td.number { (value) } } } } }
            p.dim { "Bills are in tokens of fresh input: cache reads count 0.1, writes 1.25, the cache lives five minutes." }
        }
    }
}

fn compactions(report: &ReplayReport) -> Markup {
    html! {
        section.card {
            h2 { "Compactions" }
            @if report.compactions.is_empty() { p { "No compaction was needed." } } @else {
                table.list {
                    thead { tr { th.number { "#" } th { "Layer" } th.number { "Before" } th.number { "After" } th.number { "Out" } th.number { "ms" } th { "Fidelity" } } }
                    tbody { @for row in &report.compactions {
                        tr {
                            td.number { (row.event.epoch) } td { (row.event.layer) }
                            td.number { (row.event.tokens_before) } td.number { (row.event.tokens_after) }
                            td.number { (number(row.event.messages_compacted as u64)) }
                            td.number { (format!("{:.1}", row.event.milliseconds)) }
                            td.dim { (row.event.fidelity) }
                        }
                    } }
                }
            }
        }
    }
}
