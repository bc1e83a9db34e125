//! What keys are made of, by the names that tables and rules have for it.

/// The characters of a key.
#[derive(Debug)]
pub(crate) struct Alphabet {
    pub(crate) name: &'static str,
    /// As a regular expression has them: `A-Z0-9`.
    ranges: &'static str,
    signs: &'static str,
}

/// Each alphabet.
#[rustfmt::skip]
pub(crate) static ALPHABETS: [Alphabet; 9] = [
    Alphabet { name: "alnum", ranges: "A-Za-z0-9", signs: "" },
    Alphabet { name: "word", ranges: "A-Za-z0-9", signs: "_-" },
    Alphabet { name: "dotted", ranges: "A-Za-z0-9", signs: "_-." },
    Alphabet { name: "base64", ranges: "A-Za-z0-9", signs: "_-.+/=" },
    Alphabet { name: "escaped", ranges: "A-Za-z0-9", signs: "_-.+/=%" },
    Alphabet { name: "upper", ranges: "A-Z0-9", signs: "" },
    Alphabet { name: "serial", ranges: "A-Z0-9", signs: "-" },
    Alphabet { name: "hex", ranges: "0-9A-Fa-f", signs: "" },
    Alphabet { name: "uuid", ranges: "0-9A-Fa-f", signs: "-" },
];

impl Alphabet {
    pub(crate) fn named(name: &str) -> Option<&'static Alphabet> {
        ALPHABETS.iter().find(|alphabet| alphabet.name == name)
    }

    pub(crate) fn has(&self, byte: u8) -> bool {
        let mut ranges = self.ranges.as_bytes().chunks_exact(3);
        ranges.any(|range| (range[0]..=range[2]).contains(&byte))
            || self.signs.as_bytes().contains(&byte)
    }

    /// The class of a regular expression.
    pub(crate) fn class(&self) -> String {
        format!("[{}{}]", self.ranges, regex::escape(self.signs))
    }
}
