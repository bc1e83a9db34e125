//! Secrets that are known by their form.

use longhaul_redact::{Kind, Redactor};

use crate::{ALNUM, HEX, drawn, finds, formed, pem, stay};

#[test]
fn every_kind_is_found_by_its_form() {
    for (kind, secret) in formed(7) {
        let redacted = Redactor::default().redact(&format!("the key is {secret}, keep it"));
        assert_eq!(
            redacted.text,
            format!(
                "the key is [redacted:{kind}#1]{}, keep it",
                "\n".repeat(secret.matches('\n').count())
            ),
            "{secret}"
        );
        assert_eq!(redacted.found, [kind]);
    }
}

#[test]
fn a_key_broken_over_lines_is_one_key() {
    let (_, key) = formed(5).remove(0);
    for middle in ["\n", "\n    ", "\\\n", "\\n", "\r\n"] {
        let (head, tail) = key.split_at(40);
        let redacted = Redactor::default().redact(&format!("key={head}{middle}{tail}\nnext line"));
        let end = match middle {
            "\\n" => "",
            "\r\n" => "\r\n",
            _ => "\n",
        };
        assert_eq!(
            redacted.text,
            format!("key=[redacted:anthropic-key#1]{end}\nnext line"),
            "{middle:?}"
        );
    }
    let redactor = Redactor::default();
    for seed in 0..200 {
        let token = drawn(seed, 36, ALNUM);
        for broken in [
            format!("ghp_{}\n{}", &token[..18], &token[18..]),
            format!("ghp_\n{token}7aB"),
        ] {
            let redacted = redactor.redact(&format!("token\n{broken}\nnext line"));
            assert_eq!(
                redacted.text, "token\n[redacted:github-token#1]\n\nnext line",
                "{broken}"
            );
        }
    }
    let part = |seed, length| drawn(seed, length, ALNUM) + "7aB";
    let (head, claims, sign) = (part(1, 30), part(2, 80), part(3, 40));
    for token in [
        format!("eyJ{head}.eyJ{claims}.\n{sign}"),
        format!("eyJ{head}.eyJ{claims}\n.{sign}"),
        format!("eyJ{head}.\neyJ{claims}.{sign}"),
        format!("eyJ{head}.eyJ{claims}7aB\n{claims}.{sign}"),
    ] {
        let redacted = redactor.redact(&format!("{token}\nnext line"));
        assert_eq!(redacted.text, "[redacted:jwt#1]\n\nnext line", "{token}");
    }
    let whole = format!("eyJ{head}.eyJ{claims}.{sign}");
    let other = part(4, 20);
    assert_eq!(
        redactor.redact(&format!("{whole}\n{other}\n")).text,
        format!("[redacted:jwt#1]\n{other}\n")
    );
    let prose = "a token begins with ghp_\nand has forty characters\n";
    assert_eq!(redactor.redact(prose).text, prose);
    let escaped = pem(2).replace('\n', "\\n");
    let redacted = Redactor::default().redact(&format!("\"key\": \"{escaped}\""));
    assert_eq!(redacted.text, "\"key\": \"[redacted:private-key#1]\"");
    let torn = &pem(2)[..200];
    let redacted = Redactor::default().redact(torn);
    assert_eq!(redacted.text.trim_end(), "[redacted:private-key#1]");
}

#[test]
fn what_follows_a_secret_of_several_lines_keeps_the_number_of_its_line() {
    let redactor = Redactor::default();
    let key = pem(7);
    for text in [
        format!("first\n{key}\nafter it\n"),
        format!("first\r\n{}\r\nafter it\r\n", key.replace('\n', "\r\n")),
        format!("deploy_key: |\n  {}\nafter it", key.replace('\n', "\n  ")),
    ] {
        let line = |text: &str| text.lines().position(|line| line == "after it");
        let redacted = redactor.redact(&text).text;
        assert!(redacted.contains("[redacted:private-key#1]"), "{redacted}");
        assert_eq!(line(&redacted), line(&text), "{redacted:?}");
        assert_eq!(
            redacted.matches("\r\n").count(),
            text.matches("\r\n").count()
        );
    }
    let lines = format!("{0}\n{0}", drawn(1, 64, ALNUM));
    let putty = format!("Private-Lines: 2\n{lines}\nPrivate-MAC: 00\n");
    assert_eq!(
        redactor.redact(&putty).text,
        "Private-Lines: 2\n[redacted:private-key#1]\n\nPrivate-MAC: 00\n"
    );
    let json = serde_json::json!({ "password": format!("{key}\nafter it"), "n": 1 }).to_string();
    let redacted = redactor.document().json(&json).into_owned();
    let value: serde_json::Value = serde_json::from_str(&redacted).unwrap();
    let text = value["password"].as_str().unwrap();
    assert_eq!(text.matches('\n').count(), key.matches('\n').count() + 1);
    assert_eq!(redactor.document().json(&redacted), redacted.as_str());
}

