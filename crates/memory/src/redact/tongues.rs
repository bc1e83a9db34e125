//! What a password is called in other languages.

/// Names of languages that part words by spaces.
const SPACED: [&str; 40] = [
    "contraseña",
    "contrasen\u{303}a",
    "contraseÑa",
    "contrasena",
    "contrasenya",
    "mot de passe",
    "motdepasse",
    "mot_de_passe",
    "пароль",
    "Пароль",
    "ПАРОЛЬ",
    "senha",
    "palavra-passe",
    "hasło",
    "hasŁo",
    "haslo",
    "wachtwoord",
    "kennwort",
    "lösenord",
    "passord",
    "adgangskode",
    "salasana",
    "jelszó",
    "heslo",
    "şifre",
    "Şifre",
    "mật khẩu",
    "كلمة المرور",
    "كلمة السر",
    "كلمه المرور",
    "رمز عبور",
    "گذرواژه",
    "סיסמה",
    "סיסמא",
    "पासवर्ड",
    "κωδικός πρόσβασης",
    "κωδικός",
    "парола",
    "parolă",
    "kata sandi",
];

/// Names of languages that write words together.
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

/// `は`, `是` and their like, and the wide colon: what may stand between such a
/// name and its value.
const LINKS: [&str; 7] = ["：", "は", "是", "为", "為", "는", "은"];

/// How a name was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tongue {
    Spaced,
    Joined,
}

/// Whether the text ends with a name of a password.
pub(super) fn named(text: &[u8]) -> Option<Tongue> {
    // Few words end so; most names are passed over by one look.
    let last = text.last()?;
    if last.is_ascii() && !b"aeiotdu".contains(&last.to_ascii_lowercase()) {
        return None;
    }
    let ends = |name: &&str| {
        let start = text.len().checked_sub(name.len())?;
        text[start..]
            .eq_ignore_ascii_case(name.as_bytes())
            .then_some(start)
    };
    if JOINED.iter().any(|name| ends(name).is_some()) {
        return Some(Tongue::Joined);
    }
    let part = |byte: u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    SPACED
        .iter()
        .filter_map(ends)
        .any(|start| start == 0 || !part(text[start - 1]))
        .then_some(Tongue::Spaced)
}

/// The length of the name of a password that begins the text, in a language
/// that parts its words.
pub(super) fn begins(text: &[u8]) -> Option<usize> {
    let begins = |name: &&&str| {
        let head = text.get(..name.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes()))
    };
    SPACED.iter().find(begins).map(|name| name.len())
}

/// The names of languages that part their words.
pub(super) fn spaced() -> impl Iterator<Item = &'static str> {
    SPACED.iter().copied()
}

/// The length of the link at `at`.
pub(super) fn link(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let link = LINKS.iter().find(|link| rest.starts_with(link.as_bytes()));
    link.map(|link| link.len())
}

/// Brackets and commas that may stand before a value.
pub(super) fn opening(bytes: &[u8], at: usize) -> usize {
    const MARKS: [&str; 7] = ["「", "『", "“", "、", "，", "《", "\u{3000}"];
    let rest = &bytes[at.min(bytes.len())..];
    let mark = MARKS.iter().find(|mark| rest.starts_with(mark.as_bytes()));
    mark.map_or(0, |mark| mark.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_known_by_its_end_and_its_beginning() {
        for name in SPACED {
            assert_eq!(named(name.as_bytes()), Some(Tongue::Spaced), "{name}");
            assert_eq!(begins(name.as_bytes()), Some(name.len()), "{name}");
        }
        for name in JOINED {
            assert_eq!(named(name.as_bytes()), Some(Tongue::Joined), "{name}");
        }
        assert_eq!(named(b"field"), None);
    }
}
