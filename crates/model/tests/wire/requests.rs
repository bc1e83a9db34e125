use longhaul_model::{
    Content, Effort, Message, Request, Role, SystemBlock, ToolCall, ToolChoice, ToolDefinition,
    ToolResult,
};
use longhaul_testkit::loopback::Said;
use serde_json::{Value, json};

use crate::{ask, hello, limits, model_with, serve};

async fn sent(spec: &str, request: &Request) -> Value {
    let server = serve(|request| Said::text("ok").reply(request));
    let outcome = ask(&*model_with(spec, &server, limits()), request).await;
    outcome.answer();
    server.requests()[0].json()
}

fn call(id: &str, arguments: &str) -> Content {
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments: arguments.into(),
    })
}

fn result(id: &str, content: Vec<Content>, is_error: bool) -> Message {
    Message::tool(ToolResult {
        call: id.into(),
        name: "read".into(),
        content,
        is_error,
    })
}

/// A conversation with something of everything.
fn everything() -> Request {
    let picture = Content::Image {
        mime: "image/png".into(),
        data: "iVBORw0KGgo=".into(),
    };
    let thought = |text: &str, signature: &str| Content::Thinking {
        text: text.into(),
        signature: (!signature.is_empty()).then(|| signature.into()),
    };
    let item = json!({
        "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA",
    });
    Request {
        system: vec![
            SystemBlock {
                text: "You are careful.".into(),
                cache: true,
            },
            SystemBlock::new("  "),
            SystemBlock {
                text: "The workspace is /work.".into(),
                cache: true,
            },
        ],
        messages: vec![
            Message::user("Look at this."),
            Message::new(Role::User, vec![picture.clone(), Content::text("")]).cached(),
            Message::new(
                Role::Assistant,
                vec![
                    thought("Anthropic's.", "EqoBCkgIARAB"),
                    thought("OpenAI's.", &item.to_string()),
                    thought("A local model's.", "reasoning_content"),
                    thought("Nobody's.", ""),
                    Content::RedactedThinking("Emw=".into()),
                    Content::text("I read two files."),
                    call("call_1|fc_1", "{\"path\": \"a.rs\"}"),
                    call("call:2", "{\"path\": "),
                ],
            ),
            result("call:2", vec![Content::text("not JSON")], true),
            result(
                "call_1|fc_1",
                vec![Content::text("fn main() {}"), picture],
                false,
            )
            .cached(),
            Message::user("And?").cached(),
            Message::user("[gauge 12 %]"),
        ],
        tools: vec![ToolDefinition {
            name: "read".into(),
            description: "Reads a file".into(),
            parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
        }],
        tool_choice: ToolChoice::Auto,
        max_output: Some(4_000),
        temperature: Some(0.3),
        effort: None,
        session: Some("agent:main:main".into()),
    }
}

#[tokio::test]
async fn anthropic_is_sent_blocks_signatures_and_breakpoints() {
    insta::assert_json_snapshot!(sent("anthropic/claude-sonnet-4-5", &everything()).await);
}

#[tokio::test]
async fn openai_responses_are_sent_items() {
    insta::assert_json_snapshot!(sent("openai/gpt-5.1", &everything()).await);
}

#[tokio::test]
async fn openai_responses_of_the_newer_models_are_sent_breakpoints() {
    insta::assert_json_snapshot!(sent("openai/gpt-5.6-terra", &everything()).await);
}

#[tokio::test]
async fn openai_chat_is_sent_plain_messages() {
    insta::assert_json_snapshot!(sent("openai+chat/gpt-4.1", &everything()).await);
}

#[tokio::test]
async fn openrouter_is_sent_breakpoints_for_anthropics_models() {
    insta::assert_json_snapshot!(sent("openrouter/anthropic/claude-opus-4.6", &everything()).await);
}

#[tokio::test]
async fn local_servers_are_sent_what_they_all_know() {
    insta::assert_json_snapshot!(sent("ollama/llama3.1:8b", &everything()).await);
}