#[test]
fn more_providers_are_known_by_their_marks() {
    let body = drawn(17, 42, ALNUM) + "a7";
    for mark in [
        "dp.pt.",
        "dp.sa.",
        "pscale_tkn_",
        "pscale_pw_",
        "fm2_",
        "nvapi-",
        "lsv2_pt_",
        "sgp_",
    ] {
        finds(
            Kind::Provider,
            &format!("{mark}{body}"),
            &["use § here", "FlyV1 §"],
        );
    }
}

#[test]
fn keys_of_small_hexadecimal_digits_are_found_behind_their_mark() {
    for seed in 1..40 {
        let digits = format!("{}a7", drawn(seed, 30, HEX));
        let texts = ["the key is §, keep it", "x = \"§\"", "(§)"];
        finds(Kind::OpenAi, &format!("sk-{digits}"), &texts);
        finds(Kind::Provider, &format!("key-{digits}"), &texts);
        stay(&[
            &format!("restore-key-{digits}"),
            &format!("a/key-{digits}"),
            &format!("monkey-{digits}"),
            &format!("key-{digits}0"),
            &format!("desk-{digits}"),
        ]);
    }
}

#[test]
fn refresh_tokens_and_keys_of_newer_providers_are_found_by_their_mark() {
    for seed in 1..40 {
        let texts = ["the key is §, keep it", "x = \"§\"", "§"];
        let refresh = format!("1//0{}aB3", drawn(seed, 60, ALNUM));
        finds(Kind::Google, &refresh, &texts);
        let pinecone = format!("pcsk_{}_{}7", drawn(seed, 6, ALNUM), drawn(seed, 62, ALNUM));
        finds(Kind::Provider, &pinecone, &texts);
    }
    stay(&[
        "1//0 and 1. first",
        "x = 1//0b1010",
        "pcsk_is_a_prefix_of_keys_that_nobody_draws",
    ]);
}

#[test]
fn a_private_key_is_found_behind_the_marks_of_its_lines() {
    let key = pem(3);
    let lines: Vec<&str> = key.lines().collect();
    let body = |n: usize| lines[n];
    let marks: [&dyn Fn(usize) -> String; 9] = [
        &|_| "id_rsa:".to_owned(),
        &|n| format!("id_rsa:{}:", n + 8),
        &|n| format!("my_key-1.pem{}", if n == 0 { ":" } else { "-" }),
        &|_| "# ".to_owned(),
        &|_| "    // ".to_owned(),
        &|_| "> ".to_owned(),
        &|n| format!("{:>6}→", n + 8),
        &|n| format!("{:>4}| ", n + 8),
        &|_| " * ".to_owned(),
    ];
    for mark in marks {
        let marked: Vec<String> = (0..lines.len())
            .map(|n| format!("{}{}", mark(n), body(n)))
            .collect();
        let text = format!("before\n{}\nbehind it", marked.join("\n"));
        let redacted = Redactor::default().redact(&text);
        assert_eq!(redacted.found, [Kind::PrivateKey], "{}", redacted.text);
        assert!(
            lines.iter().all(|line| !redacted.text.contains(line)),
            "{}",
            redacted.text
        );
        assert!(redacted.text.ends_with("\nbehind it"), "{}", redacted.text);
        assert_eq!(
            Redactor::default().redact(&redacted.text).text,
            redacted.text
        );
        // Cut before its end.
        let text = format!("{}\nbehind it", marked[..4].join("\n"));
        let redacted = Redactor::default().redact(&text).text;
        assert!(!redacted.contains(lines[3]), "{redacted}");
        assert!(redacted.ends_with("\nbehind it"), "{redacted}");
    }
    let word = "PRIVATE KEY";
    stay(&[
        &format!("# -----BEGIN {word}-----\n# is its first line\n# and more\nfn main() {{}}"),
        &format!("a:-----BEGIN {word}-----\na:…\na:-----END {word}-----"),
    ]);
}

