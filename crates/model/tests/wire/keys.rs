use longhaul_model::{Catalogue, Error, Known, ModelSpec, Provider, connect, connect_with};
use longhaul_testkit::loopback::{Fault, Reply, Said};
use serde_json::json;

use crate::{KEY, SPECS, ask, hello, limits, model_with, serve};

#[test]
fn a_missing_key_is_named_before_anything_is_sent() {
    for provider in Provider::all().filter(|provider| provider.needs_key()) {
        let spec = ModelSpec::new(provider, "m");
        for value in [None, Some(String::new()), Some("  \n".to_owned())] {
            let error = connect(&spec, &|_| value.clone(), limits()).err().unwrap();
            assert_eq!(
                error,
                Error::MissingKey {
                    provider: provider.name().into(),
                    variable: provider.variable().into()
                }
            );
            assert!(error.remedy().contains(provider.variable()));
        }
    }
    let mut spec = ModelSpec::parse("ollama/m").unwrap();
    assert!(connect(&spec, &|_| None, limits()).is_ok());
    // A variable that was named is expected to hold something.
    spec.key_variable = Some("MY_KEY".into());
    let error = connect(&spec, &|_| None, limits()).err().unwrap();
    assert!(matches!(error, Error::MissingKey { variable, .. } if variable == "MY_KEY"));
}

#[test]
fn what_cannot_be_a_key_is_refused_without_showing_it() {
    let spec = ModelSpec::parse("openai/m").unwrap();
    let error = connect(&spec, &|_| Some("sk-bad\nkey-0123456789".into()), limits())
        .err()
        .unwrap();
    assert!(matches!(error, Error::BadKey { .. }));
    assert!(!format!("{error} {error:?} {}", error.remedy()).contains("0123456789"));
}

#[tokio::test]
async fn the_key_goes_into_its_header_and_nowhere_else() {
    for spec in SPECS {
        let server = serve(|request| Said::text("ok").reply(request));
        ask(&*model_with(spec, &server, limits()), &hello()).await;
        let request = &server.requests()[0];
        let holders: Vec<&str> = request
            .headers
            .iter()
            .filter(|(_, value)| value.contains(KEY))
            .map(|(name, _)| name.as_str())
            .collect();
        let expected = if spec.contains("anthropic/claude-s") || spec.contains("messages") {
            "x-api-key"
        } else {
            "authorization"
        };
        assert_eq!(holders, [expected], "{spec}");
        assert!(!request.path.contains(KEY));
        assert!(!String::from_utf8_lossy(&request.body).contains(KEY));
    }
}

#[tokio::test]
async fn no_error_shows_the_key_even_if_the_provider_does() {
    let faults: Vec<Reply> = vec![
        Reply::json(
            401,
            &json!({"error": {"message": format!("bad key {KEY}"), "code": "invalid_api_key"}}),
        ),
        Reply::json(400, &json!({"error": {"message": format!("no {KEY}")}})),
        Reply::json(
            404,
            &json!({"error": {"message": format!("model {KEY} not found")}}),
        ),
        Reply::json(
            400,
            &json!({"error": {"message": format!("prompt is too long {KEY}")}}),
        ),
        Reply::json(
            429,
            &json!({"error": {"message": format!("slow down {KEY}")}}),
        ),
        Reply::json(402, &json!({"error": {"message": format!("pay {KEY}")}})),
        Reply::json(
            403,
            &json!({"error": {"message": format!("flagged {KEY}")}}),
        ),
        Reply::json(503, &json!({"error": {"message": format!("busy {KEY}")}})),
        Reply::new(200, "text/html", format!("<html><title>{KEY}</title>")),
        Reply::events(format!("data: {{\"x\": {KEY}\n\n")),
        Reply::json(200, &json!({"x": KEY})),
        Reply::events(format!(
            "data: {{\"error\": {{\"message\": \"{KEY}\"}}}}\n\n"
        )),
        Reply::new(404, "text/plain", format!("no {KEY} here")),
    ];
    for (number, fault) in faults.into_iter().enumerate() {
        let server = serve(move |_| fault.clone());
        let outcome = ask(
            &*model_with("openai+chat/gpt-4.1", &server, limits()),
            &hello(),
        )
        .await;
        let failure = outcome.failure();
        let all = format!(
            "{failure} {failure:?} {failure:#?} {} {:?}",
            failure.error.remedy(),
            outcome.deltas
        );
        assert!(!all.contains(KEY), "{number}: {all}");
        assert!(all.contains("[key]"), "{number}: {all}");
    }
}

