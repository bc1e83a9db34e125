use std::time::Duration;

use longhaul_model::{
    CancellationToken, Delta, Error, Limits, ModelSpec, Phase, Request, Stop, Usage, connect,
};
use longhaul_testkit::loopback::{Ending, Fault, Loopback, Reply, Said};
use serde_json::json;

use crate::{SPECS, ask, ask_until, hello, limits, model_with, serve};

/// One attempt only.
fn once() -> Limits {
    Limits {
        attempts: 1,
        ..limits()
    }
}

async fn failing(spec: &str, fault: Fault) -> Error {
    let server = serve(move |request| fault.reply(request));
    let outcome = ask(&*model_with(spec, &server, once()), &hello()).await;
    let failure = outcome.failure();
    assert_eq!((failure.attempts, &failure.partial), (1, &None), "{spec}");
    assert!(!failure.error.remedy().is_empty());
    failure.error.clone()
}

#[tokio::test]
async fn an_overflow_is_known_for_one_with_its_numbers() {
    for spec in SPECS {
        let error = failing(
            spec,
            Fault::Overflow {
                limit: 200_000,
                requested: 213_462,
            },
        )
        .await;
        assert!(
            matches!(
                error,
                Error::Overflow {
                    limit: Some(200_000),
                    requested: Some(213_462),
                    ..
                }
            ),
            "{spec}: {error:?}"
        );
    }
}

#[tokio::test]
async fn every_other_fault_has_its_error() {
    for spec in SPECS {
        let unauthorized = failing(spec, Fault::Unauthorized).await;
        assert!(
            matches!(
                &unauthorized,
                Error::Unauthorized {
                    status: 401,
                    variable: Some(_),
                    ..
                }
            ),
            "{spec}"
        );
        assert!(
            unauthorized.remedy().contains("_API_KEY"),
            "{}",
            unauthorized.remedy()
        );
        let name = ModelSpec::parse(spec).unwrap().name;
        let unknown = failing(spec, Fault::UnknownModel).await;
        assert!(
            matches!(&unknown, Error::UnknownModel { model, .. } if *model == name),
            "{unknown:?}"
        );
        let rate = failing(
            spec,
            Fault::RateLimited {
                retry_after: Some("17".into()),
            },
        )
        .await;
        assert_eq!(rate.retry_after(), Some(Duration::from_secs(17)), "{spec}");
        assert_eq!(rate.remedy(), "try again in 17 s");
        let quota = failing(spec, Fault::Quota).await;
        assert!(matches!(quota, Error::Quota { .. }), "{spec}: {quota:?}");
        for fault in [Fault::Overloaded, Fault::Internal] {
            let error = failing(spec, fault).await;
            assert!(
                matches!(error, Error::Overloaded { .. }),
                "{spec}: {error:?}"
            );
        }
        let page = failing(spec, Fault::Html).await;
        assert!(
            matches!(&page, Error::NotAnApi { excerpt, .. } if excerpt.contains("Sign in to the network")),
            "{spec}: {page:?}"
        );
    }
}

#[tokio::test]
async fn an_error_inside_a_stream_keeps_what_had_arrived() {
    let cases = [
        (
            "anthropic/claude-sonnet-4-5",
            "content_block_stop",
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
        ),
        (
            "openai/gpt-5.1",
            "response.output_item.done",
            "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"r\",\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"The model is overloaded\"},\"usage\":null}}\n\n",
        ),
        (
            "openrouter/x/y",
            "\"finish_reason\":\"stop\"",
            "data: {\"id\":\"gen\",\"error\":{\"code\":502,\"message\":\"Provider disconnected\"},\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]}\n\n",
        ),
        (
            "vllm/qwen3",
            "\"finish_reason\":\"stop\"",
            "data: {\"error\":{\"message\":\"engine overloaded\",\"type\":\"internal_server_error\",\"code\":500}}\n\n",
        ),
    ];
    for (spec, before, error) in cases {
        let server = serve(move |request| {
            let text = String::from_utf8(Said::text("half an").reply(request).bytes()).unwrap();
            // The events before the one named, then the error.
            let at = text.find(before).unwrap();
            let at = text[..at].rfind("\n\n").unwrap() + 2;
            Reply::events(format!("{}{error}", &text[..at]))
        });
        let outcome = ask(&*model_with(spec, &server, limits()), &hello()).await;
        let failure = outcome.failure();
        assert!(
            matches!(failure.error, Error::Overloaded { .. }),
            "{spec}: {:?}",
            failure.error
        );
        // Something had been said, so that it is not asked again.
        assert_eq!(failure.attempts, 1, "{spec}");
        assert_eq!(
            failure.partial.as_ref().unwrap().text(),
            "half an",
            "{spec}"
        );
    }
}

#[tokio::test]
async fn an_overflow_inside_a_stream_is_one() {
    let server = serve(|_| {
        Reply::events(
            "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"r\",\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Your input exceeds the context window of this model. Please adjust your input and try again.\"}}}\n\n",
        )
    });
    let outcome = ask(&*model_with("openai/gpt-5.1", &server, limits()), &hello()).await;
    assert!(matches!(outcome.failure().error, Error::Overflow { .. }));
    assert_eq!(outcome.failure().attempts, 1);
}

