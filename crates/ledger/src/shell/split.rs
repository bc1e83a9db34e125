//! Takes a command line apart: simple commands with their words, redirections
//! and here-documents.

/// Marks the name of a variable inside a word, to be filled in later.
pub(super) const VAR: char = '\u{e000}';
/// Ends it.
pub(super) const END: char = '\u{e001}';

/// A word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Holds a glob or brace outside quotes.
    pub(super) glob: bool,
    /// Any part of it was quoted.
    pub(super) quoted: bool,
}

/// What joins a command to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Joint {
    #[default]
    Then,
    And,
    Or,
    Pipe,
}

/// A redirection into or out of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Redirect {
    pub(super) append: bool,
    pub(super) input: bool,
    pub(super) target: Word,
}

/// A simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Simple {
    pub(super) joint: Joint,
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
    pub(super) heredoc: Option<String>,
}

/// A part of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// A subshell begins.
    Open,
    /// It ends.
    Close,
    Simple(Simple),
}

struct Splitter<'a> {
    chars: std::iter::Peekable<std::str::CharIndices<'a>>,
    text: &'a str,
    parts: Vec<Part>,
    command: Simple,
    word: Option<Word>,
    redirect: Option<(bool, bool)>,
    /// Here-documents whose bodies follow the next line break.
    waiting: Vec<(String, bool)>,
    expects_delimiter: Option<bool>,
    joint: Joint,
}

/// Splits a command line. Anything gives a result, however broken.
pub(super) fn split(text: &str) -> Vec<Part> {
    let mut splitter = Splitter {
        chars: text.char_indices().peekable(),
        text,
        parts: Vec::new(),
        command: Simple::default(),
        word: None,
        redirect: None,
        waiting: Vec::new(),
        expects_delimiter: None,
        joint: Joint::Then,
    };
    splitter.run();
    splitter.parts
}

