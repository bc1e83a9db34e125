//! Reading a hand-off that somebody sent.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{Handoff, HandoffFile, HandoffFrom, MAX_HANDOFF_BYTES};
use crate::Flaw;
use crate::schema::{Status, TakenDecision};
use crate::text::quoted;

use longhaul_tokens::Tokens;
use longhaul_transcript::{Millis, SessionKey};

/// The schema is three elements deep.
const DEPTH: usize = 3;
/// More elements than any hand-off has.
const ELEMENTS: usize = 10_000;

pub(super) fn document(text: &str) -> Result<Handoff, Flaw> {
    if text.len() > MAX_HANDOFF_BYTES {
        return Err(Flaw::new(format!(
            "{} bytes; a hand-off has at most {MAX_HANDOFF_BYTES}",
            text.len()
        )));
    }
    let root = tree(text)?;
    root.named("handoff")?;
    root.attributes(&["version"])?;
    if root.attribute("version")? != "1" {
        return Err(root.flaw(format!(
            "version {} is not 1, the version this program knows",
            quoted(root.attribute("version")?)
        )));
    }
    root.holds(&[
        "from",
        "to",
        "task",
        "state",
        "decisions",
        "files",
        "open-items",
        "constraints",
        "budget",
    ])?;
    let state = root.one("state")?;
    state.attributes(&["status"])?;
    state.holds(&["topic", "next-action", "summary"])?;
    let to = root.one("to")?;
    to.attributes(&["agent"])?;
    to.empty()?;
    let budget = root.one("budget")?;
    budget.attributes(&["tokens"])?;
    budget.empty()?;
    let task = root.one("task")?.leaf()?;
    if task.trim().is_empty() {
        return Err(root.one("task")?.flaw("<task> says nothing"));
    }
    Ok(Handoff {
        from: from(root.one("from")?)?,
        to: to.filled("agent")?,
        task,
        status: status(state)?,
        topic: state.one("topic")?.leaf()?,
        next_action: state.one("next-action")?.leaf()?,
        summary: state.one("summary")?.leaf()?,
        decisions: root.list("decisions", "decision", decision)?,
        files: root.list("files", "file", file)?,
        open_items: root.list("open-items", "item", Element::leaf)?,
        constraints: root.list("constraints", "constraint", Element::leaf)?,
        budget: Tokens(budget.parsed("tokens", "a number of tokens")?),
    })
}

fn from(element: &Element) -> Result<HandoffFrom, Flaw> {
    element.attributes(&["agent", "session", "checkpoint", "created-at"])?;
    element.empty()?;
    let created_at = element.attribute("created-at")?.to_owned();
    if Millis::parse_iso(&created_at).is_none() {
        return Err(element.flaw(format!("{} is not a time", quoted(&created_at))));
    }
    Ok(HandoffFrom {
        agent: element.filled("agent")?,
        session: SessionKey::new(element.filled("session")?),
        checkpoint: element.parsed("checkpoint", "the name of a checkpoint")?,
        created_at,
    })
}

fn status(state: &Element) -> Result<Status, Flaw> {
    let name = state.attribute("status")?;
    Status::ALL
        .into_iter()
        .find(|status| status.name() == name)
        .ok_or_else(|| state.flaw(format!("{} is not a status", quoted(name))))
}

fn decision(element: &Element) -> Result<TakenDecision, Flaw> {
    element.attributes(&["id", "when"])?;
    let when = element.optional("when").map(str::to_owned);
    if let Some(when) = &when
        && Millis::parse_iso(when).is_none()
    {
        return Err(element.flaw(format!("{} is not a time", quoted(when))));
    }
    Ok(TakenDecision {
        id: element.filled("id")?,
        what: element.words()?,
        when,
    })
}

fn file(element: &Element) -> Result<HandoffFile, Flaw> {
    element.attributes(&["access"])?;
    let path = element.words()?;
    match element.attribute("access")? {
        "modified" => Ok(HandoffFile::Modified(path)),
        "read" => Ok(HandoffFile::Read(path)),
        other => Err(element.flaw(format!("{} is not `modified` or `read`", quoted(other)))),
    }
}

/// An element as it came.
#[derive(Debug)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
    children: Vec<Element>,
    line: u64,
}