#[tokio::test]
async fn a_window_that_is_full_at_once_is_an_overflow_and_later_a_length() {
    for spec in ["anthropic/claude-sonnet-4-5", "openai+chat/gpt-4.1"] {
        let full = Stop::Other("model_context_window_exceeded".into());
        let server = serve(move |request| {
            let said = if request.number == 0 {
                Said::new(vec![])
            } else {
                Said::text("as far as")
            };
            said.stop(full.clone()).reply(request)
        });
        let model = model_with(spec, &server, limits());
        let outcome = ask(&*model, &hello()).await;
        assert!(
            matches!(outcome.failure().error, Error::Overflow { .. }),
            "{spec}"
        );
        assert_eq!(
            ask(&*model, &hello()).await.answer().stop,
            Stop::Length,
            "{spec}"
        );
    }
}

#[tokio::test]
async fn an_answer_cut_short_is_interrupted_and_kept() {
    for spec in SPECS {
        for ending in [Ending::Cut, Ending::Proper] {
            let server = serve(move |request| {
                let stop = match request.protocol().unwrap().name() {
                    "messages" => "content_block_stop",
                    "chat" => "\"finish_reason\":\"stop\"",
                    _ => "response.output_item.done",
                };
                let text = String::from_utf8(Said::text("half an").reply(request).bytes()).unwrap();
                let at = text.find(stop).unwrap();
                Reply::events(text[..text[..at].rfind("\n\n").unwrap() + 2].to_owned())
                    .ending(ending)
            });
            let outcome = ask(&*model_with(spec, &server, limits()), &hello()).await;
            let failure = outcome.failure();
            assert!(
                matches!(failure.error, Error::Interrupted { .. }),
                "{spec}: {:?}",
                failure.error
            );
            let partial = failure.partial.as_ref().unwrap();
            assert_eq!(partial.text(), "half an", "{spec}");
            assert_eq!(failure.attempts, 1, "{spec}");
        }
    }
}

#[tokio::test]
async fn usage_that_came_before_the_cut_is_kept() {
    let usage = Usage {
        input: 10,
        output: 1,
        cache_read: 20,
        cache_write: 30,
    };
    let server = serve(move |request| {
        Said::text("half an")
            .usage(Some(usage))
            .reply(request)
            .only_to("hal", Ending::Cut)
    });
    let outcome = ask(
        &*model_with("anthropic/claude-sonnet-4-5", &server, once()),
        &hello(),
    )
    .await;
    assert_eq!(
        outcome.failure().partial.as_ref().unwrap().usage,
        Some(usage)
    );
}

