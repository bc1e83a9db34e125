//! Texts that an endpoint does not take: too many, too long or too slow.

use std::sync::{Arc, Mutex};

use longhaul_memory::{Patience, RemoteEncoder, Unmade};

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

fn embed(index: &mut SqliteIndex) -> Result<u64, longhaul_memory::IndexError> {
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
