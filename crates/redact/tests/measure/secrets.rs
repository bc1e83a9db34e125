//! Secrets in many syntaxes. In a template `§` is the value, and the name stands
//! in one of its spellings: `{UP}` `API_KEY`, `{low}` `api_key`, `{camel}`
//! `apiKey`, `{dash}` `api-key`, `{Pascal}` `ApiKey`, `{say}` `api key`.

use crate::generate::{Generator, KEYS, PASSWORDS, value};

/// What a template's name and value are.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Sort {
    Password,
    Key,
    /// Of a password, then of a key.
    Both,
}

use Sort::{Both, Key, Password};

const PASSWORD_NAMES: [&str; 10] = [
    "password",
    "db password",
    "admin password",
    "passwd",
    "smtp password",
    "db passwd",
    "user pwd",
    "root password",
    "ldap bind password",
    "keystore password",
];
const KEY_NAMES: [&str; 12] = [
    "api key",
    "token",
    "secret",
    "client secret",
    "access token",
    "auth token",
    "secret key",
    "webhook secret",
    "signing key",
    "private token",
    "app secret",
    "refresh token",
];
/// How a password is called where people write, not programs.
const SAID_PASSWORDS: [&str; 6] = [
    "password",
    "db password",
    "admin password",
    "wifi password",
    "root password",
    "new password",
];
const SAID_KEYS: [&str; 5] = [
    "api key",
    "access token",
    "api token",
    "client secret",
    "secret key",
];

