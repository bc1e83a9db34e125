use serde_json::json;

use super::*;

fn asked() -> Asked {
    Asked {
        provider: "there".into(),
        model: "m".into(),
        url: "https://host/v1/x".into(),
        variable: Some("THERE_KEY".into()),
    }
}

fn kind(error: &Error) -> &'static str {
    match error {
        Error::Unauthorized { .. } => "unauthorized",
        Error::UnknownModel { .. } => "unknown model",
        Error::Overflow { .. } => "overflow",
        Error::RateLimited { .. } => "rate",
        Error::Quota { .. } => "quota",
        Error::Overloaded { .. } => "overloaded",
        Error::Refused { .. } => "refused",
        Error::BadRequest { .. } => "bad request",
        Error::NotAnApi { .. } => "not an api",
        _ => "other",
    }
}

#[test]
fn the_providers_error_bodies_mean_what_they_say() {
    let cases = [
        (
            401,
            json!({"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"req_1"}),
            "unauthorized",
        ),
        (
            403,
            json!({"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission"}}),
            "unauthorized",
        ),
        (
            404,
            json!({"type":"error","error":{"type":"not_found_error","message":"model: claude-nope"}}),
            "unknown model",
        ),
        (
            413,
            json!({"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}),
            "overflow",
        ),
        (
            429,
            json!({"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 40,000 input tokens per minute"}}),
            "rate",
        ),
        (
            500,
            json!({"type":"error","error":{"type":"api_error","message":"Internal server error"}}),
            "overloaded",
        ),
        (
            529,
            json!({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}),
            "overloaded",
        ),
        (
            200,
            json!({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}),
            "overloaded",
        ),
        (
            400,
            json!({"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}),
            "quota",
        ),
        (
            400,
            json!({"type":"error","error":{"type":"invalid_request_error","message":"messages: roles must alternate"}}),
            "bad request",
        ),
        (
            400,
            json!({"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for m"}}),
            "bad request",
        ),
        (
            401,
            json!({"error":{"message":"Incorrect API key provided: sk-ab***yz.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}),
            "unauthorized",
        ),
        (
            404,
            json!({"error":{"message":"The model `gpt-9` does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}),
            "unknown model",
        ),
        (
            400,
            json!({"error":{"message":"too long","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}),
            "overflow",
        ),
        (
            429,
            json!({"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}),
            "quota",
        ),
        (
            429,
            json!({"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.","type":"tokens","code":"rate_limit_exceeded"}}),
            "rate",
        ),
        (
            413,
            json!({"error":{"message":"Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 10327","type":"tokens","code":"rate_limit_exceeded"}}),
            "rate",
        ),
        (
            400,
            json!({"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","code":"content_filter","status":400}}),
            "refused",
        ),
        (
            402,
            json!({"error":{"code":402,"message":"This request requires more credits"}}),
            "quota",
        ),
        (
            400,
            json!({"error":{"code":400,"message":"foo/bar is not a valid model ID"}}),
            "unknown model",
        ),
        (
            404,
            json!({"error":{"code":404,"message":"No endpoints found for foo/bar."}}),
            "unknown model",
        ),
        (
            403,
            json!({"error":{"code":403,"message":"Input was flagged","metadata":{"reasons":["x"]}}}),
            "refused",
        ),
        (
            502,
            json!({"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"oops"}}}),
            "overloaded",
        ),
        (
            200,
            json!({"error":{"code":429,"message":"Rate limited upstream"}}),
            "rate",
        ),
        (
            400,
            json!({"error":{"code":400,"message":"Provider returned error","metadata":{"provider_name":"Anthropic","raw":"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 213462 tokens > 200000 maximum\"}}"}}}),
            "overflow",
        ),
        (
            400,
            json!([{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]),
            "unauthorized",
        ),
        (
            429,
            json!({"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}),
            "rate",
        ),
        (
            404,
            json!({"error":{"message":"model \"llama9\" not found, try pulling it first","type":"api_error","param":null,"code":null}}),
            "unknown model",
        ),
        (
            404,
            json!({"error":"model 'llama9' not found"}),
            "unknown model",
        ),
        (
            400,
            json!({"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9034,"n_ctx":4096}}),
            "overflow",
        ),
        (
            503,
            json!({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}),
            "overloaded",
        ),
        (
            404,
            json!({"object":"error","message":"The model `x` does not exist.","type":"NotFoundError","param":null,"code":404}),
            "unknown model",
        ),
        (
            400,
            json!({"object":"error","message":"This model's maximum context length is 32768 tokens. However, your request has 40000 input tokens.","type":"BadRequestError","param":null,"code":400}),
            "overflow",
        ),
        (
            422,
            json!({"detail":[{"loc":["body","messages"],"msg":"field required"}]}),
            "bad request",
        ),
        (404, json!({"detail":"Not Found"}), "not an api"),
        (
            400,
            json!({"error":"The number of tokens to keep from the initial prompt is greater than the context length."}),
            "overflow",
        ),
        (
            400,
            json!({"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}),
            "overflow",
        ),
        (
            400,
            json!({"error":{"message":"Model Not Exist","type":"invalid_request_error","code":"invalid_request_error"}}),
            "unknown model",
        ),
    ];
    for (status, body, expected) in cases {
        let error = judge(
            status,
            "application/json",
            &body.to_string(),
            None,
            &asked(),
        );
        assert_eq!(kind(&error), expected, "{status} {body}\n{error:?}");
        assert!(!error.remedy().is_empty());
    }
}

#[test]
fn sizes_given_as_fields_and_inside_a_wrapped_error_are_kept() {
    let llama = json!({"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9034,"n_ctx":4096}});
    let wrapped = json!({"error":{"code":400,"message":"Provider returned error","metadata":{"raw":llama.to_string()}}});
    for body in [llama, wrapped] {
        let error = judge(400, "application/json", &body.to_string(), None, &asked());
        assert!(
            matches!(
                error,
                Error::Overflow {
                    limit: Some(4096),
                    requested: Some(9034),
                    ..
                }
            ),
            "{error:?}"
        );
    }
}

#[test]
fn pages_and_plain_texts_are_told_apart_by_their_status() {
    let page = "<!DOCTYPE html><html><head><title>Log  in\nplease</title></head>";
    let cases = [
        (404, "text/html", page, "not an api"),
        (403, "text/html; charset=utf-8", page, "not an api"),
        (302, "", "", "not an api"),
        (302, "application/json", "{}", "not an api"),
        (
            307,
            "application/json",
            r#"{"error":{"message":"moved"}}"#,
            "not an api",
        ),
        (
            502,
            "text/html",
            "<html><title>502 Bad Gateway</title>",
            "overloaded",
        ),
        (404, "text/plain", "404 page not found", "not an api"),
        (
            413,
            "text/html",
            "<html><title>413 Request Entity Too Large</title>",
            "overflow",
        ),
        (413, "", "", "overflow"),
        (400, "text/plain", "no", "bad request"),
        (503, "text/plain", "upstream connect error", "overloaded"),
        (401, "", "", "unauthorized"),
        (500, "application/json", "{}", "overloaded"),
        (400, "application/json", "[]", "bad request"),
    ];
    for (status, content_type, body, expected) in cases {
        let error = judge(status, content_type, body, None, &asked());
        assert_eq!(kind(&error), expected, "{status} {body}\n{error:?}");
    }
    let error = judge(404, "text/html", page, None, &asked());
    assert_eq!(
        error.to_string(),
        "https://host/v1/x is not the interface of a model (404): a web page, \"Log in please\""
    );
}

#[test]
fn when_to_come_back_is_taken_from_header_or_words() {
    let body =
        json!({"error":{"message":"Rate limit reached. Please try again in 2s."}}).to_string();
    let wait = |header| match judge(429, "application/json", &body, header, &asked()) {
        Error::RateLimited { retry_after, .. } => retry_after,
        other => panic!("{other:?}"),
    };
    assert_eq!(wait(None), Some(Duration::from_secs(2)));
    assert_eq!(
        wait(Some(Duration::from_secs(9))),
        Some(Duration::from_secs(9))
    );
}

#[test]
fn excerpts_are_one_line_and_bounded() {
    assert_eq!(excerpt("a\n\tb   c\u{7}d", 10), "a b cd");
    assert_eq!(excerpt("水水水水", 3), "水水水…");
}
