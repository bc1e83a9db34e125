use longhaul_model::{Content, Delta, Stop, ToolCall, Usage};
use longhaul_testkit::loopback::{Piece, Reply, Said};

use crate::{SPECS, ask, hello, limits, model_with, serve};

fn call(id: &str, arguments: &str) -> Content {
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments: arguments.into(),
    })
}

#[tokio::test]
async fn a_plain_answer_arrives_whole_with_its_usage() {
    let usage = Usage {
        input: 11,
        output: 7,
        cache_read: 1_000,
        cache_write: 300,
    };
    for spec in SPECS {
        let server =
            serve(move |request| Said::text("Grüße, 水 🦀").usage(Some(usage)).reply(request));
        let model = model_with(spec, &server, limits());
        let outcome = ask(&*model, &hello()).await;
        let answer = outcome.answer();
        assert_eq!(answer.content, [Content::text("Grüße, 水 🦀")], "{spec}");
        assert_eq!(answer.stop, Stop::End, "{spec}");
        assert_eq!(answer.usage, Some(usage), "{spec}");
        assert_eq!(answer.model, model.info().name, "{spec}");
        assert!(answer.id.is_some(), "{spec}");
        assert_eq!(outcome.text(), "Grüße, 水 🦀", "{spec}");
    }
}

#[tokio::test]
async fn a_stream_split_at_any_byte_says_the_same() {
    for spec in [
        "anthropic/claude-sonnet-4-5",
        "openai/gpt-5.1",
        "openai+chat/gpt-4.1",
    ] {
        let said = Said::text("水🦀").and(call("call_1", "{\"path\":\"ß\"}"));
        // The first request tells how long the stream is.
        let whole = said.clone();
        let server = serve(move |request| whole.reply(request));
        let model = model_with(spec, &server, limits());
        let expected = ask(&*model, &hello()).await.answer().clone();
        let length = said.reply(&server.requests()[0]).bytes().len();
        assert_eq!(expected.text(), "水🦀");

        let pieces = said.clone();
        let server = serve(move |request| pieces.reply(request).split_at(request.number + 1));
        let model = model_with(spec, &server, limits());
        for at in 1..length {
            let outcome = ask(&*model, &hello()).await;
            assert_eq!(outcome.answer(), &expected, "{spec} split at {at}");
        }
    }
}

#[tokio::test]
async fn single_bytes_and_other_line_ends_make_no_difference() {
    for spec in SPECS {
        let said = Said::text("水🦀\nzwei").and(call("call_1", "{\"a\": [1, 2]}"));
        let server = serve(move |request| {
            let reply = said.reply(request);
            let text = String::from_utf8(reply.bytes()).unwrap();
            match request.number {
                0 => reply,
                1 => reply.in_pieces_of(1),
                2 => Reply::events(text.replace('\n', "\r\n")).in_pieces_of(7),
                3 => Reply::events(text.replace('\n', "\r")).in_pieces_of(3),
                // Keep-alives between any two events, and no last empty line.
                _ => Reply::events(
                    text.trim_end()
                        .replace("\n\n", "\n\n: OPENROUTER PROCESSING\n\n"),
                ),
            }
        });
        let model = model_with(spec, &server, limits());
        let expected = ask(&*model, &hello()).await.answer().clone();
        assert_eq!(expected.content.len(), 2, "{spec}");
        for variant in 1..=4 {
            assert_eq!(
                ask(&*model, &hello()).await.answer(),
                &expected,
                "{spec} {variant}"
            );
        }
    }
}

#[tokio::test]
async fn interleaved_tool_calls_are_kept_apart() {
    for spec in SPECS {
        let server = serve(|request| {
            let mut said = Said::text("I look.")
                .and(call("call_a", "{\"path\": \"a.rs\"}"))
                .and(call("call_b", "{\"path\": \"b.rs\"}"))
                .and(call("call_c", ""));
            said.interleaved = true;
            said.reply(request)
        });
        let model = model_with(spec, &server, limits());
        let outcome = ask(&*model, &hello()).await;
        let answer = outcome.answer();
        assert_eq!(
            answer.content,
            [
                Content::text("I look."),
                call("call_a", "{\"path\": \"a.rs\"}"),
                call("call_b", "{\"path\": \"b.rs\"}"),
                call("call_c", ""),
            ],
            "{spec}"
        );
        assert_eq!(answer.stop, Stop::ToolUse, "{spec}");
        assert!(
            answer.tool_calls().all(|call| call.parse().is_ok()),
            "{spec}"
        );
        // The deltas tell the same story.
        let mut arguments = vec![String::new(); 3];
        let mut names = Vec::new();
        for delta in &outcome.deltas {
            match delta {
                Delta::ToolCall { index, name } => names.push((*index, name.clone())),
                Delta::ToolArguments { index, text } => arguments[*index].push_str(text),
                _ => {}
            }
        }
        names.sort();
        assert_eq!(
            names,
            [(0, "read".into()), (1, "read".into()), (2, "read".into())],
            "{spec}"
        );
        assert_eq!(
            arguments,
            ["{\"path\": \"a.rs\"}", "{\"path\": \"b.rs\"}", ""],
            "{spec}"
        );
    }
}

