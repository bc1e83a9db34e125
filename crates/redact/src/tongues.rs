//! What passwords and keys are called in other languages, and the little words
//! that lead from such a name to its value.

use std::sync::LazyLock;

use super::names::Promise;

/// Names of a password in languages that part words by spaces, with the endings
/// that they take there.
const SPACED: [&str; 85] = [
    "contraseña",
    "contrasen\u{303}a",
    "contraseÑa",
    "contrasena",
    "contrasenya",
    "contrasinal",
    "mot de passe",
    "motdepasse",
    "mot_de_passe",
    "mdp",
    "пароль",
    "Пароль",
    "ПАРОЛЬ",
    "пароля",
    "паролем",
    "паролю",
    "лозинка",
    "senha",
    "palavra-passe",
    "hasło",
    "hasŁo",
    "haslo",
    "hasła",
    "hasłem",
    "wachtwoord",
    "wagwoord",
    "kennwort",
    "passwörter",
    "zugangswort",
    "lösenord",
    "lösenordet",
    "passord",
    "passordet",
    "kodeord",
    "adgangskode",
    "adgangskoden",
    "lykilorð",
    "salasana",
    "salasanani",
    "parool",
    "jelszó",
    "jelszava",
    "jelszavam",
    "heslo",
    "geslo",
    "lozinka",
    "slaptažodis",
    "şifre",
    "Şifre",
    "şifresi",
    "Şifresi",
    "şifrem",
    "Şifrem",
    "şifreniz",
    "Şifreniz",
    "şifremiz",
    "sifre",
    "sifresi",
    "parola",
    "parolası",
    "parolam",
    "parolă",
    "parola de acces",
    "парола",
    "mật khẩu",
    "كلمة المرور",
    "كلمة السر",
    "كلمه المرور",
    "كلمة مرور",
    "كلمة سر",
    "رمز عبور",
    "گذرواژه",
    "סיסמה",
    "סיסמא",
    "הסיסמה",
    "סיסמת",
    "पासवर्ड",
    "κωδικός πρόσβασης",
    "κωδικός",
    "Κωδικός",
    "συνθηματικό",
    "kata sandi",
    "kata laluan",
    "katalaluan",
    "nenosiri",
];

/// The same that name the keys of a table as well, and so are none where a
/// colon follows at once.
const SPOKEN: [&str; 1] = ["clave"];

/// Names of a key or a token in such languages.
const SPACED_KEYS: [&str; 16] = [
    "schlüssel",
    "clé",
    "chave",
    "chiave",
    "ключ",
    "Ключ",
    "токен",
    "Токен",
    "klucz",
    "klíč",
    "sleutel",
    "nyckel",
    "nøgle",
    "anahtar",
    "anahtarı",
    "jeton",
];

/// Names of a password in languages that write words together.
const JOINED: [&str; 8] = [
    "パスワード",
    "暗証番号",
    "密码",
    "密碼",
    "口令",
    "비밀번호",
    "암호",
    "รหัสผ่าน",
];

/// Names of a key or a token in such languages.
const JOINED_KEYS: [&str; 9] = [
    "トークン",
    "キー",
    "秘密鍵",
    "密钥",
    "密鑰",
    "私钥",
    "令牌",
    "토큰",
    "키",
];

/// `は`, `是` and their like, words for a change, and the wide colon: what may
/// stand between such a name and its value.
const LINKS: [&str; 28] = [
    "：",
    "は",
    "是",
    "为",
    "為",
    "는",
    "은",
    "を",
    "를",
    "을",
    "改为",
    "改成",
    "改為",
    "设为",
    "设置为",
    "設為",
    "設定為",
    "设成",
    "设定为",
    "修改为",
    "修改成",
    "更改为",
    "更新为",
    "重置为",
    "重设为",
    "换成",
    "換成",
    "가",
];

/// What says that a change was made, before its word and behind it.
const DONE: ([&str; 3], &str) = (["已经", "已經", "已"], "了");

/// What users are called in such languages, where a password follows.
const USERS: [&str; 9] = [
    "用户名",
    "用户",
    "账号",
    "帐号",
    "帳號",
    "账户",
    "ユーザー名",
    "ユーザー",
    "아이디",
];

/// How a name was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tongue {
    Spaced,
    Joined,
}

/// A name in another language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Foreign {
    pub(super) tongue: Tongue,
    pub(super) promise: Promise,
    pub(super) name: &'static str,
}

