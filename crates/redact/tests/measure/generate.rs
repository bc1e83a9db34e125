//! Values from a seed, as generators and people make them.

/// A small generator: the same numbers for a seed, everywhere.
pub(crate) struct Generator(u64);

pub(crate) const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
pub(crate) const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
pub(crate) const DIGITS: &str = "0123456789";
pub(crate) const HEX: &str = "0123456789abcdef";

const WORDS: [&str; 64] = [
    "amber", "anchor", "april", "badger", "bamboo", "beacon", "birch", "bison", "canyon", "carbon",
    "cedar", "cobalt", "comet", "copper", "coral", "cricket", "dagger", "delta", "denim", "ember",
    "falcon", "fennel", "ferry", "fjord", "galaxy", "garnet", "ginger", "glacier", "hazel",
    "heron", "indigo", "island", "ivory", "jasper", "jungle", "kettle", "lagoon", "lantern",
    "lemon", "lotus", "magnet", "maple", "marble", "meadow", "nectar", "nickel", "oasis", "ocean",
    "olive", "onyx", "orchid", "otter", "pebble", "pepper", "plasma", "prairie", "quartz", "raven",
    "saffron", "sierra", "timber", "tundra", "velvet", "walnut",
];

impl Generator {
    pub(crate) fn new(seed: u64) -> Generator {
        Generator(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % most as u64) as usize
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    pub(crate) fn from(&mut self, alphabet: &str, length: usize) -> String {
        let letters = alphabet.as_bytes();
        (0..length)
            .map(|_| char::from(letters[self.below(letters.len())]))
            .collect()
    }

    pub(crate) fn alnum(&mut self, length: usize) -> String {
        self.from(&[UPPER, LOWER, DIGITS].concat(), length)
    }

    pub(crate) fn hex(&mut self, length: usize) -> String {
        self.from(HEX, length)
    }

    pub(crate) fn uuid(&mut self) -> String {
        let part = [8, 4, 4, 4, 12].map(|length| self.hex(length));
        part.join("-")
    }

    pub(crate) fn word(&mut self) -> &'static str {
        self.pick(&WORDS)
    }

    pub(crate) fn capital(&mut self) -> String {
        let word = self.word();
        word[..1].to_uppercase() + &word[1..]
    }

    pub(crate) fn number(&mut self) -> String {
        (10 + self.below(90)).to_string()
    }
}

/// What a person or a generator takes for a password.
pub(crate) const PASSWORDS: [&str; 8] = [
    "mixed", "signs", "human", "season", "dashed", "leet", "word", "phrase",
];
/// What a program takes for a key or a token.
pub(crate) const KEYS: [&str; 8] = [
    "hex32", "hex64", "alnum24", "alnum40", "base64", "url43", "uuid", "short",
];

/// A value of a kind.
pub(crate) fn value(kind: &str, generator: &mut Generator) -> String {
    let alnum = [UPPER, LOWER, DIGITS].concat();
    match kind {
        // As `pwgen` and password managers make them.
        "mixed" => loop {
            let value = generator.alnum(14);
            if value.bytes().any(|b| b.is_ascii_digit()) {
                return value;
            }
        },
        "signs" => {
            let head = generator.from(&alnum, 6);
            let sign = generator.pick(&["!", "#", "%", "*", "+", "^", "=", "?"]);
            let tail = generator.from(&alnum, 6);
            format!("{head}{sign}{tail}{}", generator.below(10))
        }
        "human" => format!(
            "{}{}{}!",
            generator.capital(),
            generator.capital(),
            generator.number()
        ),
        "season" => format!("{}20{}", generator.capital(), generator.number()),
        "dashed" => format!(
            "{}-{}-{}",
            generator.word(),
            generator.word(),
            generator.number()
        ),
        "leet" => {
            let word = format!("{}{}", generator.word(), generator.word());
            let leet = word.replace('o', "0").replace('e', "3").replace('a', "4");
            format!("{leet}{}", generator.below(10))
        }
        "word" => format!("{}{}", generator.word(), generator.word()),
        "phrase" => format!(
            "{}-{}-{}-{}",
            generator.word(),
            generator.word(),
            generator.word(),
            generator.word()
        ),
        "hex32" => generator.hex(32),
        "hex64" => generator.hex(64),
        "alnum24" => generator.alnum(24),
        "alnum40" => generator.alnum(40),
        "base64" => generator.from(&format!("{alnum}+/"), 40),
        "url43" => generator.from(&format!("{alnum}-_"), 43),
        "uuid" => generator.uuid(),
        "short" => format!("{}{}", generator.alnum(14), generator.number()),
        _ => unreachable!("no kind is called {kind}"),
    }
}