/// Row, sort, templates.
pub(crate) const ROWS: &[(&str, Sort, &[&str])] = &[
    (
        "env file",
        Both,
        &["{UP}=§", "A=1\n{UP}=§\nB=2\n", "{UP}='§'\n", "{UP}=\"§\"\n"],
    ),
    (
        "shell export",
        Both,
        &[
            "export {UP}=§",
            "export {UP}=\"§\"",
            "$ export {UP}='§' && make",
            "declare -x {UP}=\"§\"",
        ],
    ),
    (
        "shell inline",
        Both,
        &[
            "{UP}=§ ./run --fast",
            "{UP}='§' npm start",
            "env {UP}=§ cargo run",
        ],
    ),
    (
        "fish and csh",
        Both,
        &["set -x {UP} §", "setenv {UP} §", "set -gx {UP} '§'"],
    ),
    (
        "windows shell",
        Both,
        &[
            "set {UP}=§",
            "setx {UP} \"§\"",
            "$env:{UP} = \"§\"",
            "$Env:{UP}='§'",
        ],
    ),
    (
        "dockerfile",
        Both,
        &["ENV {UP}=§", "ENV {UP} §", "ARG {UP}=§"],
    ),
    (
        "docker option",
        Both,
        &[
            "docker run -e {UP}=§ img",
            "docker run --env {UP}=§ -d img",
            "docker run -e \"{UP}=§\" img",
        ],
    ),
    (
        "compose list",
        Both,
        &[
            "    environment:\n      - {UP}=§\n      - B=1",
            "  - \"{UP}=§\"\n",
        ],
    ),
    (
        "compose map",
        Both,
        &[
            "    environment:\n      {UP}: §\n      B: 1",
            "environment:\n  {UP}: \"§\"\n",
        ],
    ),
    (
        "systemd",
        Both,
        &[
            "[Service]\nEnvironment={UP}=§\n",
            "Environment=\"{UP}=§\"\n",
        ],
    ),
    (
        "yaml",
        Both,
        &[
            "{low}: §\n",
            "db:\n  {low}: §\n  host: x\n",
            "- {dash}: §\n",
        ],
    ),
    (
        "yaml quoted",
        Both,
        &[
            "{low}: \"§\"\n",
            "  {camel}: '§'\n",
            "{dash}: '§' # rotate\n",
        ],
    ),
    (
        "yaml block",
        Both,
        &[
            "{low}: |\n  §\nnext: 1\n",
            "{low}: >-\n  §\n",
            "{low}:\n  §\nnext: x\n",
        ],
    ),
    (
        "yaml flow",
        Both,
        &[
            "{ user: bob, {low}: §, host: db }",
            "{ user: bob, {low}: '§' }",
        ],
    ),
    (
        "json",
        Both,
        &[
            "{\"{low}\": \"§\"}",
            "{\"user\":\"bob\",\"{camel}\":\"§\",\"n\":1}",
            "{\n  \"{Pascal}\": \"§\",\n  \"b\": 2\n}",
        ],
    ),
    (
        "json escaped",
        Both,
        &[
            "{\\\"{low}\\\": \\\"§\\\"}",
            "\"body\": \"{\\\"{camel}\\\":\\\"§\\\"}\"",
            "{\\\\\\\"{low}\\\\\\\":\\\\\\\"§\\\\\\\"}",
        ],
    ),
    (
        "json5 and js object",
        Both,
        &[
            "{ {camel}: '§', port: 1 }",
            "const c = {{camel}:\"§\"};",
            "  '{dash}': '§',\n",
        ],
    ),
    (
        "toml",
        Both,
        &[
            "{low} = \"§\"\n",
            "[db]\n{low} = '§'\nport = 1\n",
            "{dash} = \"\"\"§\"\"\"\n",
        ],
    ),
    (
        "ini",
        Both,
        &["[db]\n{low} = §\nhost = x\n", "{low}=§\n", "{low} : §\n"],
    ),
    (
        "properties",
        Both,
        &[
            "spring.datasource.{low}=§\n",
            "app.mail.{camel}=§\n",
            "x.{dash}: §\n",
        ],
    ),
    (
        "xml element",
        Both,
        &[
            "<{low}>§</{low}>",
            "<db>\n  <{camel}>§</{camel}>\n</db>",
            "<{Pascal}>\n  §\n</{Pascal}>",
        ],
    ),
    (
        "xml attribute",
        Both,
        &["<db user=\"bob\" {low}=\"§\"/>", "<x {camel}='§' y='1'>"],
    ),
    (
        "xml key value",
        Both,
        &[
            "<add key=\"{Pascal}\" value=\"§\" />",
            "<property name=\"{low}\" value=\"§\"/>",
            "<entry key=\"{low}\">§</entry>",
            "<key>{camel}</key>\n<string>§</string>",
        ],
    ),
    (
        "hcl",
        Both,
        &[
            "resource \"x\" \"y\" {\n  {low} = \"§\"\n}",
            "variable \"{low}\" {\n  default = \"§\"\n}",
        ],
    ),
    (
        "terraform plan",
        Both,
        &[
            "  + {low} = \"§\"",
            "  ~ {low} = \"old\" -> \"§\"",
            "{low} = \"§\" -> null",
        ],
    ),
    (
        "diff",
        Both,
        &[
            "+{UP}=§",
            "-  {low}: §\n+  {low}: ${X}",
            "+    \"{camel}\": \"§\",",
        ],
    ),
    (
        "grep output",
        Both,
        &[
            "config/app.yml:12:  {low}: §",
            ".env:3:{UP}=§",
            "    12\t{low} = \"§\"",
            "  7→{UP}=§",
        ],
    ),
    (
        "javascript",
        Both,
        &[
            "const {camel} = \"§\";",
            "let {camel} = '§'",
            "config.{camel} = `§`;",
            "export const {UP} = '§'",
            "this.{camel} = \"§\";",
        ],
    ),
    (
        "typescript",
        Both,
        &["const {camel}: string = \"§\";", "private {camel} = '§';"],
    ),
    (
        "python",
        Both,
        &[
            "{low} = \"§\"",
            "{UP} = '§'",
            "self.{low} = \"§\"",
            "{low}: str = '§'",
            "os.environ[\"{UP}\"] = \"§\"",
        ],
    ),
    (
        "keyword argument",
        Both,
        &[
            "connect(host=\"db\", {low}=\"§\")",
            "Client({low}='§', timeout=3)",
            "f({camel}: \"§\")",
        ],
    ),
    (
        "go",
        Both,
        &[
            "{camel} := \"§\"",
            "var {camel} string = \"§\"",
            "Config{{Pascal}: \"§\"}",
            "os.Setenv(\"{UP}\", \"§\")",
        ],
    ),
    (
        "rust",
        Both,
        &[
            "let {low} = \"§\";",
            "const {UP}: &str = \"§\";",
            "let {low} = String::from(\"§\");",
            ".{low}(\"§\")",
        ],
    ),
    (
        "java and c#",
        Both,
        &[
            "String {camel} = \"§\";",
            "private static final String {UP} = \"§\";",
            "props.setProperty(\"{low}\", \"§\");",
            "var {camel} = \"§\";",
        ],
    ),
    (
        "setter",
        Both,
        &[
            "user.set{Pascal}(\"§\");",
            "builder.with_{low}(\"§\")",
            "opts.{camel}('§')",
        ],
    ),
    (
        "php",
        Both,
        &[
            "${low} = '§';",
            "'{low}' => '§',",
            "define('{UP}', '§');",
            "$config['{low}'] = \"§\";",
        ],
    ),
    (
        "ruby and perl",
        Both,
        &[
            "{low}: \"§\",",
            ":{low} => '§'",
            "ENV['{UP}'] = '§'",
            "my ${low} = '§';",
        ],
    ),
    (
        "c, swift, kotlin, r",
        Both,
        &[
            "#define {UP} \"§\"",
            "let {camel} = \"§\"",
            "val {camel}: String = \"§\"",
            "{low} <- \"§\"",
            "const char *{low} = \"§\";",
        ],
    ),
    (
        "fallback",
        Both,
        &[
            "const x = process.env.{UP} || '§';",
            "os.getenv(\"{UP}\", \"§\")",
            "env.{UP} ?? \"§\"",
            "os.environ.get('{UP}', '§')",
            "${{UP}:-§}",
        ],
    ),
    (
        "joined strings",
        Key,
        &[
            "{camel} = \"§\" +\n  \"and7Rest9\"",
            "{low} = (\"§\"\n  \"b\")",
        ],
    ),
    (
        "long option",
        Both,
        &[
            "run --{dash} § --fast",
            "run --{dash}=§ x",
            "tool --{dash} '§'",
            "tool --{dash}=\"§\" y",
        ],
    ),
    (
        "option list",
        Both,
        &[
            "[\"run\", \"--{dash}\", \"§\"]",
            "args: ['--{dash}=§', 'x']",
            "[\"run\",\"--{dash}\",\"§\",\"x\"]",
        ],
    ),
    (
        "curl user",
        Password,
        &[
            "curl -u admin:§ https://h/api",
            "curl -sS -u 'admin:§' https://h",
            "curl --user admin:§ https://h",
            "curl -X POST \\\n  -u \"admin:§\" h",
        ],
    ),
    (
        "mysql",
        Password,
        &[
            "mysql -u root -p§ app",
            "mysqldump -uroot -p'§' app > a.sql",
            "mysql -h db -u app -p\"§\" shop",
        ],
    ),
    (
        "sshpass",
        Password,
        &[
            "sshpass -p § ssh root@h",
            "sshpass -p '§' scp a h:b",
            "cd x && sshpass -p\"§\" ssh h",
        ],
    ),
    (
        "docker login",
        Password,
        &[
            "docker login -u me -p § registry.example.com",
            "podman login --username me --password § r",
            "echo § | docker login -u me --password-stdin",
        ],
    ),
    (
        "redis and others",
        Password,
        &[
            "redis-cli -h h -a § ping",
            "redis-cli -a '§' info",
            "PGPASSWORD=§ psql -h db",
            "smbclient //h/share -U me%§",
            "htpasswd -b file bob §",
            "openssl enc -k '§' -in x",
            "openssl rsa -passin pass:§ -in k.pem",
            "keytool -genkey -storepass § -alias a",
            "zip -P '§' a.zip b",
        ],
    ),
    (
        "piped",
        Password,
        &[
            "echo '§' | sudo -S apt update",
            "echo § | sudo -S true",
            "echo 'bob:§' | chpasswd",
            "echo '§' | passwd --stdin bob",
        ],
    ),
    (
        "windows accounts",
        Password,
        &[
            "net user bob § /add",
            "net use Z: \\\\h\\s § /user:bob",
            "cmdkey /add:h /user:bob /pass:§",
            "ConvertTo-SecureString '§' -AsPlainText -Force",
            "ConvertTo-SecureString \"§\" -AsPlainText",
        ],
    ),
    (
        "kubectl",
        Both,
        &[
            "kubectl create secret generic x --from-literal={low}=§",
            "kubectl create secret generic x --from-literal={dash}='§'",
            "helm install x --set {camel}=§",
        ],
    ),
    (
        "k8s env",
        Both,
        &[
            "- name: {UP}\n  value: §\n",
            "- name: {UP}\n  value: \"§\"\n",
            "{\"name\":\"{UP}\",\"value\":\"§\"}",
            "- value: '§'\n  name: {UP}\n",
        ],
    ),
    (
        "name and value",
        Both,
        &[
            "{\"ParameterKey\": \"{Pascal}\", \"ParameterValue\": \"§\"}",
            "{\"Name\": \"{UP}\", \"Value\": \"§\"}",
            "{\"key\": \"{low}\", \"value\": \"§\", \"type\": \"text\"}",
            "ParameterKey={Pascal},ParameterValue=§",
        ],
    ),
    (
        "k8s secret",
        Both,
        &[
            "apiVersion: v1\nkind: Secret\ndata:\n  conn: §\n",
            "kind: Secret\nmetadata:\n  name: x\nstringData:\n  conn: \"§\"\n",
        ],
    ),
    (
        "bearer header",
        Key,
        &[
            "Authorization: Bearer §",
            "-H 'Authorization: Bearer §' https://h",
            "\"Authorization\": \"Bearer §\"",
            "authorization: bearer §\r\n",
        ],
    ),
    (
        "scheme header",
        Key,
        &[
            "Authorization: Token §",
            "Authorization: ApiKey §",
            "'Authorization': 'token §'",
        ],
    ),
    (
        "key header",
        Key,
        &[
            "X-API-Key: §",
            "-H \"X-Auth-Token: §\"",
            "x-api-key: §\r\n",
            "\"x-api-key\": \"§\"",
            "PRIVATE-TOKEN: §",
        ],
    ),
    (
        "cookie",
        Key,
        &[
            "Set-Cookie: session=§; Path=/; HttpOnly",
            "Cookie: theme=dark; sid=§",
            "-H 'Cookie: session_id=§'",
        ],
    ),
    (
        "query",
        Key,
        &[
            "https://h/p?{low}=§&x=1",
            "GET /a?x=1&{low}=§ HTTP/1.1",
            "https://h/?{camel}=§",
        ],
    ),
    (
        "form body",
        Both,
        &[
            "-d 'user=bob&{low}=§'",
            "user=bob&{low}=§",
            "{low}=§&grant_type=x",
        ],
    ),
    (
        "address",
        Password,
        &[
            "postgres://app:§@db:5432/x",
            "https://bob:§@h.example.com/r.git",
            "redis://:§@h:6379/0",
            "mongodb+srv://u:§@c.example.net/x",
            "amqp://guest:§@h/",
            "DATABASE_URL=mysql://root:§@127.0.0.1/a",
        ],
    ),
    (
        "address token",
        Key,
        &[
            "https://§@github.com/o/r.git",
            "https://oauth2:§@gitlab.com/o/r.git",
            "https://x-access-token:§@github.com/o/r",
        ],
    ),
    (
        "go data source",
        Password,
        &[
            "app:§@tcp(127.0.0.1:3306)/shop",
            "dsn := \"root:§@tcp(db)/x?parseTime=true\"",
        ],
    ),
    (
        "connection string",
        Password,
        &[
            "Server=h;Database=d;User Id=u;Password=§;",
            "\"Data Source=h;User=u;Pwd=§;Encrypt=true\"",
            "jdbc:sqlserver://h;user=u;password=§;",
            "AccountName=x;AccountKey=§;EndpointSuffix=y",
        ],
    ),
    (
        "libpq",
        Password,
        &[
            "host=h user=u password=§ dbname=d",
            "psql \"host=h password=§ sslmode=require\"",
            "jdbc:postgresql://h/d?user=u&password=§",
        ],
    ),
    (
        "netrc",
        Password,
        &[
            "machine h.example.com login bob password §",
            "machine h\n  login bob\n  password §\n",
        ],
    ),
    (
        "pgpass",
        Password,
        &[
            "localhost:5432:mydb:bob:§\n",
            "db.internal:5432:*:app:§\n",
            "*:*:*:bob:§\n",
        ],
    ),
    (
        "tool files",
        Key,
        &[
            "//registry.npmjs.org/:_authToken=§\n",
            "[pypi]\nusername = __token__\npassword = §\n",
            "aws_secret_access_key = §\n",
            "[default]\naws_session_token=§\n",
            "machine api.h login x password §\n",
            "credentials \"app.terraform.io\" {\n  token = \"§\"\n}",
            "[http \"h\"]\n  extraheader = AUTHORIZATION: bearer §",
        ],
    ),
    (
        "my.cnf and wifi",
        Password,
        &[
            "[client]\nuser=root\npassword=§\n",
            "network={\n  ssid=\"x\"\n  psk=\"§\"\n}",
            "wpa_passphrase=§\n",
            "requirepass §\n",
            "masterauth §\n",
        ],
    ),
    (
        "sql user",
        Password,
        &[
            "CREATE USER bob IDENTIFIED BY '§';",
            "ALTER USER 'bob'@'%' IDENTIFIED WITH mysql_native_password BY '§';",
            "CREATE ROLE app WITH LOGIN PASSWORD '§';",
            "ALTER ROLE app PASSWORD '§'",
            "SET PASSWORD FOR 'bob'@'%' = PASSWORD('§');",
            "CREATE LOGIN bob WITH PASSWORD = N'§';",
        ],
    ),
    (
        "sql insert",
        Password,
        &[
            "INSERT INTO users (name, password) VALUES ('bob', '§');",
            "insert into t(id, password, n) values (1, '§', 'x')",
            "UPDATE users SET password='§' WHERE id=1",
        ],
    ),
    (
        "markdown table",
        Both,
        &[
            "| user | {say} |\n|---|---|\n| bob | § |\n",
            "| {say} | § |",
            "| {say} | `§` |\n",
            "| **{say}** | `§` | x |",
        ],
    ),
    (
        "separated values",
        Both,
        &[
            "user,{low}\nbob,§\n",
            "id;{low};x\n1;§;y\n",
            "name\t{low}\nbob\t§\n",
        ],
    ),
    (
        "database output",
        Both,
        &[
            " user | {low} \n------+----------\n bob  | §\n",
            "+------+------+\n| id | {low} |\n+------+------+\n| 1 | § |\n",
            "│ id │ {low} │\n├────┼─────┤\n│ 1 │ § │\n",
        ],
    ),
    (
        "aligned columns",
        Both,
        &[
            "USER    {UP}     HOST\nbob     §   db\n",
            "{low}      host\n------     ----\n§   db\n",
        ],
    ),
    (
        "markdown line",
        Both,
        &[
            "**{say}:** §",
            "- **{say}**: `§`",
            "- {say}: `§`",
            "* {say}: §",
            "{say}: **§**",
        ],
    ),
    (
        "markdown heading",
        Key,
        &[
            "## {say}\n\n§\n",
            "## {say}\n\n```\n§\n```\n",
            "{say}:\n\n    §\n",
        ],
    ),
    (
        "code beside name",
        Both,
        &[
            "the {say} is `§`",
            "use the {say} `§` here",
            "{say} `§`",
            "with {say} \"§\"",
        ],
    ),
    (
        "said with is",
        Both,
        &[
            "the {say} is §",
            "The {say} is: §",
            "my {say} is § now",
            "The {say} is now §.",
        ],
    ),
    (
        "said with colon",
        Both,
        &[
            "{say}: §",
            "The {say}: §",
            "{say} - §",
            "{say} = §",
            "Your new {say}: §",
        ],
    ),
    (
        "said for whom",
        Password,
        &[
            "password for bob: §",
            "password (root): §",
            "the password for the db is §",
            "password of the wifi: §",
            "the password to the box is §",
        ],
    ),
    (
        "said as set",
        Password,
        &[
            "I set the {say} to §",
            "changed the {say} to §.",
            "the {say} was reset to §",
            "set {say} to `§`",
            "please update the {say} to §",
        ],
    ),
    (
        "said beside",
        Password,
        &[
            "user bob password §",
            "log in with password §",
            "use password § to log in",
            "username bob, password §",
            "user: bob, pass: §",
        ],
    ),
    (
        "said as login",
        Password,
        &[
            "log in as bob / §",
            "login: bob / §",
            "creds: bob/§",
            "credentials: bob:§",
            "log in with bob:§ please",
        ],
    ),
    (
        "said in german",
        Password,
        &[
            "Das Passwort lautet §",
            "Das Passwort ist §.",
            "Passwort: §",
            "Kennwort: §",
            "Das Passwort für den Server: §",
        ],
    ),
    (
        "said in romance",
        Password,
        &[
            "Mot de passe : §",
            "le mot de passe est §",
            "contraseña: §",
            "la contraseña es §",
            "senha: §",
            "La password è: §",
        ],
    ),
    (
        "said in slavic",
        Password,
        &["Пароль: §", "пароль от базы: §", "hasło: §", "heslo: §"],
    ),
    (
        "said in asian",
        Password,
        &[
            "密码：§",
            "密码是§。",
            "パスワード: §",
            "パスワードは「§」です",
            "비밀번호: §",
            "用户名：admin 密码：§",
        ],
    ),
    (
        "key named in prose",
        Key,
        &[
            "here is the key: §",
            "API_KEY §",
            "token §",
            "api key - §",
            "my api key: § thanks",
        ],
    ),
    (
        "colours",
        Both,
        &[
            "{low}: \u{1b}[31m§\u{1b}[0m",
            "\u{1b}[1m{UP}\u{1b}[0m=§",
            "{low}: \\u001b[32m§\\u001b[0m",
        ],
    ),
    (
        "entities",
        Both,
        &[
            "&quot;{low}&quot;: &quot;§&quot;",
            "{\\u0022{low}\\u0022:\\u0022§\\u0022}",
            "{low}%3D§%26x%3D1",
        ],
    ),
    (
        "cut off",
        Both,
        &["{\"user\":\"x\",\"{low}\":\"§", "{UP}=\"§", "{UP}=§"],
    ),
    (
        "lists",
        Both,
        &["{low}s: [\"§\"]", "{low}s:\n  - §\n", "{low}s = ['§']"],
    ),
    (
        "log line",
        Both,
        &[
            "2026-01-02 10:00:00 INFO connecting user=bob {low}=§ host=db",
            "[debug] {camel}=§",
            "level=info msg=start {low}=\"§\"",
            "DEBUG: {low}: '§'",
        ],
    ),
    (
        "entered",
        Password,
        &[
            "page.fill('#password', '§')",
            "cy.get('#password').type('§')",
            "driver.find_element(By.ID, \"password\").send_keys(\"§\")",
            "expect \"Password:\"\nsend \"§\\r\"",
            "smtp.login(\"bob@x.test\", \"§\")",
            "Password for 'https://h': §",
        ],
    ),
    (
        "read by commands",
        Password,
        &[
            "docker login -u app --password-stdin <<EOF\n§\nEOF\n",
            "gpg --batch --passphrase-fd 0 -d x.gpg <<< '§'",
            "mysql_config_editor set --login-path=x --password <<< '§'",
            "expect \"*assword:*\"\nsend -- \"§\\r\"\nexpect eof",
            "child.expect('[Pp]assword:', timeout=5)\nchild.sendline('§')",
            "htpasswd -b -c /etc/users bob '§'",
            "net use Z: \\\\srv\\share /user:DOM\\app § /persistent:yes",
            "printf § | gcloud secrets versions add db --data-file=-",
        ],
    ),
];