#[tokio::test]
async fn no_more_than_four_breakpoints_are_sent() {
    let mut request = everything();
    for _ in 0..5 {
        request.messages.push(Message::assistant("Yes.").cached());
        request.messages.push(Message::user("And?").cached());
    }
    for spec in [
        "anthropic/claude-sonnet-4-5",
        "openrouter/anthropic/claude-opus-4.6",
    ] {
        let body = sent(spec, &request).await.to_string();
        assert_eq!(body.matches("cache_control").count(), 4, "{spec}");
    }
    let body = sent("openai/gpt-5.6-terra", &request).await.to_string();
    assert!(
        (1..=4).contains(&body.matches("prompt_cache_breakpoint").count()),
        "{body}"
    );
    for spec in [
        "openai/gpt-5.1",
        "openai+chat/gpt-4.1",
        "openrouter/openai/gpt-5.1",
        "vllm/x",
    ] {
        let body = sent(spec, &request).await.to_string();
        assert!(
            !body.contains("cache_control") && !body.contains("breakpoint"),
            "{spec}"
        );
    }
}

#[tokio::test]
async fn what_a_model_refuses_is_left_out() {
    let request = Request {
        temperature: Some(0.3),
        max_output: Some(8),
        ..hello()
    };
    for (spec, temperature, max) in [
        ("anthropic/claude-sonnet-4-5", true, "max_tokens"),
        ("anthropic/claude-opus-4-7", false, "max_tokens"),
        ("openai/gpt-5.1", false, "max_output_tokens"),
        ("openai/gpt-4.1", true, "max_output_tokens"),
        ("openai+chat/o3", false, "max_completion_tokens"),
        ("openai+chat/gpt-4.1", true, "max_completion_tokens"),
        ("ollama/llama3.1", true, "max_tokens"),
    ] {
        let body = sent(spec, &request).await;
        assert_eq!(body.get("temperature").is_some(), temperature, "{spec}");
        let limit = if max == "max_output_tokens" { 16 } else { 8 };
        assert_eq!(body[max], limit, "{spec}");
    }
    // Anthropic wants a number even where the caller has none.
    assert_eq!(
        sent("anthropic/claude-opus-5-5", &hello()).await["max_tokens"],
        32_000
    );
    assert_eq!(
        sent("anthropic/claude-3-5-haiku-20241022", &hello()).await["max_tokens"],
        8_192
    );
    assert_eq!(
        sent("openai-compatible+messages/x", &hello()).await["max_tokens"],
        8_192
    );
}

#[tokio::test]
async fn thinking_is_asked_for_in_each_models_way() {
    let request = Request {
        effort: Some(Effort::High),
        temperature: Some(0.5),
        ..hello()
    };
    let body = sent("anthropic/claude-opus-5-5", &request).await;
    assert_eq!(body["thinking"]["type"], "adaptive");
    assert_eq!(body["output_config"], json!({"effort": "high"}));
    let body = sent("anthropic/claude-sonnet-4-5", &request).await;
    assert_eq!(
        body["thinking"],
        json!({"type": "enabled", "budget_tokens": 16_000})
    );
    assert_eq!(body.get("temperature"), None);
    let body = sent("anthropic/claude-3-5-haiku", &request).await;
    assert_eq!(
        (body.get("thinking"), &body["temperature"]),
        (None, &json!(0.5))
    );
    let body = sent("openai/gpt-5.1", &request).await;
    assert_eq!(
        body["reasoning"],
        json!({"effort": "high", "summary": "auto"})
    );
    assert_eq!(
        sent("openai/gpt-4.1", &request).await.get("reasoning"),
        None
    );
    assert_eq!(
        sent("openai+chat/o3", &request).await["reasoning_effort"],
        "high"
    );
    assert_eq!(
        sent("openrouter/x/y", &request).await["reasoning"],
        json!({"effort": "high"})
    );
    let forced = Request {
        tool_choice: ToolChoice::Required,
        ..request
    };
    assert_eq!(
        sent("anthropic/claude-opus-4-6", &forced)
            .await
            .get("thinking"),
        None
    );
}