/// Every name, with how it is written and what it promises.
fn all() -> impl Iterator<Item = (&'static str, Tongue, Promise)> {
    let spaced = SPACED.map(|name| (name, Tongue::Spaced, Promise::Password));
    let keys = SPACED_KEYS.map(|name| (name, Tongue::Spaced, Promise::Random));
    let joined = JOINED.map(|name| (name, Tongue::Joined, Promise::Password));
    let others = JOINED_KEYS.map(|name| (name, Tongue::Joined, Promise::Random));
    spaced.into_iter().chain(keys).chain(joined).chain(others)
}

/// The names by one of their bytes: most of a text is passed over by one look.
struct Names(Vec<Vec<Foreign>>);

impl Names {
    fn by(
        names: impl Iterator<Item = (&'static str, Tongue, Promise)>,
        key: impl Fn(&str) -> Option<u8>,
    ) -> Names {
        let mut by = vec![Vec::new(); 256];
        for (name, tongue, promise) in names {
            let Some(byte) = key(name) else { continue };
            let foreign = Foreign {
                tongue,
                promise,
                name,
            };
            by[usize::from(byte.to_ascii_lowercase())].push(foreign);
        }
        Names(by)
    }

    fn with(&self, byte: u8) -> &[Foreign] {
        &self.0[usize::from(byte.to_ascii_lowercase())]
    }
}

static BY_FIRST: LazyLock<Names> = LazyLock::new(|| {
    let spoken = SPOKEN.map(|name| (name, Tongue::Spaced, Promise::Password));
    Names::by(all().chain(spoken), |name| name.bytes().next())
});
static BY_LAST: LazyLock<Names> = LazyLock::new(|| Names::by(all(), |n| n.bytes().next_back()));

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

/// The name with which the text ends, if it does.
pub(super) fn named(text: &[u8]) -> Option<Foreign> {
    let known = BY_LAST.with(*text.last()?).iter();
    known.copied().find(|foreign| {
        let Some(start) = text.len().checked_sub(foreign.name.len()) else {
            return false;
        };
        let apart = foreign.tongue == Tongue::Joined || start == 0 || !is_part(text[start - 1]);
        apart && text[start..].eq_ignore_ascii_case(foreign.name.as_bytes())
    })
}

/// The name that begins the text, in a language that parts its words.
pub(super) fn begins(text: &[u8]) -> Option<Foreign> {
    let known = BY_FIRST.with(*text.first()?).iter();
    known
        .filter(|foreign| {
            let length = foreign.name.len();
            let head = text.get(..length);
            foreign.tongue == Tongue::Spaced
                && head.is_some_and(|head| head.eq_ignore_ascii_case(foreign.name.as_bytes()))
                && (text.get(length).is_none_or(|byte| !is_part(*byte))
                    || text[length..].starts_with("→".as_bytes()))
        })
        .max_by_key(|foreign| foreign.name.len())
        .copied()
}

/// The name that begins the text, in a language that writes words together.
pub(super) fn begins_joined(text: &[u8]) -> Option<Foreign> {
    let known = BY_FIRST.with(*text.first()?).iter();
    known.copied().find(|foreign| {
        foreign.tongue == Tongue::Joined && text.starts_with(foreign.name.as_bytes())
    })
}

/// Whether a text is nothing but such a name, as it stands in forms.
pub(super) fn is_name(text: &str) -> bool {
    named(text.as_bytes()).is_some_and(|name| name.name.len() == text.len())
}

/// The names of languages that part their words.
pub(super) fn spaced() -> impl Iterator<Item = &'static str> {
    SPACED.into_iter().chain(SPACED_KEYS).chain(SPOKEN)
}

/// The length of the link at `at`.
pub(super) fn link(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let (before, behind) = DONE;
    let done = before.iter().find(|done| rest.starts_with(done.as_bytes()));
    let done = done.map_or(0, |done| done.len());
    let rest = &rest[done..];
    let link = LINKS
        .iter()
        .find(|link| rest.starts_with(link.as_bytes()))?;
    let made = rest[link.len()..].starts_with(behind.as_bytes());
    Some(done + link.len() + usize::from(made) * behind.len())
}

