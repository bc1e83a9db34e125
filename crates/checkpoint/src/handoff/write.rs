//! Writing a hand-off.

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use super::{Handoff, HandoffFile, printable};

pub(super) fn document(handoff: &Handoff) -> String {
    let mut out = Out(Writer::new_with_indent(
        Vec::with_capacity(8 * 1024),
        b' ',
        2,
    ));
    out.put(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)));
    out.start("handoff", &[("version", "1")]);
    let from = &handoff.from;
    let checkpoint = from.checkpoint.to_string();
    out.empty(
        "from",
        &[
            ("agent", &from.agent),
            ("session", from.session.as_str()),
            ("checkpoint", &checkpoint),
            ("created-at", &from.created_at),
        ],
    );
    out.empty("to", &[("agent", &handoff.to)]);
    out.text("task", &[], &handoff.task);
    out.start("state", &[("status", handoff.status.name())]);
    out.text("topic", &[], &handoff.topic);
    out.text("next-action", &[], &handoff.next_action);
    out.text("summary", &[], &handoff.summary);
    out.end("state");
    out.start("decisions", &[]);
    for decision in &handoff.decisions {
        let mut attributes = vec![("id", decision.id.as_str())];
        attributes.extend(decision.when.as_deref().map(|when| ("when", when)));
        out.text("decision", &attributes, &decision.what);
    }
    out.end("decisions");
    out.start("files", &[]);
    for file in &handoff.files {
        let (access, path) = match file {
            HandoffFile::Modified(path) => ("modified", path),
            HandoffFile::Read(path) => ("read", path),
        };
        out.text("file", &[("access", access)], path);
    }
    out.end("files");
    out.list("open-items", "item", &handoff.open_items);
    out.list("constraints", "constraint", &handoff.constraints);
    let budget = handoff.budget.0.to_string();
    out.empty("budget", &[("tokens", &budget)]);
    out.end("handoff");
    let mut text = String::from_utf8(out.0.into_inner())
        .expect("strings written one after another are a string");
    text.push('\n');
    text
}

struct Out(Writer<Vec<u8>>);

impl Out {
    fn put(&mut self, event: Event<'_>) {
        self.0
            .write_event(event)
            .expect("a vector takes every byte");
    }

    fn tag<'a>(name: &'a str, attributes: &[(&'a str, &str)]) -> BytesStart<'a> {
        let mut tag = BytesStart::new(name);
        for (name, value) in attributes {
            // A reader turns plain line ends and tabs of a value into spaces.
            let value = escaped(value).replace('\n', "&#10;").replace('\t', "&#9;");
            tag.push_attribute(quick_xml::events::attributes::Attribute {
                key: quick_xml::name::QName(name),
                value: value.into(),
            });
        }
        tag
    }

    fn start(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.put(Event::Start(Self::tag(name, attributes)));
    }

    fn end(&mut self, name: &str) {
        self.put(Event::End(BytesEnd::new(name)));
    }

    fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.put(Event::Empty(Self::tag(name, attributes)));
    }

    fn text(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        self.start(name, attributes);
        self.put(Event::Text(BytesText::from_escaped(escaped(text))));
        self.end(name);
    }

    fn list(&mut self, name: &str, item: &str, texts: &[String]) {
        self.start(name, &[]);
        for text in texts {
            self.text(item, &[], text);
        }
        self.end(name);
    }
}

/// The text as XML; a carriage return by its number, because a reader takes a
/// plain one for a line end.
fn escaped(text: &str) -> String {
    quick_xml::escape::escape(printable(text)).replace('\r', "&#13;")
}
