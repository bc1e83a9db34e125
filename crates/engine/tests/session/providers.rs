//! The same session in each provider's format.

use longhaul_model::{ModelSpec, Protocol, Provider, Request, Role};

use crate::read::read;
use crate::support::{Purpose, Rig, Said, Scripted, once, plainly, prose, purpose, sound};

fn reads_first(request: &Request) -> Said {
    match (purpose(request), request.messages.last().unwrap().role) {
        (Purpose::Turn, Role::User) => Said::call("read", r#"{"path":"src/lib.rs"}"#),
        _ => plainly(request),
    }
}

fn speaking(protocol: Protocol) -> std::sync::Arc<Scripted> {
    let mut spec = ModelSpec::new(Provider::Compatible, "scripted").speaking(protocol);
    spec.known.window = Some(12_000);
    Scripted::connected(spec, once(), reads_first)
}

#[test]
fn a_session_is_carried_through_compactions_in_every_format() {
    for protocol in Protocol::ALL {
        let model = speaking(protocol);
        let (asked, writes) = (model.clone(), model.clone());
        let mut rig = Rig::new(12_000, |_| {}, plainly);
        rig.restart_with(move |setup| {
            setup.model = Some(asked.clone());
            setup.summaries = Some(writes.clone());
        });
        for at in 0..16 {
            assert_eq!(
                rig.say(&prose(at, 300)).unwrap().text,
                "Understood.",
                "{protocol:?}"
            );
        }
        assert!(rig.compactions() >= 1, "{protocol:?}");
        sound(&rig.session);
        for body in model.wire() {
            assert_eq!(
                read(protocol, &body).wrong,
                Vec::<String>::new(),
                "{protocol:?}"
            );
        }
    }
}

#[test]
fn a_session_goes_from_one_format_to_the_next() {
    let mut rig = Rig::new(12_000, |_| {}, plainly);
    for (turn, protocol) in Protocol::ALL.into_iter().cycle().take(6).enumerate() {
        let model = speaking(protocol);
        let asked = model.clone();
        rig.restart_with(move |setup| setup.model = Some(asked.clone()));
        rig.say(&format!("Message number {turn}.")).unwrap();
        let body = model.wire().pop().unwrap();
        let wire = read(protocol, &body);
        assert_eq!(wire.wrong, Vec::<String>::new(), "{protocol:?}");
        for earlier in 0..turn {
            let said = format!("Message number {earlier}.");
            assert!(wire.text.contains(&said), "{protocol:?}: {said}");
        }
    }
}