#[tokio::test]
async fn the_choice_of_tools_is_said_in_each_providers_words() {
    let tools = everything().tools;
    for (choice, anthropic, chat, responses) in [
        (ToolChoice::Auto, json!("auto"), Value::Null, json!("auto")),
        (
            ToolChoice::None,
            json!("none"),
            json!("none"),
            json!("none"),
        ),
        (
            ToolChoice::Required,
            json!("any"),
            json!("required"),
            json!("required"),
        ),
    ] {
        let request = Request {
            tools: tools.clone(),
            tool_choice: choice,
            ..hello()
        };
        let body = sent("anthropic/claude-sonnet-4-5", &request).await;
        assert_eq!(body["tool_choice"]["type"], anthropic);
        assert_eq!(sent("vllm/x", &request).await["tool_choice"], chat);
        assert_eq!(
            sent("openai/gpt-5.1", &request).await["tool_choice"],
            responses
        );
        // Without tools there is nothing to choose.
        let request = Request {
            tool_choice: choice,
            ..hello()
        };
        for spec in ["anthropic/claude-sonnet-4-5", "vllm/x", "openai/gpt-5.1"] {
            assert_eq!(
                sent(spec, &request).await.get("tool_choice"),
                None,
                "{spec}"
            );
        }
    }
    let forced = Request {
        tools,
        tool_choice: ToolChoice::Required,
        ..hello()
    };
    assert_eq!(
        sent("anthropic/claude-fable-5-1", &forced).await["tool_choice"]["type"],
        "auto"
    );
}

#[tokio::test]
async fn an_answer_goes_back_as_it_came() {
    for (spec, signature) in [
        ("anthropic/claude-sonnet-4-5", "EqoBCkgIARAB"),
        ("openai/gpt-5.1", "gAAAA"),
        ("vllm/qwen3", ""),
    ] {
        let said = Said::new(vec![
            Content::Thinking {
                text: "Hmm.".into(),
                signature: Some(signature.into()),
            },
            Content::text("Reading."),
            call("call_1", "{\"path\":\"a.rs\"}"),
        ]);
        let server = serve(move |request| {
            if request.number == 0 {
                said.reply(request)
            } else {
                Said::text("done").reply(request)
            }
        });
        let model = model_with(spec, &server, limits());
        let mut request = hello();
        let answer = ask(&*model, &request).await.answer().clone();
        request
            .messages
            .push(Message::new(Role::Assistant, answer.content));
        request
            .messages
            .push(result("call_1", vec![Content::text("fn main() {}")], false));
        ask(&*model, &request).await.answer();
        let body = server.requests()[1].json();
        match spec {
            "openai/gpt-5.1" => {
                let items = &body["input"];
                assert_eq!(items[1]["type"], "reasoning", "{body}");
                assert_eq!(items[1]["encrypted_content"], "gAAAA");
                assert_eq!(items[2]["content"][0]["text"], "Reading.");
                assert_eq!(items[3]["call_id"], "call_1");
                assert_eq!(items[4]["output"], "fn main() {}");
            }
            "vllm/qwen3" => {
                assert_eq!(body["messages"][1]["reasoning_content"], "Hmm.", "{body}");
                assert_eq!(body["messages"][1]["tool_calls"][0]["id"], "call_1");
                assert_eq!(body["messages"][2]["role"], "tool");
            }
            _ => {
                let blocks = &body["messages"][1]["content"];
                assert_eq!(
                    blocks[0],
                    json!({"type": "thinking", "thinking": "Hmm.", "signature": "EqoBCkgIARAB"})
                );
                assert_eq!(blocks[2]["input"], json!({"path": "a.rs"}));
                assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], "call_1");
            }
        }
    }
}

#[tokio::test]
async fn headers_are_what_each_provider_wants() {
    let server = serve(|request| Said::text("ok").reply(request));
    for spec in [
        "anthropic/claude-sonnet-4-5",
        "openrouter/x/y",
        "openai/gpt-5.1",
    ] {
        ask(&*model_with(spec, &server, limits()), &hello())
            .await
            .answer();
    }
    let requests = server.requests();
    assert_eq!(requests[0].path, "/v1/messages");
    assert_eq!(requests[0].header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(requests[1].header("x-title"), Some("longhaul"));
    assert_eq!(requests[1].header("anthropic-version"), None);
    assert_eq!(requests[2].path, "/v1/responses");
    for request in &requests {
        assert_eq!(request.method, "POST");
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert!(
            request
                .header("user-agent")
                .is_some_and(|agent| agent.starts_with("longhaul/"))
        );
    }
}
