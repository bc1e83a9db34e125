//! Passwords as people say them.

use longhaul_redact::Kind;

use crate::{ALNUM, drawn, finds, stay};

#[test]
fn a_password_is_found_however_it_is_said() {
    finds(
        Kind::Password,
        "Qw8zz!kl",
        &[
            "Das Passwort lautet §.",
            "la contraseña es §",
            "El password de la base es §.",
            "le mot de passe est §",
            "le mot de passe de la base est §, voilà",
            "A senha é §",
            "I set the root password to §",
            "I changed the db password for staging to §.",
            "password set to §",
            "the password was reset to § yesterday",
            "Password is now §",
            "Password for bob: §",
            "password (root): §",
            "user bob pass § host db",
        ],
    );
    finds(
        Kind::Password,
        "bluewhale42",
        &[
            "use password § to log in",
            "new password §",
            "log in with password §.",
            "user bob password §",
            "creds: bob/§",
            "creds: bob / §",
            "credentials: bob:§",
            "I changed the root password to §",
            "Username    bob\nPassword    §\nHost        db\n",
            "user\tbob\npassword\t§\n",
        ],
    );
    // All of it, whatever characters it has.
    for password in ["Tr0ub4dor&3", "Tianma2024!", "Jamal&Layla2024!"] {
        finds(
            Kind::Password,
            password,
            &[
                "password: §",
                "My password is § for now.",
                "密码是 § 谢谢",
                "كلمة المرور: §",
                "סיסמה: §",
                "รหัสผ่าน: §",
            ],
        );
    }
    let secret = drawn(11, 22, ALNUM) + "a7";
    finds(
        Kind::Secret,
        &secret,
        &[
            "API key - §",
            "API key – §",
            "api key §",
            "the access token is now §",
            "AWS_SECRET_ACCESS_KEY §",
        ],
    );
    stay(&[
        "I set the password to null and the token to expire",
        "the password set to required",
        "change the password to something longer",
        "use password sha256crypt for it",
        "use password authentication",
        "new password2 field",
        "Local password fallback is private**: If you configure it",
        "API key - optional",
        "token - the refresh token",
        "creds: ~/.aws/credentials2",
        "credentials: include/omit",
        "you pass value42x to it",
        "Password for bob: required",
        "password on server2x",
        "the one-pass property is upheld.",
        "key = 1979-05-27T00:32:00.999999",
    ]);
}

#[test]
fn who_says_with_what_to_log_in_says_a_password() {
    finds(
        Kind::Password,
        "hunter2!x",
        &[
            "Login with bob / §",
            "log in as bob/§ on the second host",
            "Please sign in using bob@example.com / §, then wait",
            "I logged in as root:§ and it worked",
            "login: bob / §",
        ],
    );
    stay(&[
        "log in with github/oauth2x or google / saml2x",
        "Login with username / password123",
        "login with email / phone",
        "Sign in with SAML / OAuth2.0 / OIDC",
        "login as bob / $PASSWORD2",
        "log in with bob / team/repo2x",
        "blog in as bob / hunter2!x",
    ]);
}

#[test]
fn how_passwords_are_made_and_kept_stays() {
    stay(&[
        "We changed the password hashing to Argon2id because bcrypt truncates.\nUse Argon2id with 64 MB.",
        "We decided: password hashing changed to Argon2id, because bcrypt truncates",
        "The password storage was switched to SHA-512.",
        "Das Passwort ist jetzt mit SHA-512 gehasht.",
        "Das Passwort ist jetzt SHA-512 gehasht.",
        "the passphrase is SHA-256 hashed",
        "I changed the password login to OAuth2.0 and the password to WebAuthn.",
        "the password is HMAC-SHA256, the new password is WebAuthn.",
        "the wifi password changed to WPA3-PSK and the password signing to ChaCha20-Poly1305",
        "la clave es Ctrl+Alt+T",
        "密码更新为 SHA-256 加盐存储",
        "登录方式从密码改成 OAuth2.0",
        "密码换成 OAuth2 登录",
        "パスワードを Argon2id に変更しました",
        "비밀번호를 SHA-512 로 변경",
    ]);
    finds(
        Kind::Password,
        "Argon2Winter",
        &["I changed the password to §", "Das Passwort ist jetzt §"],
    );
}

#[test]
fn a_password_that_was_clearly_drawn_needs_no_word_before_its_name() {
    for password in [
        "Xk29fLmqPz",
        "Tr0ub4dor&3",
        "hunter!Blue77",
        "q7Zt2kWm9LpXv4Rb",
    ] {
        finds(
            Kind::Password,
            password,
            &[
                "Always use the password § for the staging database.",
                "Use the password §.",
                "log in with the password § on staging",
                "I set the password § on the admin account.",
                "use our staging password § when you test",
                "Verwende das Passwort § für die Datenbank",
                "Utilise le mot de passe § pour la base",
                "Usa la contraseña § para la base",
                "Usa la password § per il database",
                "Use a senha § para o banco",
            ],
        );
    }
    stay(&[
        "the password policy",
        "the password SHA256 hash",
        "the password field2",
        "the password S3Bucket2 holds",
        "the password OAuth2Token flow",
        "the password PBKDF2WithHmacSHA256 derivation",
        "the password TestLogin2FA runs",
        "the password $DB_PASSWORD1 of the pipeline",
        "the password v2.Reset flow",
        "the token ID1234",
    ]);
}

