//! Secrets in other languages, with letters beyond ASCII, and in the order in
//! which people say them.

use longhaul_redact::Kind;

use crate::{ALNUM, HEX, drawn, finds, stay};

#[test]
fn a_password_may_have_letters_of_any_language() {
    for password in [
        "Été2024!$",
        "Kış2024*!",
        "Берёза-77!",
        "Größe#2024",
        "Łódź_1999x",
    ] {
        finds(
            Kind::Password,
            password,
            &[
                "password: §",
                "the password is §",
                "Passwort: §",
                "Le mot de passe est : §",
                "Le mot de passe\u{a0}: §",
                "parola: §",
                "пароль: §",
                "Пароль от базы: §",
                "hasło: \"§\"",
                "DB_PASSWORD=§",
                "şifre: §",
            ],
        );
    }
    stay(&[
        "contraseña: inválida",
        "contraseña: ¡obligatoria!",
        "пароль: см. в сейфе",
        "Пароль: обязателен!",
        "mot de passe : à définir",
        "mot de passe : l’été prochain",
        "hasło: zmień je!",
        "şifre: değiştirildi.",
        "Passwort: Groß-/Kleinschreibung",
        "\"password\": \"Пароль*\"",
        "\"password\": \"Contraseña*\"",
        "\"password\": \"请输入8位密码!\"",
        "parola: vezi seiful",
    ]);
}

#[test]
fn words_between_a_name_and_its_colon_tell_whose_password_it_is() {
    for password in ["M@r1o2024", "Herbst-77x"] {
        finds(
            Kind::Password,
            password,
            &[
                "senha do banco: §",
                "A senha da conta de testes: §;",
                "contraseña de la base de datos: §",
                "la contraseña nueva es: §",
                "mot de passe de la base : §",
                "mot de passe du wifi: §",
                "пароль от базы: §",
                "пароль для входа на сервер: §",
                "пароль администратора: §",
                "hasło do bazy: §",
                "wachtwoord van de database: §",
                "Passwort der Datenbank: §",
                "Passwort für den Router: §",
                "Passwort vom WLAN: §",
                "parola del database: §",
                "password del wifi: §",
                "password of the db: §",
                "password to the staging box: §",
                "passphrase on the laptop: §",
                "heslo k databázi: §",
                "lösenord till databasen: §",
                "veritabanı şifresi: §",
                "mật khẩu của máy chủ: §",
                "كلمة مرور قاعدة البيانات: §",
                "数据库的密码: §",
                "データベースのパスワード: §",
            ],
        );
    }
    for (password, text) in [
        ("Château#12", "Mot de passe (wifi) : §"),
        ("Soleil2024!", "Le mdp du serveur est §"),
        ("Straße_42!", "Das Passwort für den Admin lautet: §"),
        ("Ñandú2024!", "La contraseña del servidor de pruebas es §"),
        ("Perro2024!", "mi clave es §"),
        ("Coração#1", "A senha do servidor é §"),
        ("Città_2024", "La password è: §"),
        ("Ștefan#77", "parola contului este §"),
        ("Żółw2024!", "hasło do serwera to §"),
        ("Ёжик_2024", "пароль от почты - §"),
        ("Ёжик2024", "логин: admin, пароль: §"),
        ("Hà_Nội2024", "mật khẩu là §"),
        ("Αθήνα2024!", "Κωδικός: §"),
        ("שלום2024!", "סיסמה: §"),
        ("Cairo2024!", "كلمة المرور هي §"),
        ("Dilli@2024", "पासवर्ड: §"),
        ("Мышь_2024", "Пароль администратора – §"),
        ("Мышь_2024", "логин root, пароль §"),
        ("Forêt#2024", "nouveau mot de passe §"),
        ("Çınar#2024", "Şifreniz: §"),
        ("Sönne2024", "Passwörter: §"),
        ("Galil#24x", "סיסמת הויפי: §"),
        ("Ganga#2024", "पासवर्ड है §"),
        ("Abc!2345", "管理员密码设置为§"),
        ("Abc!2345", "新密码改为 §"),
        ("Abc!2345", "パスワードを§に変更"),
        ("Abc!2345", "비밀번호를 § 로 변경"),
        ("Abc!2345", "密码是：§"),
        ("Abc!2345", "账号 admin 密码 §"),
        ("Abc!2345", "我的密码是“§”"),
        ("Abc!2345", "비밀번호는 § 입니다"),
    ] {
        finds(Kind::Password, password, &[text]);
    }
    stay(&[
        "La contraseña es obligatoria.",
        "hasło jest wymagane!",
        "Das Passwort lautet anders!",
        "the password is base64-encoded",
        "clave: valor1",
        "le mot de passe est : voir le coffre",
        "пароль — обязательное поле",
        "token for the parser: IDENT_42",
        "密码是必填项!",
        "비밀번호는 8자 이상이어야 합니다",
        "\"password\": \"Wachtwoord\"",
        "mot de passe oublié : cliquez ici",
        "contraseña olvidada: pulse aquí",
        "senha do banco: veja o cofre",
        "пароль от базы: спроси у Ивана",
        "password of the db: see vault",
        "password: see vault",
        "password for the db: ask Bob2 or me",
        "Passwort der Datenbank: siehe Tresor",
        "mot de passe pour le wifi : voir page 12",
        "hasło do bazy: w sejfie",
        "password policy: min8-chars",
        "password hash: argon2id-v19",
        "token: see above",
        "the password for root: /etc/secret2",
    ]);
}

