//! What dreaming says to programs. `docs/src/json.md` describes it.

use longhaul_memory::dream::{Candidate, Change, DiffLine, PageChange, diff};

use crate::prelude::*;

pub(super) fn candidate(one: &Candidate, all: &[Candidate], change: Value) -> Value {
    json!({
        "id": one.id,
        "topic": one.topic,
        "text": one.text,
        "wording": one.wording,
        "source": one.source,
        "confidence": one.confidence,
        "mentions": one.mentions(),
        "verdict": one.verdict,
        "days": one.days,
        "validFrom": one.valid_from,
        "replaces": one.replaces,
        "inPlaceOf": one.in_place_of(all).into_iter().map(replaced).collect::<Vec<_>>(),
        "contradicts": one.contradicts,
        "beside": beside(one, all),
        "backfilled": one.backfilled,
        "needsReview": !one.may_go_unseen(),
        "review": one.review,
        "evidence": one.evidence,
        "change": change,
    })
}

/// What may contradict it, with its days.
fn beside(one: &Candidate, all: &[Candidate]) -> Vec<Value> {
    let others = one.may_contradict().into_iter();
    let known = others.filter_map(|id| all.iter().find(|other| other.id == id));
    known
        .map(|other| {
            json!({
                "id": other.id,
                "text": other.wording(),
                "status": other.status.as_ref(),
                "validFrom": other.valid_from,
                "lastSaid": other.last_day(),
            })
        })
        .collect()
}

fn replaced(old: &Candidate) -> Value {
    json!({
        "id": old.id,
        "text": old.wording(),
        "validFrom": old.valid_from,
        "validUntil": old.valid_until(),
    })
}

/// What a promotion changes, as a patch of each file.
pub(super) fn planned(planned: &Change) -> Value {
    json!({
        "files": files(&planned.pages),
        "demotes": planned.demoted().collect::<Vec<_>>(),
    })
}

pub(super) fn files(pages: &[PageChange]) -> Vec<Value> {
    let each = pages.iter();
    each.map(|page| json!({ "file": page.file, "diff": patch(page) }))
        .collect()
}

fn patch(page: &PageChange) -> String {
    let (before, after) = page.shown();
    let mut out = String::new();
    for line in diff(&before, &after) {
        let (sign, text) = match line {
            DiffLine::Same(text) => (' ', text),
            DiffLine::Removed(text) => ('-', text),
            DiffLine::Added(text) => ('+', text),
            DiffLine::Gap => ('@', "@"),
        };
        out.push(sign);
        out.push_str(text.trim_end_matches('\n'));
        out.push('\n');
    }
    out
}