/// A name in all its spellings.
fn spelled(template: &str, name: &str) -> String {
    let words: Vec<&str> = name.split(' ').collect();
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let pascal: String = words.iter().map(|word| capital(word)).collect();
    let camel = words[0].to_owned() + &pascal[words[0].len()..];
    template
        .replace("{UP}", &words.join("_").to_uppercase())
        .replace("{low}", &words.join("_"))
        .replace("{camel}", &camel)
        .replace("{dash}", &words.join("-"))
        .replace("{Pascal}", &pascal)
        .replace("{say}", name)
}

/// One text with a secret in it.
pub(crate) struct Planted {
    pub(crate) row: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    pub(crate) secret: String,
}

/// How many texts are made of each template with each kind of value.
const EACH: u64 = 3;

/// Every text of every row.
pub(crate) fn planted() -> Vec<Planted> {
    let mut all = Vec::new();
    for (at, (row, sort, templates)) in ROWS.iter().enumerate() {
        let kinds = PASSWORDS.iter().map(|kind| (kind, true));
        let kinds = kinds.chain(KEYS.iter().map(|kind| (kind, false)));
        for (kind, is_password) in kinds {
            if *sort == Password && !is_password || *sort == Key && is_password {
                continue;
            }
            for (number, template) in templates.iter().enumerate() {
                for time in 0..EACH {
                    let seed = (at * 1_000 + number * 10) as u64 + time;
                    let mut generator = Generator::new(seed ^ hash(kind));
                    let said = template.contains("{say}");
                    let name = match (is_password, said) {
                        (true, false) => generator.pick(&PASSWORD_NAMES),
                        (false, false) => generator.pick(&KEY_NAMES),
                        (true, true) => generator.pick(&SAID_PASSWORDS),
                        (false, true) => generator.pick(&SAID_KEYS),
                    };
                    let secret = value(kind, &mut generator);
                    let text = spelled(template, name).replace('§', &secret);
                    all.push(Planted {
                        row,
                        kind,
                        text,
                        secret,
                    });
                }
            }
        }
    }
    all
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(7, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}