/// Whether a user is named before `at` on its line: `用户名 admin`.
pub(super) fn is_behind_user(bytes: &[u8], at: usize) -> bool {
    const REACH: usize = 96;
    let before = &bytes[at.saturating_sub(REACH)..at];
    let line = memchr::memrchr(b'\n', before).map_or(0, |place| place + 1);
    let before = &before[line..];
    let behind = |user: &str| {
        let at = memchr::memmem::rfind(before, user.as_bytes())?;
        Some(&before[at + user.len()..])
    };
    let named = USERS.iter().find_map(|user| behind(user));
    named.is_some_and(|named| named.iter().any(u8::is_ascii_alphanumeric))
}

/// Brackets and commas that may stand before a value.
pub(super) fn opening(bytes: &[u8], at: usize) -> usize {
    const MARKS: [&str; 7] = ["「", "『", "“", "、", "，", "《", "\u{3000}"];
    let rest = &bytes[at.min(bytes.len())..];
    let mark = MARKS.iter().find(|mark| rest.starts_with(mark.as_bytes()));
    mark.map_or(0, |mark| mark.len())
}

fn is_one_of(word: &[u8], words: &[&str]) -> bool {
    words
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Whether a word says what a password is for: `of`, `für`, `от`.
pub(super) fn is_about(word: &[u8]) -> bool {
    is_one_of(
        word,
        &[
            "for", "of", "to", "on", "at", "in", "from", // English
            "für", "von", "vom", "zum", "zur", "der", "des", "im", "am", "beim", // German
            "de", "du", "des", "pour", "à", "au", // French
            "del", "para", "en", "al", // Spanish
            "do", "da", "dos", "das", "no", "na", // Portuguese
            "di", "della", "dello", "dell", "dei", "per", "alla", // Italian
            "dla", "od", "k", "ke", "pro", // Polish, Czech
            "van", "voor", "för", "till", "til", "av", // Dutch, northern
            "от", "для", "к", "ко", "на", "в", "до", // Russian
            "için", "untuk", "của", "για", "του", "της", "των",
        ],
    )
}

/// Whether a word is what something is said to be with: `is`, `ist`, `это`.
pub(super) fn is_copula(word: &[u8]) -> bool {
    is_one_of(
        word,
        &[
            "is",
            "be",
            "was",
            "ist",
            "war",
            "lautet",
            "heißt",
            "es",
            "est",
            "é",
            "è",
            "será",
            "sera",
            "era",
            "fue",
            "était",
            "это",
            "является",
            "هي",
            "هو",
            "है",
            "είναι",
            "là",
            "adalah",
            "este",
        ],
    )
}

/// The same of words that say so in their own language only.
pub(super) fn is_copula_of_its_own(word: &[u8]) -> bool {
    is_one_of(word, &["jest", "to", "är", "er", "on", "je", "był", "var"])
}

/// Whether a word says whose something is, or which: `my`, `das`, `мой`.
pub(super) fn is_own(word: &[u8]) -> bool {
    is_one_of(
        word,
        &[
            "my",
            "our",
            "the",
            "his",
            "her",
            "your",
            "their", // English
            "mein",
            "meine",
            "unser",
            "unsere",
            "das",
            "der",
            "die",
            "dein", // German
            "mon",
            "ma",
            "notre",
            "le",
            "la",
            "ton",
            "votre", // French
            "mi",
            "nuestra",
            "nuestro",
            "el",
            "tu",
            "su", // Spanish
            "minha",
            "meu",
            "nossa",
            "a",
            "o",
            "mia",
            "mio",
            "nostra",
            "il", // Portuguese, Italian
            "moje",
            "mój",
            "nasze",
            "mijn",
            "ons",
            "onze",
            "het",
            "de", // Polish, Dutch
            "mitt",
            "min",
            "vårt",
            "mit",
            "vores",
            "moj",
            "moja", // northern, southern
            "мой",
            "моя",
            "наш",
            "наша",
            "твой",
            "это", // Russian
            "benim",
            "bizim",
            "मेरा",
            "हमारा",
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_known_by_its_end_and_its_beginning() {
        for (name, tongue, promise) in all() {
            let foreign = Foreign {
                tongue,
                promise,
                name,
            };
            let found = match tongue {
                Tongue::Spaced => begins(name.as_bytes()),
                Tongue::Joined => begins_joined(name.as_bytes()),
            };
            assert_eq!(found, Some(foreign), "{name}");
            let ended = named(name.as_bytes()).map(|found| (found.tongue, found.promise));
            assert_eq!(ended, Some((tongue, promise)), "{name}");
        }
        assert_eq!(named(b"field"), None);
        assert_eq!(begins("парольный".as_bytes()), None);
    }
}
