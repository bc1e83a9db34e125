//! What the imitators of chat completions make of it.

use longhaul_model::{Answer, Content, Message, Role, Stop, ToolCall, Usage};
use longhaul_testkit::loopback::{Reply, Said};
use serde_json::{Value, json};

use crate::{ask, hello, limits, model_with, serve};

fn stream(chunks: &[Value]) -> String {
    let mut text: String = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    text.push_str("data: [DONE]\n\n");
    text
}

fn delta(delta: Value) -> Value {
    json!({"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn end(reason: &str) -> Value {
    json!({"id": "c", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

async fn answer(spec: &str, chunks: Vec<Value>) -> Answer {
    let server = serve(move |_| Reply::events(stream(&chunks)));
    ask(&*model_with(spec, &server, limits()), &hello())
        .await
        .answer()
        .clone()
}

fn call(id: &str, arguments: &str) -> Content {
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments: arguments.into(),
    })
}

#[tokio::test]
async fn whole_calls_all_numbered_nought_are_told_apart_by_id() {
    let chunk = |id: &str, path: &str| {
        delta(
            json!({"tool_calls": [{"index": 0, "id": id, "type": "function",
            "function": {"name": "read", "arguments": format!("{{\"path\":\"{path}\"}}")}}]}),
        )
    };
    // And the reason given is the wrong one.
    let answer = answer(
        "ollama/m",
        vec![chunk("call_a", "a"), chunk("call_b", "b"), end("stop")],
    )
    .await;
    assert_eq!(
        answer.content,
        [
            call("call_a", "{\"path\":\"a\"}"),
            call("call_b", "{\"path\":\"b\"}")
        ]
    );
    assert_eq!(answer.stop, Stop::ToolUse);
}

#[tokio::test]
async fn calls_without_number_and_id_are_told_apart_by_being_whole() {
    let chunk = |path: &str| {
        delta(
            json!({"tool_calls": [{"type": "function", "function": {"name": "read", "arguments": {"path": path}}}]}),
        )
    };
    let answer = answer(
        "llamacpp/m",
        vec![chunk("a"), chunk("b"), end("tool_calls")],
    )
    .await;
    let calls: Vec<&ToolCall> = answer.tool_calls().collect();
    assert_eq!(calls.len(), 2);
    assert_eq!(
        (calls[0].arguments.as_str(), calls[1].arguments.as_str()),
        ("{\"path\":\"a\"}", "{\"path\":\"b\"}")
    );
    assert_ne!(calls[0].id, calls[1].id);
    assert!(!calls[0].id.is_empty());
}

#[tokio::test]
async fn a_name_repeated_with_every_piece_is_one_call() {
    let chunk = |text: &str| {
        delta(
            json!({"tool_calls": [{"index": 0, "id": "call_a", "type": "function",
            "function": {"name": "read", "arguments": text}}]}),
        )
    };
    let answer = answer(
        "vllm/m",
        vec![chunk("{\"path\""), chunk(":\"a\"}"), end("tool_calls")],
    )
    .await;
    assert_eq!(answer.content, [call("call_a", "{\"path\":\"a\"}")]);
}

#[tokio::test]
async fn usage_is_read_wherever_it_stands() {
    let cases = [
        (
            json!({"usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12, "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 6}}),
            (6, 2, 4),
        ),
        (
            json!({"usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12, "cached_tokens": 3}}),
            (7, 2, 3),
        ),
        // Thinking left out of the completion.
        (
            json!({"usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 30}}),
            (10, 20, 0),
        ),
        (
            json!({"x_groq": {"usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}}}),
            (10, 2, 0),
        ),
        (
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}}]}),
            (10, 2, 0),
        ),
        // More cached than there was.
        (
            json!({"usage": {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 99}}}),
            (0, 2, 10),
        ),
    ];
    for (last, (input, output, cache_read)) in cases {
        let answer = answer(
            "vllm/m",
            vec![delta(json!({"content": "x"})), end("stop"), last.clone()],
        )
        .await;
        assert_eq!(
            answer.usage,
            Some(Usage {
                input,
                output,
                cache_read,
                cache_write: 0
            }),
            "{last}"
        );
    }
}

#[tokio::test]
async fn openrouters_cost_and_structured_thinking_are_kept_and_go_back() {
    let chunks = vec![
        delta(
            json!({"role": "assistant", "content": "", "reasoning": "Let me", "reasoning_details": [{"type": "reasoning.text", "text": "Let me", "index": 0, "format": "anthropic-claude-v1"}]}),
        ),
        delta(
            json!({"content": "", "reasoning": " see.", "reasoning_details": [{"type": "reasoning.text", "text": " see.", "index": 0}]}),
        ),
        delta(
            json!({"content": "", "reasoning_details": [{"type": "reasoning.text", "signature": "EqoB", "index": 0}]}),
        ),
        delta(json!({"content": "Yes."})),
        end("stop"),
        json!({"id": "c", "choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12, "cost": 0.0125}}),
    ];
    let server = serve(move |request| {
        if request.number == 0 {
            Reply::events(stream(&chunks))
        } else {
            Said::text("ok").reply(request)
        }
    });
    let model = model_with("openrouter/anthropic/claude-opus-4.6", &server, limits());
    let mut request = hello();
    let answer = ask(&*model, &request).await.answer().clone();
    assert_eq!(answer.cost, Some(0.0125));
    assert!(matches!(&answer.content[0], Content::Thinking { text, .. } if text == "Let me see."));
    request
        .messages
        .push(Message::new(Role::Assistant, answer.content.clone()));
    request.messages.push(Message::user("Go on."));
    ask(&*model, &request).await.answer();
    assert_eq!(
        server.requests()[1].json()["messages"][1]["reasoning_details"],
        json!([{"type": "reasoning.text", "text": "Let me see.", "index": 0, "format": "anthropic-claude-v1", "signature": "EqoB"}])
    );
    // To anyone else it means nothing.
    let server = serve(|request| Said::text("ok").reply(request));
    ask(&*model_with("vllm/m", &server, limits()), &request)
        .await
        .answer();
    assert!(!server.requests()[0].json().to_string().contains("EqoB"));
}

#[tokio::test]
async fn thinking_in_any_of_its_fields_is_thinking() {
    for field in ["reasoning_content", "reasoning", "reasoning_text"] {
        let answer = answer(
            "lmstudio/m",
            vec![
                delta(json!({field: "Hm."})),
                delta(json!({"content": "Yes."})),
                end("stop"),
            ],
        )
        .await;
        assert_eq!(
            answer.content,
            [
                Content::Thinking {
                    text: "Hm.".into(),
                    signature: Some(field.into())
                },
                Content::text("Yes.")
            ]
        );
    }
    let parts = json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Yes."}]});
    let answer = answer("openai-compatible/m", vec![delta(parts), end("stop")]).await;
    assert_eq!(
        answer.content,
        [
            Content::Thinking {
                text: "Hm.".into(),
                signature: None
            },
            Content::text("Yes.")
        ]
    );
}

#[tokio::test]
async fn endings_that_are_not_the_usual_ones_are_understood() {
    let text = || delta(json!({"content": "x"}));
    // Only `[DONE]`.
    assert_eq!(answer("vllm/m", vec![text()]).await.stop, Stop::End);
    for (reason, stop) in [
        ("eos", Stop::End),
        ("model_length", Stop::Length),
        ("content_filter", Stop::Refusal),
        ("function_call", Stop::ToolUse),
        ("abort", Stop::Other("abort".into())),
    ] {
        assert_eq!(answer("vllm/m", vec![text(), end(reason)]).await.stop, stop);
    }
    let refused = answer(
        "openai+chat/m",
        vec![delta(json!({"refusal": "I won't."})), end("stop")],
    )
    .await;
    assert_eq!(
        (refused.text().as_str(), refused.stop),
        ("I won't.", Stop::Refusal)
    );
}

#[tokio::test]
async fn a_reason_without_done_is_an_end() {
    let server = serve(|_| {
        Reply::events(format!(
            "data: {}\n\ndata: {}",
            delta(json!({"content": "x"})),
            end("stop")
        ))
    });
    let outcome = ask(
        &*model_with("openai-compatible/m", &server, limits()),
        &hello(),
    )
    .await;
    assert_eq!(outcome.answer().text(), "x");
}

#[tokio::test]
async fn responses_that_come_only_as_whole_items_are_read() {
    let item = json!({"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "whole"}]});
    let refusal = json!({"type": "message", "id": "m", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]});
    for (streamed, text, stop) in [
        (
            format!(
                "data: {}\n\n",
                json!({"type": "response.output_item.done", "output_index": 0, "item": item})
            ),
            "whole",
            Stop::End,
        ),
        (String::new(), "whole", Stop::End),
        (
            format!(
                "data: {}\n\n",
                json!({"type": "response.output_item.done", "output_index": 0, "item": refusal})
            ),
            "no",
            Stop::Refusal,
        ),
    ] {
        let last = json!({"type": "response.completed", "response": {"id": "r", "model": "m", "status": "completed", "output": [item]}});
        let server = serve(move |_| Reply::events(format!("{streamed}data: {last}\n\n")));
        let outcome = ask(&*model_with("openai/gpt-5.1", &server, limits()), &hello()).await;
        assert_eq!(
            (outcome.answer().text().as_str(), &outcome.answer().stop),
            (text, &stop)
        );
    }
}