#[test]
fn a_password_is_found_where_a_little_word_stands_for_it() {
    finds(
        Kind::Password,
        "Blue7horse",
        &[
            "the admin password had expired, I reset it to §",
            "The admin password had expired. I reset it to §.",
            "The password expired yesterday, so I changed it to § and told Bob",
            "Password was too weak -- changed it to `§`",
            "password is too short, I've updated it to \"§\".",
            "The root password was leaked; I have rotated it to §.",
            "I reset it to § because the old password had expired.",
            "The password expired, it is now §.",
            "The password expired. The admin reset it to §.",
            "I've reset your password: it is now §",
            "The db password (prod) was wrong. I've set it to § now.",
            "Hab das Passwort auf § gesetzt",
            "Das Passwort war abgelaufen, ich habe es auf § gesetzt.",
            "Das Passwort war abgelaufen. Ich habe es auf § geändert.",
            "Das Kennwort ist abgelaufen, ich hab's auf § zurückgesetzt",
            "Ich habe das Passwort zurückgesetzt, es lautet jetzt §.",
            "Ich setze es auf §, das alte Passwort gilt nicht mehr",
        ],
    );
    let text = "the password had expired, I reset it to §";
    finds(Kind::Password, "bluewhale42", &[text]);
}

#[test]
fn what_else_is_set_beside_a_password_stays() {
    stay(&[
        "the password had expired, I set it to 5",
        "the password is wrong, I reset it to main",
        "the password timeout was too low, I set it to 3600",
        "the password was too long for the box, I set it to 100px",
        "the password hash was md5, I changed it to sha256",
        "the password was hashed with md5, I changed it to argon2id",
        "The password field was old. I changed it to Version2Field",
        "The password is fine. The branch was old, I reset it to a1b2c3d4e5",
        "The password is fine. The runtime was old, I changed it to node20",
        "The password is fine. The server was old, I changed it to Ubuntu24",
        "the password was in the last commit, I reset it to HEAD~2",
        "the password is in the vault, set it to $DB_PASSWORD",
        "the password was read from a file, I changed it to config/db2.yml",
        "The password is set. Then comes the pool. I changed it to Blue7horse",
        "The pool was small, I changed it to Blue7horse",
        "Das Passwort ist lang, ich habe es auf 12 Zeichen gesetzt",
    ]);
}

#[test]
fn what_else_is_changed_in_the_sentence_of_a_password_stays() {
    stay(&[
        "I changed the password and moved the service to eu-west-1.",
        "We rotated the password and moved the database to us-east-2.",
        "I reset the password and bumped the image to node20-alpine.",
        "I changed the password and the hostname to web-prod-02.",
        "I changed the password and upgraded the server to Debian12.",
        "I changed the password before moving the service to eu-west-1.",
        "I changed the password for bob and moved him to eu-west-1.",
        "Ich habe das Passwort geändert und den Server auf Debian12 aktualisiert.",
        "Ich habe das Passwort geändert und den Server auf Debian12 gesetzt.",
        "He cambiado la contraseña y movido el servicio a eu-west-1.",
        "J'ai changé le mot de passe et migré le serveur à Debian12.",
    ]);
    finds(
        Kind::Password,
        "Blue7horse",
        &[
            "I changed the password for the admin account to §",
            "changed the root password on web-01 to §",
            "I changed the password for bob and alice to §",
            "The password was changed and set to §",
            "the password was then changed to §",
            "Ich habe das Passwort geändert und auf § gesetzt.",
        ],
    );
}

#[test]
fn a_password_is_found_behind_when_it_was_changed_and_what_else_has_it() {
    finds(
        Kind::Password,
        "Blue7Harbor9",
        &[
            "I changed the password before lunch to §.",
            "I reset the password after the incident to §",
            "I changed the password when Tom left to §",
            "I changed the Wi-Fi password and the guest password to §",
            "Changed the database password and user to §",
            "Password and PIN changed to §",
            "Please update the password and secret to §",
            "I changed the password on the migrated server to §",
            "I changed the password for the renamed host to §",
            "Das Passwort ist abgelaufen und wurde auf § geändert",
        ],
    );
    finds(
        Kind::Password,
        "bluewhale42",
        &[
            "I changed the password for the renamed host to §",
            "Password and PIN changed to §",
            "I changed the Wi-Fi password and the guest password to §",
            "I changed the password field and set it to §",
        ],
    );
    stay(&[
        "I changed the password after the migration to Debian12.",
        "I changed the password before the move to eu-west-1.",
        "I changed the password and the hash to argon2id.",
        "I changed the password and reset the branch to a1b2c3d4e5",
        "I changed the password and the timeout to 90minutes.",
        "I changed the password and moved the service to Blue7Harbor9.",
        "I reset the password after we switched to OAuth2Proxy.",
        "I changed the password and updated the class to UserV2Controller.",
        "I changed the password field and the model to gpt4omini",
        "I changed the password and the API version to v1beta2x",
        "I changed the password and the component name to Login2Form",
        "I changed the password before upgrading to Ubuntu2404LTS",
        "I rotated the password and pinned the image to postgres16alpine",
        "I changed the password and the driver to Neo4jDriver",
        "I changed the password and the client to S3Client",
        "I changed the password and switched to Http2Server.",
        "I changed the password and the zone to Route53Zone",
        "I changed the password and the hook to useAuth2Hook",
    ]);
    finds(
        Kind::Password,
        "Blue#Harbor",
        &["I changed the password before lunch to §"],
    );
}

#[test]
fn what_a_password_only_qualifies_may_be_changed_to_anything() {
    stay(&[
        "I changed the password policy and moved the vault to eu-west-1.",
        "Please change the password form and rename the component to LoginForm2.",
        "the password reset page was moved to web-02.",
        "Changed the password page's colour to #ff8800.",
        "We set the password expiry to 90days.",
        "The password change was merged to release-2.4",
    ]);
    finds(
        Kind::Password,
        "Blue7horse",
        &["I set the password field to §", "password reset to §"],
    );
}