#[tokio::test]
async fn arguments_that_are_not_json_are_handed_over_as_they_are() {
    for spec in SPECS {
        let broken = "{\"path\": \"a.rs\", ";
        let server = serve(move |request| Said::call("call_1", "read", broken).reply(request));
        let outcome = ask(&*model_with(spec, &server, limits()), &hello()).await;
        let answer = outcome.answer();
        assert_eq!(answer.content, [call("call_1", broken)], "{spec}");
        let error = answer.tool_calls().next().unwrap().parse().unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("the arguments of read are not a JSON object: EOF")
        );
    }
}

#[tokio::test]
async fn thinking_comes_with_what_must_be_sent_back() {
    for (spec, signature, kept) in [
        (
            "anthropic/claude-sonnet-4-5",
            "EqoBCkgIARAB==",
            "EqoBCkgIARAB==",
        ),
        (
            "openai/gpt-5.1",
            "gAAAAencrypted",
            r#"{"type":"reasoning","id":"rs_0","summary":[{"type":"summary_text","text":"Hmm, 水."}],"encrypted_content":"gAAAAencrypted"}"#,
        ),
        ("vllm/qwen3", "x", "reasoning_content"),
    ] {
        let thought = Content::Thinking {
            text: "Hmm, 水.".into(),
            signature: Some(signature.into()),
        };
        let said = Said::new(vec![thought, Content::text("Yes."), call("call_1", "{}")]);
        let server = serve(move |request| said.reply(request));
        let outcome = ask(&*model_with(spec, &server, limits()), &hello()).await;
        let kept = Content::Thinking {
            text: "Hmm, 水.".into(),
            signature: Some(kept.into()),
        };
        assert_eq!(
            outcome.answer().content,
            [kept, Content::text("Yes."), call("call_1", "{}")],
            "{spec}"
        );
        let thought: String = outcome
            .deltas
            .iter()
            .filter_map(|delta| match delta {
                Delta::Thinking(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(thought, "Hmm, 水.", "{spec}");
    }
}

#[tokio::test]
async fn redacted_thinking_is_kept() {
    let server = serve(|request| {
        Said::new(vec![
            Content::RedactedThinking("Emw=".into()),
            Content::text("ok"),
        ])
        .reply(request)
    });
    let outcome = ask(
        &*model_with("anthropic/claude-sonnet-4-5", &server, limits()),
        &hello(),
    )
    .await;
    assert_eq!(
        outcome.answer().content,
        [
            Content::RedactedThinking("Emw=".into()),
            Content::text("ok")
        ]
    );
}

#[tokio::test]
async fn the_reason_for_the_end_is_known() {
    for spec in SPECS {
        for stop in [
            Stop::End,
            Stop::Length,
            Stop::Refusal,
            Stop::Other("whim".into()),
        ] {
            let own = stop.clone();
            let server = serve(move |request| Said::text("so").stop(own.clone()).reply(request));
            let outcome = ask(&*model_with(spec, &server, limits()), &hello()).await;
            assert_eq!(outcome.answer().stop, stop, "{spec}");
        }
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    for spec in SPECS {
        let said = Said::text("whole")
            .and(call("call_1", "{\"a\":1}"))
            .usage(Some(Usage {
                input: 5,
                output: 6,
                cache_read: 7,
                cache_write: 8,
            }));
        let streamed = said.clone();
        let server = serve(move |request| {
            if request.number == 0 {
                return streamed.reply(request);
            }
            let mut request = request.clone();
            let mut body = request.json();
            body["stream"] = false.into();
            request.body = body.to_string().into_bytes();
            said.reply(&request)
        });
        let model = model_with(spec, &server, limits());
        let streamed = ask(&*model, &hello()).await.answer().clone();
        assert_eq!(ask(&*model, &hello()).await.answer(), &streamed, "{spec}");
    }
}

#[tokio::test]
async fn an_answer_without_usage_is_an_answer() {
    for spec in SPECS {
        let server = serve(|request| Said::text("fine").usage(None).reply(request));
        let outcome = ask(&*model_with(spec, &server, limits()), &hello()).await;
        assert_eq!(
            (outcome.answer().text().as_str(), outcome.answer().usage),
            ("fine", None),
            "{spec}"
        );
    }
}

#[tokio::test]
async fn pauses_within_the_limits_do_no_harm() {
    let server = serve(|request| {
        let mut reply = Said::text("slow but sure").reply(request).in_pieces_of(64);
        reply
            .pieces
            .insert(3, Piece::Pause(std::time::Duration::from_millis(30)));
        reply
    });
    let outcome = ask(&*model_with("openai/gpt-5.1", &server, limits()), &hello()).await;
    assert_eq!(outcome.text(), "slow but sure");
}