#[test]
fn a_password_of_several_words_stands_in_quotes_of_any_kind() {
    for phrase in [
        "open sesame 42!",
        "correct horse battery staple",
        "grüner Affe 77#",
    ] {
        finds(
            Kind::Password,
            phrase,
            &[
                "the passphrase: \"§\"",
                "the passphrase is \"§\".",
                "passphrase: '§'",
                "passphrase: “§”",
                "mot de passe : « § »",
                "Passwort: „§“",
                "пароль: «§»",
                "password of the vault: \"§\"",
            ],
        );
    }
    finds(
        Kind::Password,
        "Xy7!kq02",
        &[
            "password: “§”",
            "mot de passe : « § »",
            "密码：“§”",
            "\"§\" is my password",
            "“§” ist mein Passwort",
        ],
    );
    finds(
        Kind::Password,
        "purple monkey dishwasher nine",
        &["passphrase: §", "The passphrase is \"§\""],
    );
    stay(&[
        "passphrase: generated during the setup of it",
        "password: \"Enter your password\"",
        "password: \"Must have 8 characters!\"",
        "password: \"At least 12 characters\"",
        "passphrase: \"leave it empty for none\"",
        "Passwort: „Mindestens 8 Zeichen!“",
        "mot de passe : « au moins 8 caractères »",
        "password: \"Forgot it? Click here!\"",
        "contraseña: \"Introduzca su contraseña\"",
        "passphrase: “see vault”",
    ]);
}

#[test]
fn the_name_may_stand_behind_the_value() {
    for password in ["hunter2!x", "Qw8zz!kl"] {
        finds(
            Kind::Password,
            password,
            &[
                "§ is my password",
                "§ is the root password.",
                "§ was our old password for staging",
                "`§` is the password of the db, keep it",
                "set § as the root password",
                "§ (my password)",
                "§ should be the new password",
                "§ ist mein Passwort",
                "§ ist das Passwort für die Datenbank.",
                "§ es mi contraseña",
                "§ es la clave del router",
                "§ es la contraseña de la base",
                "§ est mon mot de passe",
                "§ est le mot de passe du wifi",
                "§ é a minha senha",
                "§ è la mia password",
                "§ to moje hasło",
                "§ is mijn wachtwoord",
                "§ är mitt lösenord",
                "§ — мой пароль",
                "§ - это пароль от базы",
                "§ benim şifrem",
                "§ هي كلمة المرور",
                "§是我的密码",
                "§ 是数据库的密码。",
                "§ がパスワードです",
            ],
        );
    }
    let key = format!("0x{}a7", drawn(5, 62, HEX));
    let token = drawn(11, 22, ALNUM) + "a7";
    finds(
        Kind::Secret,
        &key,
        &[
            "my seed: § is the wallet's private key",
            "§ is my private key",
        ],
    );
    finds(
        Kind::Secret,
        &token,
        &[
            "§ is my token",
            "§ is the API key of the shop.",
            "§ ist mein API-Schlüssel",
            "§ est ma clé API",
            "§ — мой токен",
            "мой токен: §",
            "ключ API: §",
            "API 密钥：§",
            "§ 是我的令牌",
            "APIキー: §",
        ],
    );
    stay(&[
        "OAuth2 is a password replacement",
        "argon2 is the password hash",
        "server1 is the password manager",
        "v2.1.0 is the key release",
        "SELECT pwd1 AS password FROM users",
        "import { field2 as password } from './x'",
        "a1b2c3d4 is not my password",
        "The 2nd is the password.",
        "line 42 is the password check",
        "0x52908400098527886E0F7030069857D2E4169EE7 is the token",
        "3f786850e387550fdab836ed7e6dc881de23001b is the cache key",
        "3f786850e387550fdab836ed7e6dc881de23001b is the public key",
        "src/auth2.rs is the token module",
        "OAuth2是我的密码的替代方案",
        "RSA2048 ist der Schlüssel zum Erfolg",
        "step2 is my password reset",
    ]);
}