impl Element {
    fn flaw(&self, reason: impl Into<String>) -> Flaw {
        Flaw::at(self.line, reason)
    }

    fn named(&self, name: &str) -> Result<(), Flaw> {
        match self.name == name {
            true => Ok(()),
            false => Err(self.flaw(format!("<{}> where <{name}> belongs", self.name))),
        }
    }

    /// No attributes but these.
    fn attributes(&self, known: &[&str]) -> Result<(), Flaw> {
        match self
            .attributes
            .iter()
            .find(|(name, _)| !known.contains(&name.as_str()))
        {
            None => Ok(()),
            Some((name, _)) => Err(self.flaw(format!("<{}> has no attribute {name}", self.name))),
        }
    }

    fn optional(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }

    fn attribute(&self, name: &str) -> Result<&str, Flaw> {
        let value = self
            .optional(name)
            .ok_or_else(|| self.flaw(format!("<{}> lacks the attribute {name}", self.name)))?;
        // A name with a line of its own could say anything there.
        let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        match value.contains(breaks) {
            false => Ok(value),
            true => Err(self.flaw(format!("{name} of <{}> is not one line", self.name))),
        }
    }

    fn filled(&self, name: &str) -> Result<String, Flaw> {
        let value = self.attribute(name)?;
        match value.trim().is_empty() {
            false => Ok(value.to_owned()),
            true => Err(self.flaw(format!("{name} of <{}> is empty", self.name))),
        }
    }

    fn parsed<T: std::str::FromStr>(&self, name: &str, what: &str) -> Result<T, Flaw> {
        let value = self.attribute(name)?;
        value
            .parse()
            .map_err(|_| self.flaw(format!("{} is not {what}", quoted(value))))
    }

    /// These elements, each once, in this order, and nothing between them.
    fn holds(&self, names: &[&str]) -> Result<(), Flaw> {
        self.no_text()?;
        let mut left = names.iter();
        for child in &self.children {
            match left.next() {
                Some(name) => child.named(name)?,
                None => {
                    return Err(child.flaw(format!("<{}> too many in <{}>", child.name, self.name)));
                }
            }
        }
        match left.next() {
            None => Ok(()),
            Some(name) => Err(self.flaw(format!("<{}> lacks <{name}>", self.name))),
        }
    }

    fn one(&self, name: &str) -> Result<&Element, Flaw> {
        self.children
            .iter()
            .find(|child| child.name == name)
            .ok_or_else(|| self.flaw(format!("<{}> lacks <{name}>", self.name)))
    }

    fn list<T>(
        &self,
        name: &str,
        item: &str,
        read: impl Fn(&Element) -> Result<T, Flaw>,
    ) -> Result<Vec<T>, Flaw> {
        let list = self.one(name)?;
        list.attributes(&[])?;
        list.no_text()?;
        list.children
            .iter()
            .map(|child| {
                child.named(item)?;
                read(child)
            })
            .collect()
    }

    fn no_text(&self) -> Result<(), Flaw> {
        match self.text.trim().is_empty() {
            true => Ok(()),
            false => Err(self.flaw(format!(
                "text in <{}>: {}",
                self.name,
                quoted(self.text.trim())
            ))),
        }
    }

    fn empty(&self) -> Result<(), Flaw> {
        self.holds(&[])
    }

    /// The text of an element that holds nothing else.
    fn words(&self) -> Result<String, Flaw> {
        match self.children.first() {
            None => Ok(self.text.clone()),
            Some(child) => Err(child.flaw(format!("<{}> in <{}>", child.name, self.name))),
        }
    }

    /// The same, without attributes.
    fn leaf(&self) -> Result<String, Flaw> {
        self.attributes(&[])?;
        self.words()
    }
}