impl Splitter<'_> {
    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|&(_, c)| c)
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.chars.next();
        }
        found
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().text.push(c);
    }

    fn run(&mut self) {
        while let Some((at, c)) = self.chars.next() {
            match c {
                '\'' => self.single(),
                '"' => self.double(),
                '\\' => match self.chars.next() {
                    Some((_, '\n')) | None => {}
                    Some((_, c)) => {
                        self.word.get_or_insert_default().quoted = true;
                        self.push(c);
                    }
                },
                '$' => self.dollar(),
                '`' => {
                    while let Some((_, c)) = self.chars.next() {
                        match c {
                            '\\' => {
                                self.chars.next();
                            }
                            '`' => break,
                            _ => {}
                        }
                    }
                    self.unknown();
                }
                '#' if self.word.is_none() => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.chars.next();
                    }
                }
                '*' | '?' | '[' => {
                    self.word.get_or_insert_default().glob = true;
                    self.push(c);
                }
                '{' | '}' if self.word.is_some() => {
                    self.word.get_or_insert_default().glob = true;
                    self.push(c);
                }
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' => {
                    self.end_command(Joint::Then);
                    self.read_heredocs();
                }
                ';' => self.end_command(Joint::Then),
                '&' => {
                    if self.eat('&') {
                        self.end_command(Joint::And);
                    } else if self.peek() == Some('>') {
                        // `&> file`: both streams.
                    } else {
                        self.end_command(Joint::Then);
                    }
                }
                '|' => {
                    let joint = if self.eat('|') {
                        Joint::Or
                    } else {
                        Joint::Pipe
                    };
                    self.eat('&');
                    self.end_command(joint);
                }
                '(' => {
                    self.end_command(self.joint);
                    self.parts.push(Part::Open);
                }
                ')' => {
                    self.end_command(Joint::Then);
                    self.parts.push(Part::Close);
                }
                '>' | '<' => self.angle(c, at),
                c => self.push(c),
            }
        }
        self.end_command(Joint::Then);
    }

    fn single(&mut self) {
        self.word.get_or_insert_default().quoted = true;
        while let Some((_, c)) = self.chars.next() {
            if c == '\'' {
                return;
            }
            self.push(c);
        }
    }

    fn double(&mut self) {
        self.word.get_or_insert_default().quoted = true;
        while let Some((_, c)) = self.chars.next() {
            match c {
                '"' => return,
                '\\' => match self.chars.next() {
                    Some((_, '\n')) | None => {}
                    Some((_, c @ ('"' | '\\' | '$' | '`'))) => self.push(c),
                    Some((_, c)) => {
                        self.push('\\');
                        self.push(c);
                    }
                },
                '$' => self.dollar(),
                '`' => {
                    while self.chars.next().is_some_and(|(_, c)| c != '`') {}
                    self.unknown();
                }
                c => self.push(c),
            }
        }
    }

    /// A part whose value nobody knows.
    fn unknown(&mut self) {
        self.push(VAR);
        self.push(END);
    }

    fn dollar(&mut self) {
        match self.peek() {
            Some('(') => {
                self.chars.next();
                self.substitution();
                self.unknown();
            }
            Some('{') => {
                self.chars.next();
                let mut name = String::new();
                for (_, c) in self.chars.by_ref() {
                    if c == '}' {
                        break;
                    }
                    name.push(c);
                }
                self.variable(&name);
            }
            Some('\'') => {
                self.chars.next();
                self.single();
            }
            Some(c) if c.is_ascii_alphanumeric() || c == '_' => {
                let mut name = String::new();
                while let Some(c) = self
                    .peek()
                    .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
                {
                    name.push(c);
                    self.chars.next();
                }
                self.variable(&name);
            }
            Some('@' | '*' | '#' | '?' | '!' | '$' | '-') => {
                self.chars.next();
                self.unknown();
            }
            _ => self.push('$'),
        }
    }

    fn variable(&mut self, name: &str) {
        let plain =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        self.push(VAR);
        if plain {
            self.word.get_or_insert_default().text.push_str(name);
        }
        self.push(END);
    }

    /// Skips `$( … )`, here-documents inside it included.
    fn substitution(&mut self) {
        let mut depth = 1;
        while let Some((at, c)) = self.chars.next() {
            match c {
                '(' => depth += 1,
                ')' => {
                    depth -= 1;
                    if depth == 0 {
                        return;
                    }
                }
                '\\' => {
                    self.chars.next();
                }
                '\'' => while self.chars.next().is_some_and(|(_, c)| c != '\'') {},
                '"' => {
                    while let Some((_, c)) = self.chars.next() {
                        match c {
                            '\\' => {
                                self.chars.next();
                            }
                            '"' => break,
                            _ => {}
                        }
                    }
                }
                '<' if self.text[at..].starts_with("<<") && !self.text[at..].starts_with("<<<") => {
                    let rest = self.text[at + 2..].trim_start_matches(['-', ' ']);
                    let line = rest.lines().next().unwrap_or("");
                    let delimiter: String = line
                        .chars()
                        .filter(|c| !matches!(c, '\'' | '"' | '\\'))
                        .take_while(|c| c.is_alphanumeric() || *c == '_')
                        .collect();
                    while self.chars.next().is_some_and(|(_, c)| c != '\n') {}
                    self.body(&delimiter, true);
                }
                _ => {}
            }
        }
    }

    fn angle(&mut self, c: char, at: usize) {
        // A file descriptor in front of it is no word.
        let mut stream = None;
        if let Some(word) = &self.word
            && !word.quoted
            && (word.text == "1" || word.text == "2" || word.text == "0")
            && self.text[..at].ends_with(word.text.as_str())
        {
            stream = word.text.chars().next();
            self.word = None;
        }
        self.end_word();
        if c == '<' {
            if self.eat('<') {
                if self.eat('<') {
                    self.redirect = Some((false, true));
                    return;
                }
                let tabs = self.eat('-');
                self.expects_delimiter = Some(tabs);
                return;
            }
            if self.peek() == Some('(') || self.peek() == Some('&') {
                return;
            }
            self.redirect = Some((false, true));
            return;
        }
        let append = self.eat('>');
        self.eat('|');
        if self.eat('&') {
            // `2>&1` copies a stream; a name after it would be a file.
            if self.peek().is_some_and(|c| c.is_ascii_digit() || c == '-') {
                self.chars.next();
                return;
            }
        }
        if self.peek() == Some('(') {
            return;
        }
        // Error streams in files are logs, not work.
        self.redirect = Some((append, false));
        if stream == Some('2') {
            self.redirect = Some((append, true));
        }
    }

    fn end_word(&mut self) {
        let Some(mut word) = self.word.take() else {
            return;
        };
        // `{}` and lone braces are no globs of interest.
        let braces = word.text.contains('{') && word.text.contains(',');
        word.glob &= braces || word.text.contains(['*', '?', '[']);
        if let Some(tabs) = self.expects_delimiter.take() {
            self.waiting.push((word.text, tabs));
        } else if let Some((append, input)) = self.redirect.take() {
            self.command.redirects.push(Redirect {
                append,
                input,
                target: word,
            });
        } else {
            self.command.words.push(word);
        }
    }

    fn end_command(&mut self, joint: Joint) {
        self.end_word();
        self.redirect = None;
        let mut command = std::mem::take(&mut self.command);
        if !command.words.is_empty() || !command.redirects.is_empty() {
            command.joint = self.joint;
            self.parts.push(Part::Simple(command));
            self.joint = joint;
        } else if joint != Joint::Then {
            self.joint = joint;
        }
    }

    fn read_heredocs(&mut self) {
        for (delimiter, tabs) in std::mem::take(&mut self.waiting) {
            let body = self.body(&delimiter, tabs);
            // It belongs to the last command that has none.
            let last = self.parts.iter_mut().rev().find_map(|part| match part {
                Part::Simple(command) => Some(command),
                Part::Open | Part::Close => None,
            });
            if let Some(command) = last {
                command.heredoc.get_or_insert(body);
            }
        }
    }

    /// Reads lines up to the delimiter.
    fn body(&mut self, delimiter: &str, tabs: bool) -> String {
        let Some(&(start, _)) = self.chars.peek() else {
            return String::new();
        };
        let mut end = start;
        let mut next = start;
        for line in self.text[start..].split_inclusive('\n') {
            next += line.len();
            let body = line.trim_end_matches(['\n', '\r']);
            let body = if tabs { body.trim_start() } else { body };
            if body == delimiter {
                break;
            }
            end = next;
        }
        while self.chars.peek().is_some_and(|&(at, _)| at < next) {
            self.chars.next();
        }
        self.text[start..end].to_owned()
    }
}

pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}
