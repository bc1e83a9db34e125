//! `chat`: an agent in the terminal with the engine on.
//!
//! One conversation, three ways to lead it: at a terminal, line by line through
//! a pipe, or one message with `--print`. With `--json`, what happens is printed
//! for programs instead, one object a line.

mod ask;
mod execute;
mod history;
mod input;
mod json;
mod screen;
mod sessions;
mod setup;
mod slash;
mod stop;
mod usage;

use std::io::{BufRead, IsTerminal, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use longhaul_engine::session::{Engine, Error, Listener, Session, Turn, newest_of};
use longhaul_engine::tools::{Approver, NobodyToAsk, Toolbox};
use longhaul_transcript::{Draft, Session as Stored};
use tokio::runtime::Runtime;

use self::ask::AtTerminal;
use self::input::{Prompt, Typed};
use self::json::JsonLines;
use self::screen::{Kind, Screen};
use self::setup::{Chosen, Place};
use self::slash::{Said, Slash};
use self::stop::Stopper;
use super::dream::Background;
use super::{change, models, spending};
use crate::args::ChatArgs;
use crate::connection::{self, Connection};
use crate::failure::Outcome;
use crate::prelude::*;
use crate::style::Style;

/// The longest message that is read from standard input.
const MOST_INPUT_BYTES: u64 = 8 << 20;

/// How a conversation is led.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// One message, then the end.
    Once,
    /// A line, an answer.
    Lines,
    /// With a person.
    Terminal,
}

pub(crate) fn run(app: &App, args: &ChatArgs) -> Result {
    let at_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let way = match (args.print, app.json, &args.message) {
        (true, ..) | (_, true, Some(_)) => Way::Once,
        (false, false, _) if at_terminal => Way::Terminal,
        _ => Way::Lines,
    };
    let message = match (way, &args.message) {
        (Way::Once, None) => Some(whole_input(std::io::stdin())?),
        (Way::Once, Some(message)) => Some(with_piped(message)?),
        (_, message) => message.clone(),
    };
    if way == Way::Once && message.as_deref().is_none_or(|text| text.trim().is_empty()) {
        return Err(Failure::usage("there is no message")
            .help("give one after the options, or on standard input"));
    }
    let mut chat = Chat::begin(app, args, way)?;
    let led = match chat.lead(message) {
        // Stopped, but not by a person at the keyboard.
        Err(failure) if chat.stopper.is_ending() && failure.outcome == Outcome::Stopped => {
            Err(Failure {
                outcome: Outcome::Ended,
                ..failure
            })
        }
        // The answer was whole before the signal came; what was to follow is not said.
        Ok(()) if chat.stopper.is_ending() && way != Way::Once => Err(Failure {
            outcome: Outcome::Ended,
            ..Failure::new("ended by a signal")
        }),
        led => led,
    };
    for trouble in chat.place.settle() {
        out::note(&trouble);
    }
    // The window may have been learnt.
    chat.keep();
    app.last_writes().remember(chat.session.path());
    if let Some(told) = chat.dreams.at_the_end() {
        chat.screen.aside(&told);
    }
    led
}

/// How long is waited for the first byte of what may be piped in.
const PATIENCE: Duration = Duration::from_secs(3);

/// A message, and what is piped in behind it. A pipe in which nothing comes is not
/// waited for: whoever started us may hold it open for no reason.
fn with_piped(message: &str) -> Result<String> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileTypeExt;
    let input = std::fs::File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let kind = input.metadata()?.file_type();
    if !kind.is_fifo() && !kind.is_file() && !kind.is_socket() {
        return Ok(message.to_owned());
    }
    let (send, begun) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        // An error shows again where the whole is read.
        let _ = send.send(input.fill_buf().map_or(0, <[u8]>::len));
    });
    match begun.recv_timeout(PATIENCE) {
        Ok(0) => Ok(message.to_owned()),
        Ok(_) => Ok(format!("{message}\n\n{}", whole_input(std::io::stdin())?)),
        Err(_) => {
            out::note("nothing came on standard input; going on without it");
            Ok(message.to_owned())
        }
    }
}

fn whole_input(input: impl Read) -> Result<String> {
    let mut bytes = Vec::new();
    input.take(MOST_INPUT_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_INPUT_BYTES {
        return Err(usage!(
            "the message is longer than {}",
            paint::bytes(MOST_INPUT_BYTES)
        )
        .help("put it into a file of the workspace and name the file"));
    }
    String::from_utf8(bytes)
        .map_err(|_| Failure::usage("the message on standard input is not UTF-8"))
}

struct Chat<'a> {
    app: &'a App,
    args: &'a ChatArgs,
    way: Way,
    runtime: Runtime,
    stopper: Stopper,
    screen: Screen,
    tools: Arc<dyn Toolbox>,
    place: Place,
    chosen: Chosen,
    engine: Engine,
    session: Session,
    dreams: Background,
}

