//! Where the keys of a JSON5 text stand.
//!
//! The JSON5 parser builds values and forgets places, and it lets a repeated key
//! pass. This walks over the same text for the places alone. It judges nothing
//! else: on a text that is not JSON5 its answer means nothing, and the parser's
//! counts.

use std::collections::HashMap;

use super::KeyPath;
use super::document::Position;

/// No configuration of ours comes near; it keeps a hostile file from exhausting
/// the stack, here and in the parser.
const DEEPEST: usize = 64;

/// Why there is no map.
#[derive(Debug)]
pub(super) enum MapFault {
    TooDeep(Position),
    Twice(KeyPath, Position),
}

/// The place of every key.
pub(super) fn map(text: &str) -> Result<HashMap<KeyPath, Position>, MapFault> {
    let mut walk = Walk::over(text);
    walk.value(&KeyPath::root(), 0)?;
    match walk.twice {
        Some((key, position)) => Err(MapFault::Twice(key, position)),
        None => Ok(walk.places),
    }
}

/// Whether there is nothing but white space and comments.
pub(super) fn is_blank(text: &str) -> bool {
    let mut walk = Walk::over(text);
    walk.skip_blanks();
    walk.rest.is_empty()
}

/// The place after the last character.
pub(super) fn end(text: &str) -> Position {
    let mut walk = Walk::over(text);
    while walk.next().is_some() {}
    walk.position
}

struct Walk<'a> {
    rest: &'a str,
    position: Position,
    places: HashMap<KeyPath, Position>,
    twice: Option<(KeyPath, Position)>,
}

impl<'a> Walk<'a> {
    fn over(text: &'a str) -> Walk<'a> {
        Walk {
            rest: text,
            position: Position { line: 1, column: 1 },
            places: HashMap::new(),
            twice: None,
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        let Position { line, column } = &mut self.position;
        let ends_line = match c {
            '\n' | '\u{2028}' | '\u{2029}' => true,
            '\r' => !self.rest.starts_with('\n'),
            _ => false,
        };
        if ends_line {
            (*line, *column) = (line.saturating_add(1), 1);
        } else {
            *column = column.saturating_add(1);
        }
        Some(c)
    }

    fn next_while(&mut self, wanted: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.next();
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            self.next_while(|c| c.is_whitespace() || c == '\u{feff}');
            if self.rest.starts_with("//") {
                self.next_while(|c| !matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}'));
            } else if self.rest.starts_with("/*") {
                let length = self.rest[2..]
                    .find("*/")
                    .map_or(self.rest.len(), |at| at + 4);
                let after = self.rest.len() - length;
                while self.rest.len() > after {
                    self.next();
                }
            } else {
                return;
            }
        }
    }

    fn value(&mut self, path: &KeyPath, depth: usize) -> Result<(), MapFault> {
        self.skip_blanks();
        if depth > DEEPEST {
            return Err(MapFault::TooDeep(self.position));
        }
        match self.peek() {
            Some('{') => self.keys(path, depth),
            Some('[') => self.items(path, depth),
            Some('"' | '\'') => {
                self.string();
                Ok(())
            }
            _ => {
                self.next_while(|c| !matches!(c, ',' | ']' | '}' | '/') && !c.is_whitespace());
                Ok(())
            }
        }
    }

    fn keys(&mut self, path: &KeyPath, depth: usize) -> Result<(), MapFault> {
        self.next();
        loop {
            self.skip_blanks();
            let position = self.position;
            let before = self.rest.len();
            let name = match self.peek() {
                None => return Ok(()),
                Some('}') => {
                    self.next();
                    return Ok(());
                }
                Some('"' | '\'') => self.string(),
                Some(_) => self.identifier(),
            };
            let path = path.child(&name);
            if self.places.insert(path.clone(), position).is_some() {
                self.twice.get_or_insert((path.clone(), position));
            }
            self.skip_blanks();
            if self.peek() == Some(':') {
                self.next();
            }
            self.value(&path, depth + 1)?;
            self.after_item(before);
        }
    }

    fn items(&mut self, path: &KeyPath, depth: usize) -> Result<(), MapFault> {
        self.next();
        for index in 0.. {
            self.skip_blanks();
            let before = self.rest.len();
            match self.peek() {
                None => break,
                Some(']') => {
                    self.next();
                    break;
                }
                Some(_) => self.value(&path.item(index), depth + 1)?,
            }
            self.after_item(before);
        }
        Ok(())
    }

    /// Past the comma; and past one character at least, so that a text that is not
    /// JSON5 comes to an end too.
    fn after_item(&mut self, before: usize) {
        self.skip_blanks();
        if self.peek() == Some(',') || self.rest.len() == before {
            self.next();
        }
    }

    fn identifier(&mut self) -> String {
        let start = self.rest;
        self.next_while(|c| !matches!(c, ':' | ',' | '{' | '}' | '/') && !c.is_whitespace());
        start[..start.len() - self.rest.len()].to_owned()
    }

    fn string(&mut self) -> String {
        let start = self.rest;
        let quote = self.next();
        while let Some(c) = self.next() {
            if c == '\\' {
                self.next();
            } else if Some(c) == quote {
                break;
            }
        }
        let raw = &start[..start.len() - self.rest.len()];
        json5::from_str(raw).unwrap_or_else(|_| raw.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<(String, u32)> {
        let mut lines: Vec<_> = map(text)
            .unwrap()
            .into_iter()
            .map(|(key, position)| (key.as_str().to_owned(), position.line))
            .collect();
        lines.sort();
        lines
    }

    #[test]
    fn keys_are_found_past_comments_strings_and_line_ends_of_all_kinds() {
        let text =
            "// {a: 1}\r\n{\r\n  'a b': \"}\\\"//\", /* {x:\n1} */\n  c: [1, {d: 0x1F,}],\n}";
        let expected = [("a b", 3), ("c", 5), ("c[1].d", 5)];
        assert_eq!(
            lines(text),
            expected.map(|(key, line)| (key.to_owned(), line))
        );
    }

    #[test]
    fn texts_that_are_no_json5_come_to_an_end() {
        for text in [
            "{", "{{{", "[}", "{a", "{:}", "'", "{a:1 b:2", "/*", "{]", "[1 2", "{,,}", "{/}",
        ] {
            let _ = map(text);
        }
    }

    #[test]
    fn depth_is_limited() {
        let text = "[".repeat(100_000);
        assert!(matches!(map(&text), Err(MapFault::TooDeep(_))));
    }
}
