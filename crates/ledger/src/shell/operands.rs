//! Options and operands of commands.

use super::split::Word;

/// `-i`, `-i.bak`, `-Ei`: in place, but not an expression such as `-n`.
pub(super) fn is_in_place(text: &str) -> bool {
    let Some(flags) = text.strip_prefix('-') else {
        return false;
    };
    if flags.starts_with('-') {
        return false;
    }
    let flags: &str = flags.split('.').next().unwrap_or("");
    flags.contains('i') && flags.len() <= 4 && flags.bytes().all(|b| b.is_ascii_alphabetic())
}

pub(super) fn has_flag(arguments: &[Word], flag: char) -> bool {
    arguments.iter().any(|word| {
        word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(flag)
    })
}

/// The arguments that are no options, nor values of options.
pub(super) fn operands<'a>(name: &str, arguments: &'a [Word]) -> Vec<&'a Word> {
    let takes_value: &[&str] = match name {
        "head" | "tail" => &["-n", "-c"],
        "perl" => &["-e", "-E", "-I"],
        "truncate" => &["-s", "-r"],
        "touch" => &["-d", "-t", "-r"],
        "install" => &["-m", "-o", "-g", "-t"],
        "mv" | "cp" => &["-S"],
        "patch" => &["-p", "-i", "-d", "-o"],
        "git" => &["--source", "-s"],
        "nl" => &["-b", "-w", "-s", "-v"],
        "bat" => &["-r", "--line-range", "-l", "--style"],
        _ => &[],
    };
    let mut out = Vec::new();
    let mut skip = false;
    let mut only = false;
    for word in arguments {
        if std::mem::take(&mut skip) {
            continue;
        }
        let text = word.text.as_str();
        if !only && text == "--" {
            only = true;
        } else if !only && text.starts_with('-') && text.len() > 1 {
            // `-pi -e '…'`, `-pe '…'`: the program is no file.
            skip = takes_value.contains(&text)
                || (name == "perl" && !text.starts_with("--") && text.ends_with(['e', 'E']));
        } else if !only && text.starts_with('+') && matches!(name, "tail" | "less") {
        } else {
            out.push(word);
        }
    }
    out
}