#[tokio::test]
async fn a_redirect_does_not_carry_the_key_away() {
    let elsewhere = serve(|request| Said::text("thanks").reply(request));
    let target = format!("{}/v1/messages", elsewhere.url());
    let server =
        serve(move |_| Reply::new(307, "text/plain", "").header("location", target.clone()));
    let outcome = ask(
        &*model_with("anthropic/claude-sonnet-4-5", &server, limits()),
        &hello(),
    )
    .await;
    assert!(matches!(
        outcome.failure().error,
        Error::NotAnApi { status: 307, .. }
    ));
    assert_eq!(elsewhere.requests(), []);
}

#[tokio::test]
async fn a_password_in_the_address_is_not_shown() {
    let server = serve(|request| Fault::Html.reply(request));
    let address = server.url().replace("http://", "http://me:hunter2@");
    let spec = ModelSpec::parse("ollama/m").unwrap().at(address);
    let model = connect(&spec, &|_| None, limits()).unwrap();
    let outcome = ask(&*model, &hello()).await;
    assert!(!format!("{:?}", outcome.failure()).contains("hunter2"));
}

#[tokio::test]
async fn a_proxy_is_used_if_the_environment_names_one_and_does_not_except_the_host() {
    let proxy = serve(|request| Said::text("through").reply(request));
    let spec = ModelSpec::parse("openai-compatible/m@http://model.invalid/v1").unwrap();
    let address = proxy.url();
    let named = |name: &str| (name == "HTTP_PROXY").then(|| address.clone());
    let model = connect(&spec, &named, limits()).unwrap();
    assert_eq!(ask(&*model, &hello()).await.answer().text(), "through");
    assert_eq!(
        proxy.requests()[0].path,
        "http://model.invalid/v1/chat/completions"
    );

    let excepted = |name: &str| match name {
        "http_proxy" => Some(address.clone()),
        "NO_PROXY" => Some("localhost,model.invalid".into()),
        _ => None,
    };
    let model = connect(&spec, &excepted, limits()).unwrap();
    assert!(matches!(
        ask(&*model, &hello()).await.failure().error,
        Error::Network { .. }
    ));

    // A server on this machine is never asked through a proxy.
    let server = serve(|request| Said::text("direct").reply(request));
    let spec = ModelSpec::parse("ollama/m").unwrap().at(server.url());
    let model = connect(&spec, &named, limits()).unwrap();
    assert_eq!(ask(&*model, &hello()).await.answer().text(), "direct");
    assert_eq!(proxy.requests().len(), 1);

    let secret = |name: &str| (name == "HTTP_PROXY").then(|| "http://me:hunter2@[bad".into());
    let spec = ModelSpec::parse("openai-compatible/m@http://model.invalid/v1").unwrap();
    let error = connect(&spec, &secret, limits()).err().unwrap();
    assert!(matches!(error, Error::Network { .. }));
    assert!(!format!("{error:?}").contains("hunter2"));
}

#[test]
fn a_model_names_its_server_without_what_may_be_secret_in_the_address() {
    let endpoint = |spec: &str| {
        let spec = ModelSpec::parse(spec).unwrap();
        let model = connect(&spec, &|_| Some(KEY.into()), limits()).unwrap();
        model.info().endpoint.clone().unwrap()
    };
    assert_eq!(endpoint("anthropic/m"), "https://api.anthropic.com");
    assert_eq!(
        endpoint("vllm/m@http://me:hunter2@127.0.0.1:8000/v1/s3cret?key=s3cret"),
        "http://127.0.0.1:8000"
    );
}

#[test]
fn a_window_that_the_caller_gives_counts_above_the_table_and_is_known_as_given() {
    let window = |window| Known {
        window: Some(window),
        ..Known::default()
    };
    let catalogue = Catalogue::new().with("anthropic/claude-opus-4-5*", window(1_000_000));
    let info = |spec: &ModelSpec| {
        let model = connect_with(spec, &|_| Some(KEY.into()), limits(), &catalogue).unwrap();
        (model.info().window, model.info().window_given)
    };
    let mut spec = ModelSpec::parse("anthropic/claude-opus-4-5").unwrap();
    assert_eq!(info(&spec), (Some(1_000_000), true));
    spec.known = window(5_000);
    assert_eq!(info(&spec), (Some(5_000), true));
    let other = ModelSpec::parse("anthropic/claude-opus-4-1").unwrap();
    assert_eq!(info(&other), (Some(200_000), false));
}