impl<'a> Chat<'a> {
    fn begin(app: &'a App, args: &'a ChatArgs, way: Way) -> Result<Chat<'a>> {
        let old = find(app, args, way)?;
        let before = old.as_deref().and_then(|old| setup::asked_before(app, old));
        let remembered = || old.as_deref().and_then(setup::model_of);
        let Some(name) = app.model.clone().or_else(remembered) else {
            return Err(Failure::usage("no model is named").help(
                "name one with --model provider/name, such as --model \
                 anthropic/claude-sonnet-4-5; a session remembers it",
            ));
        };
        let chosen = match before.clone().filter(|_| app.model.is_none()) {
            Some(spec) => setup::connect_as(app, args, spec)?,
            None => setup::connect(app, args, &name)?,
        };
        if let Some(before) = before
            && before.base_url != chosen.spec.base_url
        {
            note!(
                "the session was asked as {before} before, and is as {} now",
                connection::without_secrets(&chosen.spec)
            );
        }
        let kind = match way {
            _ if app.json => Kind::Nothing,
            Way::Once if app.quiet => Kind::Nothing,
            Way::Once => Kind::Warnings,
            Way::Lines | Way::Terminal if app.quiet => Kind::Bare,
            Way::Lines => Kind::Lines,
            Way::Terminal => Kind::Terminal,
        };
        let screen = Screen::new(kind);
        let place = Place::new(app);
        let approver: Arc<dyn Approver> = match way {
            Way::Terminal => Arc::new(AtTerminal {
                screen: screen.clone(),
            }),
            Way::Once | Way::Lines => Arc::new(NobodyToAsk),
        };
        let tools = setup::tools(app, args, &place, approver)?;
        let engine = setup::engine(app, args, &chosen, &tools, &place);
        let runtime = models::runtime(2)?;
        let stopper = Stopper::default();
        let _inside = runtime.enter();
        stopper.listen(&runtime, way);
        let mut listener = listener(app, &screen);
        let session = match &old {
            Some(path) => engine.open(path, listener.as_mut()),
            None => engine.create(args.session.as_deref(), listener.as_mut()),
        }
        .map_err(Failure::from)?;
        drop(listener);
        drop(_inside);
        place.set(session.path());
        let mut chat = Chat {
            app,
            args,
            way,
            runtime,
            stopper,
            screen,
            tools,
            place,
            chosen,
            engine,
            session,
            dreams: Background::new(app),
        };
        if old.is_some() {
            chat.note_model()?;
        }
        chat.keep();
        Ok(chat)
    }

    /// Keeps how the model is asked for whoever resumes the session.
    fn keep(&mut self) {
        let status = self.session.status();
        let window = (status.window, status.window_origin);
        let path = self.session.path();
        if let Err(error) = Connection::write(&self.app.state_dir, path, &self.chosen.spec, window)
        {
            note!("how the model is asked will not be known when the session is resumed: {error}");
        }
    }

    /// Writes down that another model answers from now on.
    fn note_model(&mut self) -> Result {
        let info = self.chosen.model.info();
        let now = setup::model_of(self.session.path());
        if now.as_deref() != Some(&format!("{}/{}", info.provider, info.name)) {
            self.session
                .ingest(Draft::ModelChange {
                    provider: info.provider.clone(),
                    model: info.name.clone(),
                })
                .map_err(Failure::from)?;
        }
        Ok(())
    }

    fn lead(&mut self, first: Option<String>) -> Result {
        match self.way {
            Way::Once => {
                let turn = self.say(&first.unwrap_or_default())?;
                if self.app.json {
                    return Ok(());
                }
                out::whole(&format!("{}\n", turn.text))?;
                if turn.stop != "stop" {
                    out::note(&format!("the answer ended early: {}", turn.stop));
                }
                Ok(())
            }
            Way::Lines => self.lines(first),
            Way::Terminal => self.terminal(first),
        }
    }

    /// One line, one message, until there are no more; the first that fails
    /// ends it.
    fn lines(&mut self, first: Option<String>) -> Result {
        let mut said = first.is_some();
        if let Some(message) = first {
            self.say(&message)?;
        }
        for line in std::io::stdin().lock().lines() {
            let line = line.map_err(|error| {
                fail!("cannot read standard input: {error}").help("messages are lines of UTF-8")
            })?;
            match slash::read(&line) {
                Said::Nothing => continue,
                Said::Message(message) => {
                    self.say(&message)?;
                }
                Said::Slash(Slash::Quit) => break,
                Said::Slash(slash) => self.execute(slash)?,
                Said::Unknown(advice) => return Err(Failure::usage(advice)),
            }
            said = true;
            if self.stopper.is_ending() {
                break;
            }
        }
        match said {
            true => Ok(()),
            false => Err(Failure::nothing("Nothing was said.")),
        }
    }

    fn terminal(&mut self, first: Option<String>) -> Result {
        longhaul_files::create_folder(&self.app.state_dir)?;
        let mut prompt = Prompt::new(&self.app.state_dir.join("chat-history"))?;
        self.greet();
        if let Some(message) = first {
            self.attempt(|chat| chat.say(&message).map(|_| ()))?;
        }
        let mut leaving = false;
        while !self.stopper.is_ending() {
            self.gauge();
            self.session.prewarm(&mut self.screen.clone());
            let waiting = self.dreams.wait();
            let typed = prompt.read()?;
            drop(waiting);
            if let Some(told) = self.dreams.told() {
                self.screen.aside(&told);
            }
            let said = match typed {
                Typed::Left => return Ok(()),
                Typed::Cleared if leaving => return Ok(()),
                Typed::Cleared => {
                    leaving = true;
                    self.screen.aside("Ctrl-C again, or Ctrl-D, leaves");
                    continue;
                }
                Typed::Line(line) => slash::read(&line),
            };
            leaving = false;
            match said {
                Said::Nothing => {}
                Said::Message(message) => {
                    self.attempt(|chat| chat.say(&message).map(|_| ()))?;
                }
                Said::Slash(Slash::Quit) => return Ok(()),
                Said::Slash(slash) => self.attempt(|chat| chat.execute(slash))?,
                Said::Unknown(advice) => self.screen.warn(&advice),
            }
        }
        Ok(())
    }

    /// Does something that may fail without ending the conversation.
    fn attempt(&mut self, work: impl FnOnce(&mut Self) -> Result) -> Result {
        match work(self) {
            Err(failure) if failure.outcome == Outcome::Unheard => Err(failure),
            Err(failure) if self.stopper.is_ending() => Err(failure),
            Err(failure) => {
                out::failure(&failure);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn greet(&self) {
        self.screen.aside(&format!(
            "session {} · {} · {} · /help lists the commands",
            paint::gist(self.session.key(), 40),
            self.chosen.spec,
            self.app.show_path(&self.app.workspace),
        ));
    }

    /// How full the window is and what it cost, before the prompt.
    fn gauge(&mut self) {
        let status = self.session.status();
        let level = self.session.window().level(status.size.tokens);
        let total = status.spending.total();
        let short = |tokens: u32| match tokens {
            0..=999 => tokens.to_string(),
            _ => format!("{}k", (u64::from(tokens) + 500) / 1000),
        };
        let line = format!(
            "[Context: {:.0}% | {}/{} tokens{}] {}",
            (status.fullness * 100.0).floor(),
            short(status.size.tokens.0),
            short(status.window.0),
            match self.session.live().epoch() {
                0 => String::new(),
                epoch => format!(" | {}", paint::plural(u64::from(epoch), "compaction")),
            },
            spending::dollars(&total),
        );
        let style = match level {
            longhaul_tokens::Level::Calm => Style::new().dim(),
            level => paint::level(level),
        };
        out::remark(style.for_stderr().apply_to(line));
    }

    /// Says something to the model and shows what comes of it.
    fn say(&mut self, message: &str) -> Result<Turn> {
        if self.app.json {
            let mut lines = JsonLines::default();
            let ended = self.turn(message, &mut lines);
            let result = json::result(&mut self.session, &ended);
            lines.line(&result);
            lines.finish()?;
            return ended.map_err(Failure::from);
        }
        let mut screen = self.screen.clone();
        self.screen.wait();
        let ended = self.turn(message, &mut screen);
        self.screen.finish()?;
        ended.map_err(Failure::from)
    }

    fn turn(&mut self, message: &str, listener: &mut dyn Listener) -> Result<Turn, Error> {
        let Chat {
            runtime,
            stopper,
            session,
            ..
        } = self;
        stopper.run(runtime, async |cancel| {
            session.turn(message, &cancel, listener).await
        })
    }
}

/// Who hears of events outside a turn.
fn listener(app: &App, screen: &Screen) -> Box<dyn Listener> {
    match app.json {
        true => Box::new(JsonLines::default()),
        false => Box::new(screen.clone()),
    }
}

/// The session to go on with, if there is one that may be written to.
fn find(app: &App, args: &ChatArgs, way: Way) -> Result<Option<PathBuf>> {
    let found = match &args.session {
        _ if args.new => None,
        Some(name) if name.trim().is_empty() => {
            return Err(Failure::usage("the session has no name").help("such as --session work"));
        }
        Some(name) => newest_of(&app.state_dir, name),
        // A script that names no session does not mean the one a person is in.
        None if way == Way::Once => None,
        None => sessions::newest(app),
    };
    let Some(path) = found else { return Ok(None) };
    let session = Stored::open(&path)?;
    if let Some(cwd) = &session.header().cwd
        && !resolve::belongs_to(session.reference(), &app.workspace)
    {
        note!(
            "the session was begun in {}; its tools work in {} now",
            app.show_path(cwd),
            app.show_path(&app.workspace)
        );
    }
    change::writable(app, &session, args.leave).map(Some)
}
