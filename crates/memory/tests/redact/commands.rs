//! Passwords that commands and scripts are given.

use longhaul_memory::Kind;

use crate::{finds, stay};

#[test]
fn the_passwords_of_redis_are_found() {
    let texts = [
        "127.0.0.1:6379> AUTH §\nOK",
        "redis> auth default §",
        "redis-cli AUTH §",
        "redis-cli -a § ping",
        "CONFIG SET requirepass §",
        "CONFIG SET requirepass \"§\"",
        "requirepass §\n",
        "masterauth §\n",
        "CONFIG SET masterauth §",
        "sentinel auth-pass mymaster §\n",
        "user default on >§ ~* +@all",
        "ACL SETUSER app on >§ ~cached:* +get",
    ];
    finds(Kind::Password, "Blue7horse", &texts);
    finds(Kind::Password, "sunflower", &texts);
    finds(
        Kind::Password,
        "Blue7horse",
        &[
            "AUTH §",
            "AUTH default §",
            "```\nAUTH §\n```",
            "HELLO 3 AUTH default §",
            "client.write(\"AUTH §\\r\\n\")",
            "REDISCLI_AUTH=§ redis-cli ping",
        ],
    );
}

#[test]
fn other_commands_of_the_name_stay() {
    stay(&[
        "AUTH PLAIN",
        "AUTH LOGIN",
        "250-AUTH LOGIN PLAIN CRAM-MD5",
        "AUTH CRAM-MD5",
        "AUTH SCRAM-SHA-256",
        "AUTH XOAUTH2",
        "AUTH TLS",
        "The AUTH command takes a password",
        "redis-cli AUTH $REDIS_PASSWORD",
        "user default on nopass ~* &* +@all",
        "the user turned it on > Version2",
        "masterauth <master-password>",
    ]);
}

#[test]
fn a_call_that_logs_in_gives_its_second_string_away() {
    finds(
        Kind::Password,
        "Blue7horse",
        &[
            "db.auth(\"app\", \"§\")",
            "request.get(url).auth('app', '§')",
            "requests.get(url, auth=(\"app\", \"§\"))",
            "requests.get(url, auth=HTTPBasicAuth('app', '§'))",
            "new NetworkCredential(\"app\", \"§\", \"DOM\")",
            "New-Object System.Net.NetworkCredential(\"app\", \"§\")",
        ],
    );
    stay(&[
        "request.auth('app', password)",
        "client.auth(\"bearer\", \"required\")",
        "auth=(\"user\", \"pass\")",
        "New-Object PSCredential (\"app\", $secure)",
    ]);
}

#[test]
fn a_here_string_is_a_password_where_the_command_reads_one() {
    let texts = [
        "mysql_config_editor set --login-path=x --password <<< '§'",
        "passwd app <<< '§'",
        "sudo -S apt update <<< \"§\"",
        "sudo -kS ls <<<§",
        "$ sudo -S ls <<< §\n",
        "chpasswd <<< 'app:§'",
        "sudo chpasswd <<< \"app:§\"",
        "docker login --password-stdin -u app registry.test <<< '§'",
        "gpg --batch --passphrase-fd 0 -d x.gpg <<< \"§\"",
        "```sh\nkinit app@TEST <<< '§'\n```",
    ];
    finds(Kind::Password, "Blue7horse", &texts);
    finds(Kind::Password, "sunflower", &texts);
    stay(&[
        "grep foo <<< \"text2Blue\"",
        "read -r a b <<< \"$line\"",
        "read -r a b <<< \"Blue7horse Red8cow\"",
        "jq . <<< '{\"a\": \"Blue7horse\"}'",
        "sudo tee /etc/motd <<< \"Blue7horse\"",
        "sudo -S ls <<< \"$PW\"",
        "<<<<<<< HEAD\nBlue7horse",
    ]);
}

#[test]
fn an_answer_to_a_prompt_for_a_password_is_one() {
    let texts = [
        "expect \"*assword:*\"\nsend \"§\\r\"",
        "expect \"*assword:*\"\n\nsend -- \"§\\r\"\nexpect eof",
        "expect \"Password:\" { send \"§\\r\" }",
        "expect {\n  \"*yes/no*\" { send \"yes\\r\"; exp_continue }\n  \"*assword:*\" { send \"§\\r\" }\n}",
        "child.expect('[Pp]assword:', timeout=5)\nchild.sendline('§')",
    ];
    finds(Kind::Password, "Blue7horse", &texts);
    finds(Kind::Password, "sunflower", &texts);
    stay(&[
        "expect \"*assword:*\"\nsend \"$pw\\r\"",
        "expect \"password:\"\nsend \"[lindex $argv 1]\\r\"",
        "expect \"password:\"\nsend \"$pw\\r\"\nexpect \"$ \"\nsend \"deploy2prod\\r\"",
        "child.expect('password')\nchild.sendline(password)",
        "expect(body.password).toBe(undefined)\nsend(\"update2go\")",
    ]);
}

#[test]
fn the_passwords_of_windows_commands_are_found() {
    let texts = [
        "net use Z: \\\\srv\\share § /user:app",
        "net use Z: \\\\srv\\share /user:DOM\\app § /persistent:yes",
        "net use Z: \\\\srv\\share \"§\" /user:app",
        "net user app § /add",
        "cmdkey /add:srv /user:app /pass:§",
        "cmdkey /generic:TERMSRV/srv /user:app /pass:\"§\"",
        "schtasks /create /tn x /tr x.exe /ru app /rp § /sc daily",
        "echo § | runas /user:app cmd",
        "ConvertTo-SecureString \"§\" -AsPlainText -Force",
        "ConvertTo-SecureString -AsPlainText -Force -String '§'",
        "psexec \\\\srv -u app -p § cmd",
        "sqlcmd -S srv -U sa -P § -Q \"select 1\"",
        "```bat\nnet user app § /add\n```",
    ];
    finds(Kind::Password, "Blue7horse", &texts);
    finds(Kind::Password, "sunflower", &texts);
    stay(&[
        "net use Z: \\\\srv\\share * /user:app",
        "net use Z: \\\\srv2\\share2",
        "net use Z: /delete",
        "net user app /delete",
        "net user app * /add",
        "net user administrator /active:yes",
        "The net user growth was small.",
        "cmdkey /add:srv /user:app /pass",
        "schtasks /create /tn x /ru app /rp *",
        "runas /user:app cmd",
        "ConvertTo-SecureString $plain -AsPlainText -Force",
    ]);
}
