//! Keys of vendors as their sources describe them, with no name beside them.
//! `{word 34}` is so many characters of a class; a source stands in
//! `vendors.txt` and, of forms that have no prefix, here.

use crate::generate::Generator;

const FORMS: &[(&str, &str)] = &[
    (
        "1password account",
        "A3-{upper 6}-{upper 11}-{upper 5}-{upper 5}-{upper 5}",
    ),
    ("1password service", "ops_eyJ{base64 250}"),
    ("adobe", "p8e-{lower 32}"),
    ("age", "AGE-SECRET-KEY-1{upper 58}"),
    ("airtable", "pat{alnum 14}.{hex 64}"),
    ("alibaba", "LTAI{alnum 20}"),
    ("anthropic", "sk-ant-api03-{word 93}AA"),
    ("artifactory", "AKCp{alnum 69}"),
    ("artifactory reference", "cmVmd{alnum 59}"),
    ("atlassian", "ATATT3xFfGF0{word 180}={upper 8}"),
    ("atlassian organization", "ATCTT3xFfGN0{word 160}={upper 8}"),
    ("aws", "AKIA{upper 16}"),
    // gitleaks:azure-ad-client-secret
    ("azure ad", "{alnum 3}{digit 1}Q~{azure 31}"),
    ("bedrock", "ABSK{base64 120}"),
    ("bitbucket", "ATBB{alnum 32}"),
    ("cerebras", "csk-{lower 48}"),
    ("circleci", "CCIPAT_{alnum 22}_{hex 40}"),
    ("clickhouse", "4b1d{alnum 38}"),
    ("clojars", "CLOJARS_{lower 60}"),
    ("cloudflare ca", "v1.0-{hex 24}-{hex 146}"),
    ("databricks", "dapi{hex 32}"),
    ("digitalocean", "dop_v1_{hex 64}"),
    // kingfisher:kingfisher.discord.2; the first part is the bot's number in base64
    ("discord bot", "MT{upper 1}{alnum 21}.{word 6}.{word 38}"),
    (
        "discord webhook",
        "discord.com/api/webhooks/{digit 19}/{word 68}",
    ),
    ("docker", "dckr_pat_{word 27}"),
    ("docker organization", "dckr_oat_{word 32}"),
    ("doppler", "dp.pt.{alnum 43}"),
    ("doppler service", "dp.st.prd.{alnum 43}"),
    ("duffel", "duffel_live_{word 43}"),
    ("dynatrace", "dt0c01.{upper 24}.{upper 64}"),
    ("e2b", "e2b_{hex 40}"),
    ("easypost", "EZAK{alnum 54}"),
    ("figma", "figd_{word 40}"),
    ("flutterwave", "FLWSECK-{lower 32}-X"),
    ("flutterwave test", "FLWSECK_TEST-{hex 32}-X"),
    ("fly", "fo1_{word 43}"),
    ("frame.io", "fio-u-{word 64}"),
    ("github", "ghp_{alnum 36}"),
    ("github fine-grained", "github_pat_{alnum 22}_{alnum 59}"),
    ("gitlab", "glpat-{word 20}"),
    ("gitlab deploy", "gldt-{word 20}"),
    ("gitlab feature flags", "glffct-{word 20}"),
    ("gitlab incoming mail", "glimt-{word 25}"),
    ("gitlab job", "glcbt-{alnum 2}_{word 20}"),
    ("gitlab runner", "glrt-t1_{word 27}.{lower 9}"),
    ("google", "AIza{word 35}"),
    ("google client", "GOCSPX-{word 28}"),
    ("google refresh", "1//0{word 60}"),
    ("google access", "ya29.{word 160}"),
    ("grafana account", "glsa_{alnum 32}_{hex 8}"),
    ("grafana cloud", "glc_eyJ{base64 90}"),
    ("groq", "gsk_{alnum 52}"),
    ("heroku", "HRKU-AA{word 58}"),
    (
        "hubspot",
        "pat-na1-{hex 8}-{hex 4}-{hex 4}-{hex 4}-{hex 12}",
    ),
    ("hugging face", "hf_{letter 34}"),
    ("hugging face organization", "api_org_{letter 34}"),
    ("infracost", "ico-{alnum 32}"),
    ("jina", "jina_{alnum 60}"),
    // RFC 7519
    (
        "json web token",
        "eyJhbGciOiJIUzI1NiJ9.eyJ{word 80}.{word 43}",
    ),
    ("langfuse", "sk-lf-{hex 8}-{hex 4}-{hex 4}-{hex 4}-{hex 12}"),
    ("langsmith", "lsv2_pt_{hex 32}_{hex 10}"),
    (
        "launchdarkly",
        "api-{hex 8}-{hex 4}-4{hex 3}-{hex 4}-{hex 12}",
    ),
    (
        "launchdarkly sdk",
        "sdk-{hex 8}-{hex 4}-4{hex 3}-{hex 4}-{hex 12}",
    ),
    ("linear", "lin_api_{alnum 40}"),
    ("mailgun", "key-{hex 32}"),
    ("mapbox", "sk.eyJ{alnum 60}.{word 22}"),
    ("netlify", "nfp_{alnum 36}"),
    ("new relic", "NRAK-{upper 27}"),
    ("notion", "ntn_{digit 11}{alnum 35}"),
    ("notion secret", "secret_{alnum 43}"),
    ("npm", "npm_{alnum 36}"),
    ("nvidia", "nvapi-{word 64}"),
    ("octopus", "API-{upper 26}"),
    ("openai", "sk-proj-{word 74}T3BlbkFJ{word 74}"),
    ("openrouter", "sk-or-v1-{hex 64}"),
    ("openshift", "sha256~{word 43}"),
    ("perplexity", "pplx-{alnum 48}"),
    ("pinecone", "pcsk_{alnum 6}_{alnum 63}"),
    (
        "plaid",
        "access-production-{hex 8}-{hex 4}-{hex 4}-{hex 4}-{hex 12}",
    ),
    ("planetscale", "pscale_tkn_{word 43}"),
    ("posthog", "phx_{alnum 43}"),
    ("postman", "PMAK-{hex 24}-{hex 34}"),
    ("prefect", "pnu_{alnum 36}"),
    ("pulumi", "pul-{hex 40}"),
    ("pypi", "pypi-AgEIcHlwaS5vcmc{word 150}"),
    ("readme", "rdme_{lower 70}"),
    ("render", "rnd_{alnum 28}"),
    ("replicate", "r8_{word 37}"),
    ("resend", "re_{alnum 8}_{alnum 24}"),
    ("rubygems", "rubygems_{hex 48}"),
    ("scalingo", "tk-us-{word 48}"),
    ("sendgrid", "SG.{word 22}.{word 43}"),
    ("sendinblue", "xkeysib-{hex 64}-{alnum 16}"),
    ("sentry", "sntryu_{hex 64}"),
    ("settlemint", "sm_pat_{alnum 16}"),
    ("shippo", "shippo_live_{hex 40}"),
    ("shopify", "shpat_{hex 32}"),
    ("slack bot", "xoxb-{digit 12}-{digit 12}-{alnum 24}"),
    (
        "slack cookie",
        "xoxd-{alnum 9}%2B{alnum 60}%2F{alnum 40}%3D",
    ),
    (
        "slack webhook",
        "hooks.slack.com/services/T{upper 10}/B{upper 10}/{alnum 24}",
    ),
    ("sonarqube", "squ_{hex 40}"),
    ("sourcegraph", "sgp_{hex 16}_{hex 40}"),
    ("square", "sq0csp-{word 43}"),
    ("stripe", "sk_live_{alnum 24}"),
    ("stripe webhook", "whsec_{alnum 32}"),
    ("supabase", "sbp_{hex 40}"),
    ("tailscale", "tskey-auth-{alnum 17}-{alnum 32}"),
    ("tavily", "tvly-dev-{alnum 32}"),
    // gitleaks:telegram-bot-api-token
    ("telegram", "{digit 10}:A{word 34}"),
    ("twilio", "SK{hex 32}"),
    ("typeform", "tfp_{form 59}"),
    ("vault", "hvs.{word 95}"),
    ("xai", "xai-{alnum 80}"),
    ("yandex", "AQVN{word 36}"),
];

