//! What the user said, word for word, in order.
//!
//! All of it is kept while it is within bounds far above what a summary shows.
//! Past them length and order decide, as they do in a summary: the first and the
//! newest stay, and of the older ones the shortest.

use longhaul_transcript::json::{self, Object};
use longhaul_transcript::{Body, Channel, Entry, MessageView, UserText};

use crate::facts::{Origin, Speaker, TurnState, Utterance};
use crate::ledger::{At, Ledger};
use crate::ours;
use crate::text::{clip, clip_end};

/// Utterances that are listed at all.
const LISTED: usize = 2_000;
/// Bytes of all of them together: several times what any summary shows.
const BYTES: usize = 256 * 1024;
/// Bytes of a single one; a longer one keeps its two ends.
const LONGEST: usize = 128 * 1024;

impl Utterance {
    /// Whether the words are whole.
    pub fn is_whole(&self) -> bool {
        self.gap.is_none()
    }
}

/// Whether an entry says that all before it was brought from elsewhere, and
/// nobody vouches for it.
pub fn is_brought(entry: &Entry) -> bool {
    let is_import =
        matches!(&entry.body, Body::Custom { custom_type } if custom_type == ours::IMPORT);
    let vouched = || {
        let object = Object::of(entry.raw())?;
        object.object("data")?.bool("vouched")
    };
    is_import && vouched() != Some(true)
}

/// Whose words stand in a message of the user: OpenClaw says where one came from
/// (`external_user` is a person), Claude Code whether another agent speaks.
pub(crate) fn origin(view: &MessageView<'_>) -> Origin {
    let object = view.object();
    let sent = object.object("provenance").is_some_and(|from| {
        let kind = from.str("kind");
        kind.is_some_and(|kind| kind != "external_user")
    });
    match sent || object.bool("isSidechain") == Some(true) {
        true => Origin::Agent,
        false => Origin::User,
    }
}

impl Ledger {
    /// Notes what the user said.
    pub(crate) fn hear(&mut self, at: At<'_>, said: &UserText<'_>, origin: Origin) {
        let words = said.text.trim();
        if words.is_empty() {
            return;
        }
        self.heard = self.heard.saturating_add(1);
        let (text, gap) = match words.len() > LONGEST {
            true => {
                let head = clip(words, LONGEST / 2);
                let tail = clip_end(words, LONGEST / 2);
                (format!("{head}{tail}"), Some(head.len()))
            }
            false => (words.to_owned(), None),
        };
        let question = said.question.as_deref();
        self.working.utterance_bytes += text.len();
        self.utterances.push(Utterance {
            number: self.heard,
            entry: at.entry.clone(),
            time: at.time,
            channel: said.channel,
            origin,
            question: question.map(|question| clip(question.trim(), 2_000).to_owned()),
            text,
            gap,
            state: TurnState::Open,
        });
        self.make_room_for_words();
    }

    /// Words that the user said in the session before this one, or that came with
    /// work handed over: nothing of this session answers them.
    pub(crate) fn carry_words(&mut self, at: At<'_>, text: &str, origin: Origin) {
        let said = UserText {
            channel: Channel::Prompt,
            text: text.into(),
            question: None,
        };
        self.hear(at, &said, origin);
        if let Some(last) = self.utterances.last_mut() {
            last.state = TurnState::Answered;
        }
    }

    /// What an entry of ours says the user said in the session before.
    pub(crate) fn carry_session(&mut self, at: At<'_>, entry: &Entry) {
        let is_carried =
            matches!(&entry.body, Body::Custom { custom_type } if custom_type == ours::CARRIED);
        if !is_carried {
            return;
        }
        let Some(object) = Object::of(entry.raw()) else {
            return;
        };
        let texts = object.object("data").and_then(|data| data.raw("texts"));
        for raw in texts.and_then(json::array).unwrap_or_default() {
            if let Some(text) = json::string(raw.get()) {
                self.carry_words(at, &text, Origin::Carried);
            }
        }
    }

    /// A prompt begins a new turn: what was open before it was broken off. Words
    /// through another channel join the turn that runs.
    pub(crate) fn interrupt_open(&mut self) {
        self.settle_open(TurnState::Interrupted);
    }

    pub(crate) fn settle_open(&mut self, state: TurnState) {
        let open = self.utterances.iter_mut().rev();
        for utterance in open.take_while(|utterance| utterance.state == TurnState::Open) {
            utterance.state = state;
        }
    }

    /// Nothing that was folded so far is the user's word: it came from elsewhere,
    /// and whoever wrote it may have put anything into the user's mouth.
    pub fn disown(&mut self) {
        self.handed = None;
        for utterance in &mut self.utterances {
            utterance.origin = Origin::Imported;
        }
        self.agreements.clear();
        self.replies.clear();
        let thread = &mut self.working.thread;
        let exchanges = self.exchanges.iter_mut().chain(&mut thread.first);
        let exchanges = exchanges
            .chain(&mut thread.pivots)
            .chain(&mut thread.recent);
        let users = exchanges.filter(|exchange| exchange.by == Speaker::User);
        let texts = users.map(|exchange| &mut exchange.gist);
        let notes = self.notes.iter_mut().map(|note| &mut note.text);
        // In the words themselves: they go on into checkpoints and hand-offs.
        for text in texts.chain(notes).chain(&mut self.topic) {
            if !text.starts_with(ours::BROUGHT) {
                text.insert_str(0, ours::BROUGHT);
            }
        }
    }

    /// Lets go of the longest of the older ones, in one stretch so that it does
    /// not cost much each time.
    fn make_room_for_words(&mut self) {
        let count = self.utterances.len();
        if count <= LISTED && self.working.utterance_bytes <= BYTES {
            return;
        }
        let (most, bytes) = (LISTED / 10 * 9, BYTES / 10 * 9);
        let (mut kept, mut size) = (1, self.utterances[0].text.len());
        let mut stays = vec![false; count];
        stays[0] = true;
        // The newest, until three quarters are used.
        let mut newest = count;
        while newest > 1 {
            let length = self.utterances[newest - 1].text.len();
            let fits = kept < most / 4 * 3 && size + length <= bytes / 4 * 3;
            if !fits && newest < count {
                break;
            }
            newest -= 1;
            stays[newest] = true;
            kept += 1;
            size += length;
        }
        // Then the shortest; of equal length the newer one.
        let mut older: Vec<usize> = (1..newest).collect();
        older.sort_by_key(|&at| (self.utterances[at].text.len(), usize::MAX - at));
        for at in older {
            let length = self.utterances[at].text.len();
            if kept >= most || size + length > bytes {
                break;
            }
            stays[at] = true;
            kept += 1;
            size += length;
        }
        let mut at = 0;
        self.utterances.retain(|_| {
            at += 1;
            stays[at - 1]
        });
        self.utterances_left += (count - self.utterances.len()) as u64;
        self.working.utterance_bytes = size;
    }
}
