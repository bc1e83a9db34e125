//! Passwords that commands and scripts are given.

use longhaul_redact::Kind;

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
        "primaryauth §\n",
        "redis-cli --user app --pass § ping",
        "127.0.0.1:6379> AUTH \"§\"",
        "sentinel auth-pass mymaster §\n",
        "SENTINEL SET mymaster auth-pass §",
        "redis-cli ACL SETUSER app on '>§' '~*' '+@all'",
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
        "Use redis-cli with auth switched",
        "redis-cli AUTH command",
        "redis> auth failed",
        "12:30> auth worked",
        "redis-cli AUTH $REDIS_PASSWORD",
        "user default on nopass ~* &* +@all",
        "the user turned it on > Version2",
        "user input on >Version2x screens",
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
            "db.auth(\n  \"app\",\n  \"§\"\n)",
            "await redis.auth(\"§\")",
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
        "router.auth(\"oauth2login\")",
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
        "sudo -S <<< \"§\" apt update",
        "chpasswd <<< 'app:§'",
        "chpasswd <<EOF\napp:§\nEOF\n",
        "sudo chpasswd <<'END'\n  app:§\nEND\n",
        "docker login -u app --password-stdin <<EOF\n§\nEOF\n",
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
        "cat <<EOF\napp:Blue7horse\nEOF\n",
        "sudo tee /etc/motd <<EOF\napp:Blue7horse\nEOF\n",
    ]);
}

#[test]
fn what_is_written_to_a_command_that_reads_passwords_goes_without_its_user() {
    let texts = [
        "echo 'app:§' | chpasswd",
        "echo \"app:§\" | sudo chpasswd",
        "yes § | passwd app",
        "echo § | smbpasswd -s -a app",
        "openssl rsa -in k.pem -passin pass:§",
        "openssl enc -aes-256-cbc -pass pass:§ -in x",
    ];
    finds(Kind::Password, "Blue7horse", &texts);
    finds(Kind::Password, "sunflower", &texts);
    finds(
        Kind::Password,
        "Blue7horse",
        &["(echo §; echo §) | passwd app"],
    );
    stay(&[
        "openssl rsa -in k.pem -passin env:DB_PW12",
        "openssl rsa -in k.pem -passin file:pw2.txt",
        "yes | apt install node20",
    ]);
}

#[test]
fn an_answer_to_a_prompt_for_a_password_is_one() {
    let texts = [
        "expect \"*assword:*\"\nsend \"§\\r\"",
        "expect \"*assword:*\"\n\nsend -- \"§\\r\"\nexpect eof",
        "expect \"Password:\" { send \"§\\r\" }",
        "expect {\n  \"*yes/no*\" { send \"yes\\r\"; exp_continue }\n  \"*assword:*\" { send \"§\\r\" }\n}",
        "expect -c 'spawn ssh db; expect \"assword:\"; send \"§\\r\"; interact'",
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
        "net use * https://dav.test/x § /user:app",
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
    let bare = "ConvertTo-SecureString § -AsPlainText -Force";
    finds(Kind::Password, "Blue7horse", &[bare]);
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

#[test]
fn what_a_command_puts_into_a_store_is_redacted() {
    finds(
        Kind::Password,
        "Tr0ub4dor3x",
        &[
            "aws ssm put-parameter --name /shop/DB_PASSWORD --type SecureString --value §",
            "aws ssm put-parameter --value § \\\n  --name /shop/db --type SecureString",
            "aws secretsmanager put-secret-value --secret-id shop/db --secret-string §",
            "{\"Name\": \"shop/db\", \"SecretString\": \"§\"}",
            "\"SecretBinary\": \"§\"",
            "gh secret set API_KEY --body \"§\"",
            "gh secret set API_KEY -b §",
            "az keyvault secret set --vault-name v --name DbPassword --value §",
            "echo § | vercel env add DB_PASSWORD production",
            "echo § | docker secret create db_password -",
            "echo § | gh secret set API_KEY",
            "printf § | gcloud secrets versions add db-password --data-file=-",
            "htpasswd -bc .htpasswd bob §",
            "htpasswd -b -c /etc/users bob '§'",
            "docker run --entrypoint htpasswd httpd:2 -Bbn bob §",
        ],
    );
    finds(
        Kind::Password,
        "aB3(x;9Qw>kLz",
        &["A temporary password is generated for root@localhost: §\n"],
    );
}

#[test]
fn a_password_with_the_signs_of_an_address_in_it_is_found() {
    finds(
        Kind::Password,
        "a://x9Kq2vLp7Zt",
        &[
            "sshpass -p '§' ssh host",
            "gh secret set API_KEY --body '§'",
            "aws ssm put-parameter --name x --type SecureString --value '§'",
        ],
    );
    finds(
        Kind::Password,
        "https://x9Kq2vLp",
        &[
            "mysql -p'§' app",
            "sshpass -p '§' ssh host",
            "redis-cli --pass '§' ping",
        ],
    );
}

#[test]
fn what_else_is_put_somewhere_stays() {
    stay(&[
        "aws ssm put-parameter --name /shop/DB_HOST --type String --value db2.internal1",
        "aws ssm put-parameter --name /shop/x --type SecureString --value \"$VALUE1\"",
        "aws ssm put-parameter --name /shop/x --type SecureString --value file://key2.pem",
        "az keyvault secret set --name x --value https://vault.test/key2x9",
        "gh secret set API_KEY --body \"$TOKEN1\"",
        "gh pr create --title x --body \"fixes2x9q\"",
        "echo web01x9 | vercel env add HOSTNAME production",
        "echo hello2x9 | docker exec -i web cat -",
        "htpasswd -c .htpasswd bob12345",
    ]);
}
