//! Texts that an endpoint does not take: too many, too long or too slow; and an
//! endpoint that takes none for a while.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use longhaul_index::{Indexer, Indexing, Patience, RemoteEncoder, Unmade, Waits};

use super::*;

/// What an endpoint says of the texts of a request.
type Judge = dyn Fn(&[&str]) -> Result<(), Unmade> + Send + Sync;

/// An endpoint that can be made to judge otherwise, and what it was asked for.
#[derive(Clone)]
struct Endpoint {
    judge: Arc<Mutex<Box<Judge>>>,
    asked: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Endpoint {
    fn start(index: &mut SqliteIndex) -> Endpoint {
        let endpoint = Endpoint {
            judge: Arc::new(Mutex::new(Box::new(|_| Ok(())))),
            asked: Arc::default(),
        };
        let own = endpoint.clone();
        let embed = move |texts: &[&str], _| {
            let asked = texts.iter().map(|text| String::from(*text)).collect();
            own.asked.lock().unwrap().push(asked);
            (own.judge.lock().unwrap())(texts)?;
            Ok(texts.iter().map(|_| vec![1.0, 0.5]).collect())
        };
        let encoder =
            RemoteEncoder::connect("http://there", "toy", Patience::Short, Box::new(embed));
        index.use_encoder(Some(Arc::new(encoder.unwrap())));
        endpoint
    }

    fn judges(&self, judge: impl Fn(&[&str]) -> Result<(), Unmade> + Send + Sync + 'static) {
        *self.judge.lock().unwrap() = Box::new(judge);
        self.asked.lock().unwrap().clear();
    }

    fn asked(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

fn refusal() -> Unmade {
    Unmade::Refused(String::from("413"))
}

fn notes(index: &mut SqliteIndex, number: usize) {
    let notes = (0..number).map(|n| said("s", &n.to_string(), n as u64, &format!("note {n}")));
    fill(index, &notes.collect::<Vec<Record>>());
}

fn embed(index: &mut SqliteIndex) -> Result<u64, longhaul_index::IndexError> {
    index.embed(u64::MAX, &mut |_, _| {})
}

#[test]
fn an_endpoint_that_takes_few_texts_at_once_gets_so_few_from_then_on() {
    let mut index = memory();
    notes(&mut index, 200);
    let endpoint = Endpoint::start(&mut index);
    endpoint.judges(|texts| match texts.len() {
        ..=10 => Ok(()),
        _ => Err(refusal()),
    });
    assert_eq!(embed(&mut index).unwrap(), 0);
    assert_eq!(index.status().unwrap().vectors, 200);
    let sizes: Vec<usize> = endpoint.asked().iter().map(Vec::len).collect();
    assert_eq!(sizes, [&[32, 16][..], &[8; 25]].concat());
}

#[test]
fn one_text_that_is_refused_keeps_no_other_from_its_vector() {
    let mut index = memory();
    notes(&mut index, 60);
    fill(&mut index, &[said("a", "x", 1, "unspeakable words")]);
    let endpoint = Endpoint::start(&mut index);
    let refuses = |texts: &[&str]| match texts.iter().any(|text| text.contains("uns")) {
        true => Err(refusal()),
        false => Ok(()),
    };
    endpoint.judges(refuses);
    assert_eq!(embed(&mut index).unwrap(), 0);
    let status = index.status().unwrap();
    assert_eq!((status.vectors, status.vectors_refused), (60, 1));
    let found = index.search(&Query::new("note")).unwrap();
    assert_eq!(found.notes, [""; 0]);
    // The other batch went in one.
    assert!(endpoint.asked().iter().any(|texts| texts.len() > 20));
    // Nothing is left to be done, so nothing is sent.
    assert_eq!(embed(&mut index).unwrap(), 0);
    assert_eq!(endpoint.asked(), [[""; 0]; 0]);
    index.try_refused().unwrap();
    assert_eq!(index.status().unwrap().vectors_refused, 1);
    endpoint.judges(|_| Ok(()));
    index.try_refused().unwrap();
    assert_eq!(embed(&mut index).unwrap(), 0);
    let status = index.status().unwrap();
    assert_eq!((status.vectors, status.vectors_refused), (61, 0));
}

#[test]
fn a_text_that_is_too_long_has_the_vector_of_its_beginning() {
    let mut index = memory();
    let long = "long ".repeat(100);
    fill(&mut index, &[said("a", "x", 1, &long)]);
    let endpoint = Endpoint::start(&mut index);
    endpoint.judges(|texts| match texts.iter().all(|text| text.len() <= 200) {
        true => Ok(()),
        false => Err(refusal()),
    });
    assert_eq!(embed(&mut index).unwrap(), 0);
    let status = index.status().unwrap();
    assert_eq!((status.vectors, status.vectors_refused), (1, 0));
    let asked = endpoint.asked();
    assert!(long.starts_with(&asked.last().unwrap()[0]), "{asked:?}");
}

#[test]
fn an_endpoint_that_takes_nothing_more_ends_the_run_and_no_text_is_blamed() {
    let mut index = memory();
    notes(&mut index, 40);
    let endpoint = Endpoint::start(&mut index);
    endpoint.judges(|_| Err(refusal()));
    let error = embed(&mut index).unwrap_err().to_string();
    assert!(error.contains("413"), "{error}");
    assert_eq!(index.status().unwrap().vectors_refused, 0);
    assert!(endpoint.asked().len() < 16);
    endpoint.judges(|_| Err(Unmade::Failed(String::from("500"))));
    assert!(embed(&mut index).is_err());
    assert_eq!(endpoint.asked().len(), 1);
}

#[test]
fn fewer_texts_are_sent_where_many_take_too_long_and_none_where_it_hangs() {
    let mut index = memory();
    notes(&mut index, 64);
    let endpoint = Endpoint::start(&mut index);
    let late = || Unmade::Late(String::from("30 s"));
    endpoint.judges(move |_| Err(late()));
    assert!(embed(&mut index).is_err());
    assert_eq!(endpoint.asked().len(), 2);
    endpoint.judges(move |texts| match texts.len() {
        ..=16 => Ok(()),
        _ => Err(late()),
    });
    assert_eq!(embed(&mut index).unwrap(), 0);
    let sizes: Vec<usize> = endpoint.asked().iter().map(Vec::len).collect();
    assert_eq!(sizes, [32, 1, 16, 16, 16, 16]);
}

#[test]
fn the_thread_goes_on_with_vectors_once_an_endpoint_is_well_again_and_tells_of_it_once() {
    let folder = TempDir::new().unwrap();
    let mut index = on_disk(&folder);
    let endpoint = Endpoint::start(&mut index);
    endpoint.judges(|_| Err(Unmade::Failed(String::from("500"))));
    let (send, told) = channel();
    let tell = Box::new(move |indexing: Indexing| {
        let _ = send.send(indexing);
    });
    let next = Duration::from_millis(1);
    let waits = Waits {
        next,
        longest: 8 * next,
    };
    let indexer = Indexer::start(Box::new(index), tell, waits).unwrap();
    let note = said("s", "a", 1, "left the context");
    indexer.work(putting(note));
    let mut failures = 0;
    loop {
        match told.recv_timeout(Duration::from_secs(60)).unwrap() {
            Indexing::Failed(_) => failures += 1,
            Indexing::Vectors(1, 1) => break,
            _ => {}
        }
        if endpoint.asked.lock().unwrap().len() > 3 {
            endpoint.judges(|_| Ok(()));
        }
    }
    assert_eq!(failures, 1);
    indexer.stop();
}

#[test]
fn the_end_does_not_wait_for_an_endpoint_that_hangs() {
    let folder = TempDir::new().unwrap();
    let mut index = on_disk(&folder);
    let endpoint = Endpoint::start(&mut index);
    let (release, held) = channel::<()>();
    let (asked, hangs) = channel();
    let (held, asked) = (Mutex::new(held), Mutex::new(asked));
    endpoint.judges(move |_| {
        let _ = asked.lock().unwrap().send(());
        let _ = held.lock().unwrap().recv();
        Ok(())
    });
    let indexer = Indexer::start(Box::new(index), Box::new(|_| {}), Waits::default()).unwrap();
    let note = said("s", "a", 1, "left the context");
    indexer.work(putting(note));
    hangs.recv_timeout(Duration::from_secs(60)).unwrap();
    let (done, ended) = channel();
    std::thread::spawn(move || {
        indexer.stop();
        let _ = done.send(());
    });
    ended.recv_timeout(Duration::from_secs(60)).unwrap();
    drop(release);
}