/// The elements of a document that is safe to read.
fn tree(text: &str) -> Result<Element, Flaw> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().enable_all_checks(true);
    let mut lines = Lines {
        text,
        at: 0,
        line: 1,
    };
    let mut open: Vec<Element> = Vec::new();
    let mut root: Option<Element> = None;
    let mut count = 0;
    loop {
        let event = reader.read_event();
        let line = lines.at(reader.buffer_position());
        let flaw = |reason: String| Flaw::at(line, reason);
        let event = event.map_err(|error| {
            let line = Lines {
                text,
                at: 0,
                line: 1,
            }
            .at(reader.error_position());
            Flaw::at(line, format!("not well-formed XML: {error}"))
        })?;
        let empty = matches!(event, Event::Empty(_));
        match event {
            Event::Start(start) | Event::Empty(start) => {
                count += 1;
                if open.len() == DEPTH || count > ELEMENTS {
                    return Err(flaw("more elements than a hand-off has".into()));
                }
                if root.is_some() {
                    return Err(flaw("a second document".into()));
                }
                open.push(element(&start, line)?);
                if empty {
                    close(&mut open, &mut root);
                }
            }
            // The reader has checked that it ends the one opened last.
            Event::End(_) => close(&mut open, &mut root),
            Event::Text(text) => put(&mut open, &text.xml10_content(), line)?,
            Event::CData(text) => put(&mut open, &text.xml10_content(), line)?,
            Event::GeneralRef(name) => {
                let text = match name.resolve_char_ref() {
                    Ok(Some(c)) if is_xml(c) => c.to_string(),
                    Ok(None) => {
                        let name = name.xml10_content();
                        quick_xml::escape::resolve_predefined_entity(&name)
                            .map(str::to_owned)
                            .ok_or_else(|| {
                                flaw(format!(
                                    "the entity &{name}; is refused: only XML's own are read"
                                ))
                            })?
                    }
                    _ => return Err(flaw("a reference to no character".into())),
                };
                put(&mut open, &text, line)?;
            }
            Event::DocType(_) => {
                return Err(flaw(
                    "a document type is refused: it may name other files".into(),
                ));
            }
            Event::PI(_) => return Err(flaw("a processing instruction is refused".into())),
            Event::Comment(_) => {}
            Event::Decl(declaration) => {
                let utf8 = match declaration.encoding() {
                    None => true,
                    Some(Ok(encoding)) => encoding.eq_ignore_ascii_case("utf-8"),
                    Some(Err(_)) => false,
                };
                if !utf8 {
                    return Err(flaw("an encoding other than UTF-8".into()));
                }
            }
            Event::Eof => {
                return match (open.pop(), root) {
                    (None, Some(root)) => Ok(root),
                    (Some(open), _) => Err(open.flaw(format!("<{}> is not closed", open.name))),
                    (None, None) => Err(flaw("no <handoff>".into())),
                };
            }
        }
    }
}

/// Puts the element opened last where it belongs.
fn close(open: &mut Vec<Element>, root: &mut Option<Element>) {
    if let Some(done) = open.pop() {
        match open.last_mut() {
            Some(parent) => parent.children.push(done),
            None => *root = Some(done),
        }
    }
}

fn element(start: &BytesStart<'_>, line: u64) -> Result<Element, Flaw> {
    let name = start.name().as_ref().to_owned();
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute =
            attribute.map_err(|error| Flaw::at(line, format!("in <{name}>: {error}")))?;
        let value = attribute
            .normalized_value(quick_xml::XmlVersion::Explicit1_0)
            .map_err(|error| Flaw::at(line, format!("in <{name}>: {error}")))?;
        if !value.chars().all(is_xml) {
            return Err(Flaw::at(
                line,
                format!("in <{name}>: a character that XML has not"),
            ));
        }
        attributes.push((attribute.key.as_ref().to_owned(), value.into_owned()));
    }
    Ok(Element {
        name,
        attributes,
        text: String::new(),
        children: Vec::new(),
        line,
    })
}

fn put(open: &mut [Element], text: &str, line: u64) -> Result<(), Flaw> {
    if !text.chars().all(is_xml) {
        return Err(Flaw::at(line, "a character that XML has not"));
    }
    match open.last_mut() {
        Some(element) => element.text.push_str(text),
        None if text
            .trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
            .is_empty() => {}
        None => return Err(Flaw::at(line, "text outside the document")),
    }
    Ok(())
}

/// Whether XML 1.0 has the character.
fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// The line of a place; places come in order.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u64,
}

impl Lines<'_> {
    fn at(&mut self, place: u64) -> u64 {
        let place = usize::try_from(place)
            .unwrap_or(usize::MAX)
            .min(self.text.len());
        if place > self.at {
            let passed = &self.text.as_bytes()[self.at..place];
            self.line += passed.iter().filter(|byte| **byte == b'\n').count() as u64;
            self.at = place;
        }
        self.line
    }
}
