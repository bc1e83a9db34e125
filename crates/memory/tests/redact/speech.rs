//! Passwords as people say them.

use longhaul_memory::Kind;

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
