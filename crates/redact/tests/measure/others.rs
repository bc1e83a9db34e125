//! Texts without secrets that look as if they had some. Each `{…}` is generated
//! anew: hashes, ids, names, numbers.

use crate::generate::{DIGITS, Generator, LOWER, UPPER};

/// Row, templates.
pub(crate) const ROWS: &[(&str, &[&str])] = &[
    (
        "git hashes",
        &[
            "commit {hex40}\nAuthor: Bob",
            "Merge: {hex7} {hex7}",
            "index {hex7}..{hex7} 100644",
            "[main {hex7}] Fix the login token",
            "git show {hex40} # token handling",
            "HEAD is now at {hex7} password reset page",
        ],
    ),
    (
        "digests",
        &[
            "sha256:{hex64}",
            "image: nginx@sha256:{hex64}",
            "\"integrity\": \"sha512-{base64}\"",
            "{hex64}  archive.tar.gz",
            "md5: {hex32}",
            "etag: \"{hex32}\"",
            "checksum = \"{hex64}\"",
            "h1:{base64}=",
        ],
    ),
    (
        "uuids",
        &[
            "id: {uuid}",
            "\"session_id\": \"{uuid}\"",
            "request {uuid} took 3 ms",
            "key: {uuid}",
            "trace_id={uuid} span_id={hex16}",
            "{\"uuid\":\"{uuid}\",\"parentUuid\":\"{uuid}\"}",
        ],
    ),
    (
        "identifiers of calls",
        &[
            "\"tool_use_id\": \"toolu_01{alnum22}\"",
            "\"id\": \"msg_01{alnum22}\"",
            "\"call_id\": \"call_{alnum24}\"",
            "chatcmpl-{alnum29}",
            "resp_{hex48}",
            "req_011{alnum21}",
        ],
    ),
    (
        "paths",
        &[
            "/var/run/secrets/kubernetes.io/serviceaccount/token",
            "PASSWORD_FILE=/run/secrets/{word}_{n}",
            "password_file: /etc/{word}/pw{n}.txt",
            "token: ./{word}/{word}{n}.json",
            "secret: ~/.{word}/{word}{n}",
            "key = C:\\{word}\\{Word}{n}.pem",
            "private_key: certs/{word}{n}.pem",
            "src/auth/{word}Password{n}.ts",
        ],
    ),
    (
        "placeholders",
        &[
            "{UP}=changeme",
            "{UP}=your-{word}-here",
            "{low}: <your {word} here>",
            "{low} = \"***\"",
            "{UP}=xxxxxxxxxxxxxxxx",
            "\"{low}\": \"YOUR_{WORD}_KEY\"",
            "{low}: REPLACE_ME",
            "{UP}=",
            "{low}: \"\"",
            "{UP}=<{WORD}>",
            "{low}: example-{word}",
            "{low}: [redacted:secret#1]",
            "{low}: ********",
            "{low}: '...'",
        ],
    ),
    (
        "environment references",
        &[
            "{UP}=${{WORD}_{UP}}",
            "{low}: ${{UP}}",
            "{low}: \"{{ {word}_{low}{n} }}\"",
            "{low} = os.environ[\"{UP}\"]",
            "{camel}: process.env.{UP}",
            "{low} = ENV['{UP}']",
            "{UP}=$({word} read {word}{n})",
            "--{dash} $",
            "--{dash} \"${UP}\"",
            "{low}: !vault {word}{n}",
            "$env:{UP}",
            "{low} = getenv(\"{UP}\")",
            "{low}: %env({UP})%",
            "{UP}=%{UP}_{n}%",
        ],
    ),
    (
        "references of CI and templates",
        &[
            "{low}: ${{ secrets.{UP} }}",
            "{low}: \"{{ .Values.{word}.{camel}{n} }}\"",
            "{low} = var.{word}_{low}",
            "{low} = data.{word}_{low}.x.{word}{n}",
            "{low}: <%= {word}[:{low}{n}] %>",
            "{low}: arn:aws:secretsmanager:eu-west-1:123456789012:secret:{word}-{alnum6}",
            "{low}: op://{word}/{word}{n}/{low}",
            "secretKeyRef:\n  name: {word}-{n}\n  key: {low}",
            "valueFrom: {word}/{low}{n}",
        ],
    ),
    (
        "code",
        &[
            "let {low} = get_{low}(&{word});",
            "{camel} = {word}.{camel}",
            "if {camel} == null || {camel}.length < 8 {",
            "self.{low} = {low}",
            "const {camel} = await fetch{Pascal}({word}{n})",
            "{low} = request.form.get('{low}')",
            "func check{Pascal}({camel} string) bool {",
            "return hash({camel}, salt{n})",
            "assert {low} != old_{low}{n}",
            "{camel}: {Pascal}Config{n},",
            "new {Pascal}Provider({word}{n})",
            "{low} = args.{low}",
            "let {camel} = useState{n}('')",
            "{low}={low}, user={word}{n}",
        ],
    ),
    (
        "types",
        &[
            "{low}: string",
            "{low}: Option<String>,",
            "{camel}?: string;",
            "{camel}: {Pascal}Type;",
            "private String {camel};",
            "{low}: str = Field(..., min_length=8)",
            "{low} VARCHAR(255) NOT NULL",
            "{low} = models.CharField(max_length=128)",
            "{camel} String @unique",
            "{low} text,",
            "type {Pascal} = {Word}{Word}",
            "{low}: impl Into<String>",
        ],
    ),
    (
        "class names",
        &[
            "class {Word}TokenProvider",
            "import {Word}PasswordEncoder",
            "{Word}{Word}Token",
            "token: {Word}{Word}Parser",
            "secret: {Word}Manager",
            "org.{word}.{Word}SecretFactory",
            "{Word}PasswordResetView.as_view()",
            "password: Password{Word}Input",
        ],
    ),
    (
        "versions",
        &[
            "token v{n}.{n}.1",
            "secret-manager=={n}.1.{n}",
            "password-hash {n}.0.1-rc{n}",
            "\"tokenizers\": \"^0.{n}.{n}\"",
            "api key v2 of {n}.{n}",
            "ghcr.io/{word}/token-service:{n}.{n}.{n}",
            "keyring@{n}.2.1",
        ],
    ),
    (
        "counts of tokens",
        &[
            "max_tokens: {num}",
            "\"input_tokens\": {num}",
            "total_tokens={num}",
            "{num} tokens used",
            "\"cache_read_input_tokens\":{num},\"output_tokens\":{num}",
            "tokens: {num} / {num}",
            "token limit {num}",
            "--max-tokens {num}",
        ],
    ),
    (
        "ssh public keys",
        &[
            "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ{alnum300} bob@host",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{alnum43} {word}",
            "key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{alnum43}",
            "ssh_key = \"ssh-rsa AAAAB3NzaC1yc2E{alnum200}\"",
            "SHA256:{alnum43} bob@host (ED25519)",
            "github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{alnum43}",
            "-----BEGIN PUBLIC KEY-----\n{alnum64}\n{alnum64}\n-----END PUBLIC KEY-----",
            "-----BEGIN CERTIFICATE-----\n{alnum64}\n{alnum64}\n-----END CERTIFICATE-----",
        ],
    ),
    (
        "ids of keys",
        &[
            "key_id: {hex16}",
            "kid = \"{uuid}\"",
            "\"keyId\": \"{alnum20}\"",
            "gpg: using RSA key {HEX40}",
            "gpg: key {HEX16}: public key imported",
            "public_key: {base64}",
            "key fingerprint {HEX40}",
            "PUBLIC_KEY={alnum40}",
            "\"kid\": \"{alnum27}\"",
            "token_id: {uuid}",
            "client_id={alnum20}",
            "secret_name: {word}-{n}",
            "secret_id: {uuid}",
            "token_type=bearer{n}",
        ],
    ),
    (
        "keys of tables and stores",
        &[
            "primary key: {word}_pk_{n}",
            "cache key: user:{n}:{word}:v2",
            "key: {word}-cache-linux-x64-node{n}-v3",
            "{\"key\": \"{word}:{n}:profile:v2\"}",
            "partition_key={word}#{n}",
            "sort_key: created#2026-{n}",
            "the S3 key is `{word}/2026/{n}/report.pdf`",
            "<li key={item{n}.id}>",
            "key: 'Arrow{Word}'",
            "objectKey: \"{word}/{word}{n}.png\"",
            "cacheKey = `{word}-{n}`",
            "redis key session:{hex8}:cart",
            "idempotency_key: {uuid}",
        ],
    ),
    (
        "prose about passwords",
        &[
            "The password must have at least {n} characters.",
            "Your password was changed {n} days ago.",
            "Choose a password with letters and digits.",
            "password policy: min{n}-chars",
            "The token expired after {n} minutes.",
            "I fixed the password reset in src/{word}{n}.rs.",
            "The secret is rotated every {n} days",
            "the password is required",
            "the API key is stored in the {word} vault",
            "Reset the password on page {n}.",
            "we store the token in localStorage",
            "the password is base64-encoded",
            "the password field is empty",
            "password: see the wiki, page {n}",
            "Use a password manager such as {word}{n}.",
            "The password is checked by {low}_{n}().",
            "the token is missing",
            "the password is hashed with argon2id",
        ],
    ),
    (
        "prose about other work",
        &[
            "I reset it to {hex7} because the password page broke.",
            "The password form was moved to v{n}.",
            "I changed the password policy and the image to node{n}-alpine.",
            "The secret store runs on Debian{n}.",
            "token counting was switched to o200k",
            "I set the timeout of the token to {num}",
            "password reset opens ticket {WORD}-{n}",
            "The login uses OAuth2 and {Word}2FA",
            "See {Word}Test{n} for the token tests",
            "rename token to {word}_{n} in the parser",
        ],
    ),
    (
        "forms and labels",
        &[
            "\"password\": \"Passwort\"",
            "\"password\": \"Enter your password\"",
            "<label for=\"password\">Password</label>",
            "<input type=\"password\" name=\"pw\" id=\"pw{n}\">",
            "placeholder=\"Password\"",
            "\"forgotPassword\": \"Forgot your password?\"",
            "password: \"Password must match\"",
            "label: 'API key', hint: 'Find it under settings {n}'",
            "\"token\": \"Token invalide\"",
            "errors.password: is too short (minimum {n})",
            "{ name: 'password', type: 'password', label: 'Passwort' }",
        ],
    ),
    (
        "rules of validation",
        &[
            "'password' => 'required|string|min:{n}|confirmed',",
            "password: { type: String, required: true, minlength: {n} }",
            "\"password\": {\"type\": \"string\", \"minLength\": {n}}",
            "password: Joi.string().min({n})",
            "password: z.string().min({n})",
            "| password | string | yes |",
            "| `token` | string | The token to use ({n}) |",
            "--password <PASSWORD>  The password",
            "  -p, --password string   Password (default {n})",
        ],
    ),
    (
        "lexers and tokenizers",
        &[
            "Token(kind=IDENT, value={word}{n})",
            "\"eos_token\": \"<|endoftext|>\"",
            "token = lexer.next_token()",
            "TOKEN_{WORD}: {n}",
            "tokens = [\"let\", \"{word}{n}\", \"=\"]",
            "\"token\": \"{word}{n}\"",
            "token: IDENT_{n}",
            "expected token {Word}{n} but found {Word}",
            "\"bos_token_id\": {num}",
            "csrf_token()",
            "for token in tokens{n}:",
        ],
    ),
    (
        "keyboard and i18n keys",
        &[
            "key: \"Ctrl+Shift+{n}\"",
            "t('auth.password.{word}{n}')",
            "\"auth.password.reset{n}\": \"Reset\"",
            "key=\"{word}.{word}.{n}\"",
            "e.key === 'Enter{n}'",
            "i18nKey=\"{word}:{word}{n}\"",
        ],
    ),
    (
        "addresses without a secret",
        &[
            "https://h.example.com:8080/a/b@c",
            "git@github.com:{word}/{word}{n}.git",
            "ssh://git@h:22/{word}",
            "http://localhost:{num}/@scope/pkg",
            "postgres://localhost:5432/{word}{n}",
            "postgres://user:password@localhost/x",
            "mailto:bob{n}@example.com",
            "https://u:${PASS}@h/x",
            "redis://{word}:6379/{n}",
            "https://h/x?page={n}&sort=token",
            "postgres://{{user}}:{{pass{n}}}@h/x",
        ],
    ),
    (
        "urls of secrets' pages",
        &[
            "https://github.com/settings/tokens/{num}",
            "https://h/docs/api-key?v={n}#token",
            "https://h/reset-password/{word}",
            "https://h/{word}/commit/{hex40}",
            "https://cdn.example.com/{hex20}.js",
        ],
    ),
    (
        "data in base64",
        &[
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg{alnum200}",
            "\"blob\": \"{base64}{base64}\"",
            "\"thinking_signature\": \"Er{base64}{base64}\"",
            "sourceMappingURL=data:application/json;base64,{alnum200}",
        ],
    ),
    (
        "numbers and times",
        &[
            "token expires: 2026-11-{n}T10:00:00Z",
            "key = 1979-05-27T07:{n}:00",
            "secret santa 2026-12-{n}",
            "pass: {n} fail: 3",
            "PASS: {n} tests in {n} ms",
            "passed {n}, failed 0",
            "token #{num}",
            "api key 3 of {n}",
            "PASS=3 FAIL={n}",
        ],
    ),
    (
        "tests and their output",
        &[
            "PASS src/{word}/{word}{n}.test.ts",
            "test password::{word}_{n} ... ok",
            "ok {n} - token is refreshed",
            "--- PASS: Test{Word}{n} (0.00s)",
            "✓ resets the password ({n} ms)",
            "it('rejects password {n}')",
            "describe(\"token {word}{n}\")",
        ],
    ),
    (
        "options without a value",
        &[
            "run --password --user bob{n}",
            "run --token-file {word}{n}.txt",
            "mysql -u root -p app{n}",
            "docker run -p {num}:{num} {word}",
            "ssh -p 2222 bob@h{n}",
            "cp -p {word}{n} b",
            "curl -u user:password https://h",
            "tar -pxzf {word}{n}.tgz",
            "sort -u {word}{n}",
            "mkdir -pv {word}{n}",
            "--secret id={word},src={word}{n}.txt",
            "grep -a {word}{n} file",
            "redis-cli -h h -n {n}",
        ],
    ),
    (
        "shell folders",
        &[
            "PWD=/srv/{word}{n}",
            "OLDPWD=/opt/{word}-v{n}",
            "PWD=~/{word}{n}",
            "{\"PWD\": \"/tmp/tmp.{alnum8}\"}",
            "cd $PWD/{word}{n}",
            "declare -x OLDPWD=\"/srv/{word}\"",
        ],
    ),
    (
        "kubernetes without secrets",
        &[
            "kind: ConfigMap\ndata:\n  user: {word}{n}\n",
            "kind: SecretStore\ndata:\n  user: {word}{n}\n",
            "secret/{word}-{n} created",
            "default-token-{word}   kubernetes.io/service-account-token   3   5d",
            "imagePullSecrets:\n- name: {word}{n}",
            "secretName: {word}-tls-{n}",
            "tokenReviews.{word}{n}.k8s.io",
        ],
    ),
    (
        "minified code",
        &[
            "e.password=t.password,n.token=r{n}.token;",
            "var t=e.token,n=\"{word}{n}\";",
            "password:function(e){return e.{word}{n}}",
            "key:\"{word}{n}\",value:t",
            "{token:e,secret:t}=this.{word}{n}",
            "a.setPassword(b.{word}{n})",
        ],
    ),
    (
        "hashes beside names",
        &[
            "password reset commit {hex7}",
            "fix token refresh ({hex7})",
            "token tests pass at {hex40}",
            "password page: {hex40}",
            "secret: sha256:{hex64}",
            "uses: {word}/token-action@{hex40}",
            "the commit is:\n{hex40}\n",
        ],
    ),
    (
        "css and markup",
        &[
            "class=\"sk-loading-{word}-{n}\"",
            ".password-input-{word}{n} { color: #{hex6} }",
            "<Password{Word} id=\"x{n}\"/>",
            "id=\"token-{word}-{n}\"",
            "data-key=\"{word}-{n}\"",
            "--token-color: #{hex6};",
            "token: \"#{hex6}\"",
            "aria-label=\"password {n}\"",
        ],
    ),
    (
        "login at vendors",
        &[
            "log in with github/oauth2",
            "sign in with SAML / OAuth2.0",
            "login as bob@h{n}",
            "Login with username / password",
            "log in as root on {word}{n}",
            "auth: basic, digest{n}",
            "creds: ~/.aws/credentials{n}",
        ],
    ),
    (
        "statements that ask for one",
        &[
            "SELECT password FROM users WHERE username = '{word}{n}'",
            "select {low} from {word} where name = '{word}{n}'",
            "AUTH SCRAM-SHA-256",
            "API_SECRET=$K8S_SVC_ACCT_TKN2",
        ],
    ),
];

