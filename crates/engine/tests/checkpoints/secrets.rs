//! Secrets stay out of state and checkpoints.

use longhaul_checkpoint::CheckpointStore;
use longhaul_engine::checkpoints::Checkpoints;
use longhaul_engine::live::Live;
use longhaul_transcript::Session;

use crate::place::{Place, manual};

#[test]
fn secrets_are_taken_out_of_state_and_checkpoint() {
    let place = Place::new();
    let (store, whose) = (place.store(), place.whose(&place.session()));
    let checkpoints = Checkpoints {
        store: &store,
        whose: &whose,
        redact: &|text| text.replace(|c: char| c.is_ascii_lowercase(), "*"),
    };
    let live = Live::open(&Session::open(&place.session()).unwrap()).unwrap();
    let occasion = manual();
    checkpoints
        .save_state(&live, &occasion, &mut |_| {})
        .unwrap();
    let state = store.state(&place.key()).unwrap().unwrap();
    assert!(!state.files.thread.topic.is_empty());
    assert!(
        !state
            .files
            .thread
            .topic
            .contains(|c: char| c.is_ascii_lowercase())
    );
    checkpoints.write(&live, &occasion, &mut |_| {}).unwrap();
    let checkpoint = store.latest(&place.key()).unwrap().checkpoint.unwrap();
    assert!(
        !checkpoint
            .working
            .topic
            .contains(|c: char| c.is_ascii_lowercase())
    );
}

#[test]
fn the_texts_of_a_checkpoint_are_redacted_together() {
    let place = Place::new();
    let (store, whose) = (place.store(), place.whose(&place.session()));
    let asked = std::cell::RefCell::new(Vec::new());
    let checkpoints = Checkpoints {
        store: &store,
        whose: &whose,
        redact: &|text| {
            asked.borrow_mut().push(text.to_owned());
            text.to_owned()
        },
    };
    let live = Live::open(&Session::open(&place.session()).unwrap()).unwrap();
    let occasion = manual();
    let redacted = checkpoints.draft(&live, &occasion).state();
    let asked = asked.take();
    let [whole] = asked.as_slice() else {
        panic!("asked {} times", asked.len());
    };
    // So one text can tell what another shows, and each stays in its place.
    let thread = &redacted.files.thread;
    assert!(!thread.topic.is_empty() && !thread.summary.is_empty());
    for text in [&thread.topic, &thread.summary] {
        assert!(whole.contains(text.as_str()), "{text}");
    }
    let parts: Vec<&str> = whole.split('\u{1e}').collect();
    assert!(parts.len() > 3, "{whole}");
}