#[test]
fn a_private_key_of_commercial_ssh_is_found() {
    let word = "PRIVATE KEY";
    let lines: Vec<String> = (0..4).map(|n| drawn(n + 1, 70, ALNUM)).collect();
    let key = format!(
        "---- BEGIN SSH2 ENCRYPTED {word} ----\nComment: \"2048-bit rsa\"\n{}\n---- END SSH2 ENCRYPTED {word} ----",
        lines.join("\n")
    );
    let redacted = Redactor::default().redact(&format!("it is\n{key}\nbehind it"));
    assert_eq!(redacted.found, [Kind::PrivateKey]);
    assert_eq!(
        redacted.text,
        format!(
            "it is\n[redacted:private-key#1]{}\nbehind it",
            "\n".repeat(6)
        )
    );
}

#[test]
fn keys_of_further_providers_are_found_by_their_marks() {
    let texts = ["the key is §, keep it", "x = \"§\"", "§"];
    let mixed = |seed, length: usize| format!("{}7aB", drawn(seed, length - 3, ALNUM));
    let hex = |seed, length: usize| format!("{}a7", drawn(seed, length - 2, HEX));
    for seed in 1..40 {
        let uuid = format!("{}-4a7b-4c1d-8e2f-{}", hex(seed, 8), hex(seed, 12));
        let mut keys = vec![
            format!("nfp_{}", mixed(seed, 36)),
            format!("csk-{}", mixed(seed, 48).to_lowercase()),
            format!("re_{}_{}", mixed(seed, 8), mixed(seed + 1, 24)),
            format!("jina_{}{}", hex(seed, 32), mixed(seed, 28)),
            format!("ops_eyJ{}", mixed(seed, 300)),
            format!("pat{}.{}", mixed(seed, 14), hex(seed, 64)),
            format!("HRKU-{uuid}"),
            format!("HRKU-AA{}", mixed(seed, 58)),
            format!("CCIPAT_{}_{}", mixed(seed, 22), hex(seed, 40)),
            format!("ATBB{}", mixed(seed, 32)),
            format!("sk.eyJ{}.{}", mixed(seed, 80), mixed(seed, 22)),
            format!("e2b_{}", hex(seed, 40)),
            format!("secret_{}", mixed(seed, 43)),
            format!("EAA{}", mixed(seed, 180)),
            format!("sl.u.{}", mixed(seed, 135)),
            format!("sl.{}", mixed(seed, 137)),
        ];
        for mark in ["sqp_", "squ_", "sqa_"] {
            keys.push(format!("{mark}{}", hex(seed, 40)));
        }
        for mark in [
            "pat-na1-",
            "pat-eu1-",
            "access-sandbox-",
            "access-production-",
        ] {
            keys.push(format!("{mark}{uuid}"));
        }
        for key in keys {
            finds(Kind::Provider, &key, &texts);
        }
    }
    let data = mixed(3, 180);
    stay(&[
        &format!("E2cA/EAA{data}/TcLAQEAQZE4"),
        &format!("x+EAA{data}"),
        &format!("EAA{data}+TcLAQEAQZE4"),
        "re_SomeLongIdentifierOfATest_withNumber2AndMore",
        "re_compile_the_pattern_2_of_a_longer_Name_HERE",
        "pattern.matching.of.a.long.path.with.many.parts.and.1.number.that.goes.on.for.a.While",
        "jina_embeddings_v2_base_en_with_a_longer_name_than_needed",
        "secret_manager_version_2_of_the_current_project_and",
        "secret_ManagerVersion2OfTheCurrentProjectAndItsKey",
        "sl.config.path.2 access-sandbox-environment-of-the-team-number-2",
        "csk-token nfp_profile_2 e2b_sandbox_id_2 ATBBReader EAAReader2",
    ]);
}