/// One text without a secret.
pub(crate) struct Innocent {
    pub(crate) row: &'static str,
    pub(crate) text: String,
}

const NAMES: [&str; 6] = [
    "password",
    "api key",
    "token",
    "client secret",
    "access token",
    "db password",
];

/// How many texts are made of each template.
const EACH: u64 = 8;

pub(crate) fn innocent() -> Vec<Innocent> {
    let mut all = Vec::new();
    for (at, (row, templates)) in ROWS.iter().enumerate() {
        for (number, template) in templates.iter().enumerate() {
            for time in 0..EACH {
                let mut generator =
                    Generator::new((at * 10_000 + number * 100) as u64 + time + 500_000);
                all.push(Innocent {
                    row,
                    text: filled(template, &mut generator),
                });
            }
        }
    }
    all
}

fn filled(template: &str, generator: &mut Generator) -> String {
    let name = generator.pick(&NAMES).to_owned();
    let words: Vec<&str> = name.split(' ').collect();
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let pascal: String = words.iter().map(|word| capital(word)).collect();
    let mut out = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, behind) = rest.split_at(open);
        out.push_str(before);
        let close = behind.find('}').unwrap_or(behind.len()).max(1);
        let inner = behind.get(1..close).unwrap_or_default();
        let length = |kind: &str| inner.strip_prefix(kind).and_then(|n| n.parse().ok());
        let generated = match inner {
            "UP" => Some(words.join("_").to_uppercase()),
            "low" => Some(words.join("_")),
            "camel" => Some(words[0].to_owned() + &pascal[words[0].len()..]),
            "dash" => Some(words.join("-")),
            "Pascal" => Some(pascal.clone()),
            "word" => Some(generator.word().to_owned()),
            "Word" => Some(generator.capital()),
            "WORD" => Some(generator.word().to_uppercase()),
            "n" => Some(generator.number()),
            "num" => Some((1_000 + generator.below(180_000)).to_string()),
            "uuid" => Some(generator.uuid()),
            "base64" => Some(generator.from(&format!("{UPPER}{LOWER}{DIGITS}+/"), 86)),
            _ => length("hex")
                .map(|n| generator.hex(n))
                .or_else(|| length("HEX").map(|n| generator.hex(n).to_uppercase()))
                .or_else(|| length("alnum").map(|n| generator.alnum(n))),
        };
        match generated {
            Some(generated) => {
                out.push_str(&generated);
                rest = &behind[close + 1..];
            }
            None => {
                out.push('{');
                rest = &behind[1..];
            }
        }
    }
    out + rest
}
