use std::time::Duration;

use longhaul_model::{CancellationToken, Delta, Error, Limits};
use longhaul_testkit::loopback::{Ending, Fault, Reply, Said};
use serde_json::json;

use crate::{SPECS, ask, ask_until, hello, limits, model_with, serve};

#[tokio::test]
async fn what_passes_is_tried_again_and_said() {
    for spec in SPECS {
        let server = serve(|request| match request.number {
            0 => Fault::Overloaded.reply(request),
            1 => Fault::RateLimited {
                retry_after: Some("0.01".into()),
            }
            .reply(request),
            _ => Said::text("at last").reply(request),
        });
        let outcome = ask(&*model_with(spec, &server, limits()), &hello()).await;
        assert_eq!(outcome.answer().text(), "at last", "{spec}");
        let attempts: Vec<u32> = outcome
            .deltas
            .iter()
            .filter_map(|delta| match delta {
                Delta::Retrying { attempt, .. } => Some(*attempt),
                _ => None,
            })
            .collect();
        assert_eq!(attempts, [2, 3], "{spec}");
        let bodies: Vec<_> = server
            .requests()
            .into_iter()
            .map(|request| request.body)
            .collect();
        assert!(bodies.iter().all(|body| *body == bodies[0]), "{spec}");
    }
}

#[tokio::test]
async fn a_connection_that_breaks_before_a_word_is_tried_again() {
    for spec in SPECS {
        let server = serve(|request| match request.number {
            0 => Reply::events("").ending(Ending::Cut),
            _ => Said::text("second").reply(request),
        });
        let outcome = ask(&*model_with(spec, &server, limits()), &hello()).await;
        assert_eq!(outcome.answer().text(), "second", "{spec}");
    }
}

#[tokio::test]
async fn the_wait_that_a_provider_asks_for_is_kept() {
    for header in ["retry-after", "retry-after-ms"] {
        let server = serve(move |request| match request.number {
            0 => Fault::Overloaded.reply(request).header(
                header,
                if header == "retry-after" {
                    "0.2"
                } else {
                    "200"
                },
            ),
            _ => Said::text("later").reply(request),
        });
        let outcome = ask(&*model_with("openai/gpt-5.1", &server, limits()), &hello()).await;
        let Some(Delta::Retrying { after, reason, .. }) = outcome.deltas.first() else {
            panic!("{:?}", outcome.deltas)
        };
        assert!(
            *after >= Duration::from_millis(200) && *after < Duration::from_millis(210),
            "{after:?}"
        );
        assert!(reason.contains("overloaded"), "{reason}");
        assert_eq!(outcome.answer().text(), "later");
    }
}

#[tokio::test]
async fn a_wait_longer_than_all_the_time_there_is_fails_at_once() {
    for spec in SPECS {
        let server = serve(|request| {
            Fault::RateLimited {
                retry_after: Some("3600".into()),
            }
            .reply(request)
        });
        let outcome = ask(&*model_with(spec, &server, limits()), &hello()).await;
        let failure = outcome.failure();
        assert_eq!(failure.attempts, 1, "{spec}");
        assert_eq!(
            failure.error.retry_after(),
            Some(Duration::from_secs(3600)),
            "{spec}"
        );
        assert_eq!(failure.error.remedy(), "try again in 3600 s", "{spec}");
    }
}

#[tokio::test]
async fn attempts_come_to_an_end() {
    let server = serve(|request| Fault::Internal.reply(request));
    let outcome = ask(
        &*model_with("anthropic/claude-sonnet-4-5", &server, limits()),
        &hello(),
    )
    .await;
    assert_eq!(outcome.failure().attempts, 3);
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn what_will_not_pass_is_not_tried_again() {
    let faults = [
        Fault::Unauthorized,
        Fault::UnknownModel,
        Fault::Quota,
        Fault::Html,
        Fault::Overflow {
            limit: 1,
            requested: 2,
        },
    ];
    for fault in faults {
        let own = fault.clone();
        let server = serve(move |request| own.reply(request));
        let outcome = ask(
            &*model_with("openai+chat/gpt-4.1", &server, limits()),
            &hello(),
        )
        .await;
        assert_eq!(outcome.failure().attempts, 1, "{fault:?}");
    }
    let server = serve(|_| {
        Reply::json(
            413,
            &json!({"error": {"message": "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 10327", "type": "tokens", "code": "rate_limit_exceeded"}}),
        )
    });
    let outcome = ask(&*model_with("groq/x", &server, limits()), &hello()).await;
    assert!(matches!(outcome.failure().error, Error::RateLimited { .. }));
    assert_eq!(outcome.failure().attempts, 1);
}

#[tokio::test]
async fn a_providers_own_word_on_retrying_is_taken() {
    for (word, attempts) in [("false", 1), ("true", 3)] {
        let server = serve(move |request| {
            Fault::Internal
                .reply(request)
                .header("x-should-retry", word)
        });
        let outcome = ask(&*model_with("openai/gpt-5.1", &server, limits()), &hello()).await;
        assert_eq!(outcome.failure().attempts, attempts);
    }
}

#[tokio::test]
async fn the_wait_can_be_cancelled() {
    let server = serve(|request| {
        Fault::RateLimited {
            retry_after: Some("30".into()),
        }
        .reply(request)
    });
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let limits = Limits {
        total: Duration::from_secs(600),
        ..limits()
    };
    let model = model_with("anthropic/claude-sonnet-4-5", &server, limits);
    let outcome = ask_until(&*model, &hello(), &cancel, move |_| stop.cancel()).await;
    assert_eq!(outcome.failure().error, Error::Cancelled);
    assert_eq!(server.requests().len(), 1);
}