const PLACES: [&str; 5] = ["use § now", "x=§", "\"§\"", "§\n", "I see §."];
const EACH: u64 = 5;

/// A text with a key, and the key.
pub(crate) struct Planted {
    pub(crate) row: &'static str,
    pub(crate) text: String,
    pub(crate) key: String,
}

pub(crate) fn planted() -> Vec<Planted> {
    let mut all = Vec::new();
    for (at, (row, form)) in FORMS.iter().enumerate() {
        for (number, place) in PLACES.iter().enumerate() {
            for time in 0..EACH {
                let seed = (at * 100 + number * 10) as u64 + time;
                let key = generated(form, &mut Generator::new(seed));
                let text = place.replace('§', &key);
                all.push(Planted { row, text, key });
            }
        }
    }
    all
}

fn generated(form: &str, generator: &mut Generator) -> String {
    let mut parts = form.split('{');
    let mut key = parts.next().unwrap().to_owned();
    for part in parts {
        let (class, behind) = part.split_once('}').unwrap();
        let (class, count) = class.split_once(' ').unwrap();
        key += &generator.from(alphabet(class), count.parse().unwrap());
        key += behind;
    }
    key
}

fn alphabet(class: &str) -> &'static str {
    match class {
        "digit" => "0123456789",
        "hex" => "0123456789abcdef",
        "lower" => "abcdefghijklmnopqrstuvwxyz0123456789",
        "upper" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "letter" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "alnum" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "word" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
        "base64" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "azure" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_~.-",
        "form" => "abcdefghijklmnopqrstuvwxyz0123456789-_.=",
        _ => unreachable!("no class is called {class}"),
    }
}