#[tokio::test]
async fn a_body_that_stops_coming_is_given_up() {
    for spec in SPECS {
        let server = serve(|request| {
            Said::text("half an")
                .reply(request)
                .only_to("hal", Ending::Hang)
        });
        let limits = Limits {
            idle: Duration::from_millis(80),
            ..limits()
        };
        let outcome = ask(&*model_with(spec, &server, limits), &hello()).await;
        let error = &outcome.failure().error;
        assert!(
            matches!(
                error,
                Error::Timeout {
                    phase: Phase::Idle,
                    ..
                }
            ),
            "{spec}: {error:?}"
        );
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    for spec in SPECS {
        let server = serve(|_| Reply::silence());
        let limits = Limits {
            first_byte: Duration::from_millis(60),
            attempts: 2,
            ..limits()
        };
        let outcome = ask(&*model_with(spec, &server, limits), &hello()).await;
        let failure = outcome.failure();
        assert!(
            matches!(
                failure.error,
                Error::Timeout {
                    phase: Phase::FirstByte,
                    ..
                }
            ),
            "{spec}: {:?}",
            failure.error
        );
        assert_eq!(failure.attempts, 2, "{spec}");
    }
}

#[tokio::test]
async fn headers_without_a_body_are_given_up_too() {
    let server = serve(|_| Reply::events("").ending(Ending::Hang));
    let limits = Limits {
        first_byte: Duration::from_millis(60),
        attempts: 1,
        ..limits()
    };
    let outcome = ask(&*model_with("openai/gpt-5.1", &server, limits), &hello()).await;
    let error = &outcome.failure().error;
    assert!(
        matches!(
            error,
            Error::Timeout {
                phase: Phase::FirstByte,
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn an_answer_that_drips_for_ever_meets_the_limit_of_the_request_and_of_all() {
    for (phase, request, total) in [(Phase::Request, 150, 60_000), (Phase::Total, 60_000, 150)] {
        let server = serve(|request| {
            Said::text("x".repeat(4_000))
                .reply(request)
                .in_pieces_of(8)
                .slowly(Duration::from_millis(20))
        });
        let limits = Limits {
            request: Duration::from_millis(request),
            total: Duration::from_millis(total),
            attempts: 1,
            ..limits()
        };
        let outcome = ask(
            &*model_with("openai+chat/gpt-4.1", &server, limits),
            &hello(),
        )
        .await;
        let error = &outcome.failure().error;
        assert!(
            matches!(error, Error::Timeout { phase: own, .. } if *own == phase),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn a_cancellation_takes_effect_between_two_pieces_and_keeps_them() {
    for spec in SPECS {
        let server = serve(|request| {
            Said::text("half an")
                .reply(request)
                .only_to("hal", Ending::Hang)
        });
        // Everything is said at once or in halves; cancel on the first words.
        let server_whole = serve(|request| Said::text("half an").reply(request));
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let model = model_with(spec, &server_whole, limits());
        let outcome = ask_until(&*model, &hello(), &cancel, move |delta| {
            if matches!(delta, Delta::Text(_)) {
                stop.cancel();
            }
        })
        .await;
        let failure = outcome.failure();
        assert_eq!(failure.error, Error::Cancelled, "{spec}");
        assert_eq!(outcome.text(), "hal", "{spec}");
        assert_eq!(failure.partial.as_ref().unwrap().text(), "hal", "{spec}");

        // And while nothing arrives at all.
        let cancel = CancellationToken::new();
        let model = model_with(spec, &server, limits());
        let later = cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(30)).await;
            later.cancel();
        });
        let outcome = ask_until(&*model, &hello(), &cancel, |_| {}).await;
        assert_eq!(outcome.failure().error, Error::Cancelled, "{spec}");
    }
}

#[tokio::test]
async fn what_was_cancelled_before_is_never_sent() {
    let server = serve(|request| Said::text("no").reply(request));
    let cancel = CancellationToken::new();
    cancel.cancel();
    let model = model_with("openai/gpt-5.1", &server, limits());
    let outcome = ask_until(&*model, &hello(), &cancel, |_| {}).await;
    assert_eq!(
        (&outcome.failure().error, outcome.failure().attempts),
        (&Error::Cancelled, 0)
    );
    assert_eq!(server.requests(), []);
}

#[tokio::test]
async fn answers_that_are_none_have_a_defined_end() {
    let cases = [
        (Reply::events("data: {\"choices\": [{\n\n"), "bad answer"),
        (Reply::events("hello there\n\n"), "bad answer"),
        (Reply::json(200, &json!({"hello": "there"})), "bad answer"),
        (
            Reply::new(200, "application/json", "{\"choices\": [{\"mess"),
            "bad answer",
        ),
        (
            Reply::new(200, "text/plain", "<!doctype html><title>x</title>"),
            "not an api",
        ),
        (
            Reply::new(404, "text/plain", "404 page not found"),
            "not an api",
        ),
        (
            Reply::new(302, "text/plain", "").header("location", "https://elsewhere"),
            "not an api",
        ),
        (Reply::events(""), "interrupted"),
        (Reply::events("data: [DONE]\n\n"), "interrupted"),
        (Reply::events(": nothing but comments\n\n"), "bad answer"),
        (
            Reply::json(
                200,
                &json!({"error": {"message": "model overloaded", "code": 503}}),
            ),
            "overloaded",
        ),
        (Reply::events(vec![0xff; 4_000]), "bad answer"),
    ];
    for (reply, expected) in cases {
        let own = reply.clone();
        let server = serve(move |_| own.clone());
        let outcome = ask(
            &*model_with("openai+chat/gpt-4.1", &server, once()),
            &hello(),
        )
        .await;
        let kind = match &outcome.failure().error {
            Error::BadAnswer { .. } => "bad answer",
            Error::NotAnApi { .. } => "not an api",
            Error::Interrupted { .. } => "interrupted",
            Error::Overloaded { .. } => "overloaded",
            other => panic!("{other:?}"),
        };
        assert_eq!(kind, expected, "{reply:?}");
    }
}

#[tokio::test]
async fn a_provider_that_is_not_there_is_said_to_be_unreachable() {
    let address = {
        let server = Loopback::queue([]).unwrap();
        server.url()
    };
    let spec = ModelSpec::parse("ollama/llama3.1")
        .unwrap()
        .at(address.clone());
    let model = connect(&spec, &|_| None, limits()).unwrap();
    let outcome = ask(&*model, &hello()).await;
    let failure = outcome.failure();
    assert!(
        matches!(&failure.error, Error::Network { url, .. } if url.starts_with(&address)),
        "{failure:?}"
    );
    assert_eq!(failure.attempts, 3);
}

#[tokio::test]
async fn a_request_that_says_nothing_is_not_sent() {
    for spec in SPECS {
        let server = serve(|request| Said::text("no").reply(request));
        let outcome = ask(&*model_with(spec, &server, limits()), &Request::default()).await;
        let failure = outcome.failure();
        assert!(
            matches!(failure.error, Error::BadRequest { status: 0, .. }),
            "{spec}"
        );
        assert_eq!(
            (failure.attempts, server.requests().len()),
            (0, 0),
            "{spec}"
        );
    }
}