#[test]
fn what_is_said_about_passwords_and_keys_stays_in_every_language() {
    stay(&[
        "Das Passwort ist zu kurz!",
        "Das Passwort muss 8 Zeichen haben",
        "Passwort: mindestens 8 Zeichen, 1 Großbuchstabe!",
        "Passwort (min. 12 Zeichen): Pflichtfeld",
        "Passwort zurücksetzen: https://example.com/reset?x=1",
        "Passwort für alle Benutzer: nächste Woche!",
        "mot de passe : 12 caractères minimum !",
        "Mot de passe de l'utilisateur : obligatoire",
        "mot de passe du compte : à demander à Jean-Pierre",
        "La contraseña de la base: pregúntale a María!",
        "Contraseña (opcional): déjala vacía",
        "senha do usuário: campo obrigatório!",
        "A senha é case-sensitive",
        "la password è obbligatoria!",
        "la password del server: chiedi a Mario",
        "parola d'ordine: libertà",
        "parola chiave: sviluppo",
        "Le mot clé : forêt",
        "clé primaire : id_client",
        "clé étrangère: client_id2",
        "Schlüsselwort: während",
        "Schlüssel: Länge 256-Bit",
        "ключ шифрования: AES-256",
        "ключевое слово: async2",
        "токен: JWT-токен",
        "токен доступа: см. RFC6749",
        "hasło do konta: zapytaj Ewę!",
        "пароль от сервера: у админа!",
        "пароль: не менее 8 символов!",
        "пароль не подходит!",
        "wachtwoord vergeten: klik hier",
        "şifre: en az 8 karakter!",
        "şifre sıfırlama: tıklayın",
        "密码：必填",
        "密码长度: 8-16位",
        "密码 (8-16 characters)",
        "密码强度: weak1",
        "パスワード: 8文字以上16文字以内",
        "パスワードをリセット: こちら",
        "비밀번호 확인: 다시 입력",
        "비밀번호: 8자리 이상",
        "\"label.password\": \"Contraseña:\"",
        "\"password.hint\": \"8+ zeichen\"",
        "msgid \"Password\" msgstr \"Mật khẩu\"",
        "<label>Şifre:</label>",
        "const passwort = eingabe.wert1;",
        "passwort: str = Field(min_length=8)",
        "senha = usuario.senha1",
        "clave = dict1[\"clave2\"]",
        "for clave, valor in dict2.items():",
        "parola = sozluk[0]",
        "This is a password-protected v2.0 file",
        "v2.0 is our password policy",
        "Python3 was my key skill",
        "Section 4.2 is the key.",
        "C3PO is my password hint",
        "2FA is our password replacement",
        "ticket ABC-1234 is the token issue",
        "The file config2.yml is the key",
        "mysql8.0 is the secret sauce",
        "password as of v2.1",
        "utf8mb4 as password charset",
        "SELECT 'abc123' AS password_hint",
        "use sha256 as the password algorithm",
        "mot de passe SHA-256 ou bcrypt2Y",
        "contraseña OAuth2.0Token",
        "пароль PBKDF2-Sha256",
        "パスワードをリセット2回",
    ]);
}

#[test]
fn a_password_that_was_changed_is_said_in_languages_without_spaces() {
    finds(
        Kind::Password,
        "XMIcYExZvZ0o51",
        &[
            "把密码改成了§",
            "密码改为§",
            "密码已改为§。",
            "密码已经改成了§，请查收",
            "密码修改为§",
            "密码重置为 §",
            "密码换成了§",
            "密码更新为：§",
            "パスワードを§に変更しました",
            "비밀번호를 §로 변경",
            "비밀번호를 §(으)로 변경했습니다",
            "비밀번호가 §로 변경되었습니다",
        ],
    );
    stay(&[
        "密码已修改，请重新登录",
        "密码改为string类型",
        "把密码改成了bcrypt加密",
        "비밀번호가 password123과 다릅니다",
    ]);
}

#[test]
fn letters_are_a_password_behind_a_user_in_languages_without_spaces() {
    finds(
        Kind::Password,
        "swordfishes",
        &[
            "用户名 admin 密码 §",
            "用户名：admin 密码：§",
            "用户名admin，密码§",
            "账号: admin, 密码: §",
            "아이디 admin 비밀번호 §",
        ],
    );
    stay(&[
        "用户名和密码 swordfishes",
        "用户名 admin 密码 required",
        "密码 swordfishes",
        "账号 string 密码 string",
    ]);
}

#[test]
fn what_happens_to_a_passphrase_stays() {
    stay(&[
        "- fix: passphrase is ignored when using PEM keys (closes #4411)",
        "fail early if passphrase is too long (Tobias Nießen) [#27010](https://example.org/pull/27010)",
        "the passphrase is ignored for ed25519 keys2 now",
        "the passphrase is cached using gpg-agent 2.4 there",
        "passphrase: required since PEM v2 keys #12",
    ]);
    finds(
        Kind::Password,
        "correct horse battery staple",
        &["passphrase: §", "the passphrase is §"],
    );
}
