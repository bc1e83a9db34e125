//! What a search finds, and in what order.

use longhaul_index::{Filters, SearchSettings};

use super::*;

#[test]
fn words_are_found_in_other_forms_and_styles() {
    let mut index = memory();
    fill(
        &mut index,
        &[
            said("s", "a", 1, "We retried the connections to the cluster"),
            said("s", "b", 100, "rename userSegmentTags please"),
            said("t", "c", 1, "我的上司是银行的行长。"),
            said(
                "u",
                "d",
                1,
                "Wir haben uns gegen die Datenbanken entschieden und das ist gut so",
            ),
        ],
    );
    assert_eq!(keys(&mut index, &Query::new("connection retry"))[0], "s#a");
    assert_eq!(keys(&mut index, &Query::new("user_segment_tags"))[0], "s#b");
    assert_eq!(keys(&mut index, &Query::new("银行"))[0], "t#c");
    assert_eq!(keys(&mut index, &Query::new("Datenbank"))[0], "u#d");
}

#[test]
fn ids_that_were_given_one_after_the_other_are_told_apart() {
    // ObjectIds of one second and machine, trace ids that count, UUIDs in a row.
    let kinds: [fn(u64) -> String; 3] = [
        |at| format!("65f1c0aa9b3e4d7c21{:06x}", 0xa1_b2_00 + at),
        |at| format!("4bf92f3577b34da6a3ce929d0e{:06x}", 0x0e_47_10 + at),
        |at| format!("018f3c2a-7b1e-7cc3-98c4-dc0c0c0{:05x}", 0x7398 + at),
    ];
    for kind in kinds {
        let mut index = memory();
        let records: Vec<Record> = (0..12)
            .map(|at| {
                let text = format!("order {} was paid and sent on its way", kind(at));
                said(&at.to_string(), "a", 1, &text)
            })
            .collect();
        fill(&mut index, &records);
        for at in 0..12 {
            let found = keys(&mut index, &Query::new(kind(at)));
            assert_eq!(found[0], format!("{at}#a"), "{}", kind(at));
        }
        // A beginning that all of them have finds them all.
        let mut query = Query::new(&kind(3)[..15]);
        query.k = 20;
        assert_eq!(keys(&mut index, &query).len(), 12, "{}", kind(3));
    }
}

#[test]
fn hashes_and_ids_are_found_whole_and_by_their_beginning() {
    let mut index = memory();
    let commit = "9b1c4f0e7d2a8b3c5e6f7081923a4b5c6d7e8f90";
    let other = "9b1c4f1aa0d2a8b3c5e6f7081923a4b5c6d7e8f9";
    let digits = "4410527e9d2a8b3c5e6f7081923a4b5c6d7e8f90";
    let digest = format!("{commit}{}", &other[..24]).replace('9', "3");
    let uuid = "550e8400-e29b-41d4-a716-446655440000";
    let call = "toolu_01A09q90qw90lq917835lq9";
    let texts = [
        ("commit", format!("the fix is in {commit}, tell Ada")),
        ("other", format!("{other} broke it")),
        ("digits", format!("merged {digits}")),
        ("digest", format!("sha256:{digest}")),
        ("uuid", format!("the job {uuid} hangs")),
        ("call", format!("result of {call}")),
        ("short", "see 7d3e1f2 for how".to_owned()),
        ("none", "nothing of this is here".to_owned()),
    ];
    fill(
        &mut index,
        &texts
            .each_ref()
            .map(|(name, text)| said(name, "a", 1, text)),
    );
    for (query, name) in [
        (commit, "commit"),
        (&commit[..7], "commit"),
        (&commit[..10], "commit"),
        (&commit[..20], "commit"),
        (&commit.to_uppercase(), "commit"),
        (&other[..7], "other"),
        (&digits[..7], "digits"),
        (&digest, "digest"),
        (&digest[..60], "digest"),
        (&digest[..12], "digest"),
        (uuid, "uuid"),
        (&uuid[..8], "uuid"),
        (&uuid[..13], "uuid"),
        (call, "call"),
        ("7d3e1f2", "short"),
        ("what about 9b1c4f0?", "commit"),
    ] {
        let found = keys(&mut index, &Query::new(query));
        assert_eq!(
            found.first().map(String::as_str),
            Some(&*format!("{name}#a")),
            "{query}"
        );
    }
}

#[test]
fn a_query_of_signs_alone_finds_nothing_and_is_told_why() {
    let mut index = memory();
    fill(&mut index, &[said("s", "a", 1, "it says ?! and -> there")]);
    for signs in ["?!", "->", "***"] {
        let found = index.search(&Query::new(signs)).unwrap();
        assert!(found.hits.is_empty(), "{signs}");
        assert!(
            found.notes[0].contains("no letter and no digit"),
            "{found:?}"
        );
    }
    assert!(
        index
            .search(&Query::new("there ?!"))
            .unwrap()
            .notes
            .is_empty()
    );
}

#[test]
fn versions_names_and_spellings_are_found_as_people_write_them() {
    let mut index = memory();
    let texts = [
        ("number", "number 2 of the list, then 4 and 1 again"),
        ("version", "the fix is in v2.4.1 since May"),
        ("tags", "read userSegmentTags first"),
        ("joined", "the tidalwavecounters come later"),
        ("street", "Die Wohnung in der Straße ist klein"),
        ("tree", "Ёлка стоит в углу"),
        ("node", "it runs on node.js only"),
        ("plain", "the nextjs pages are old"),
    ];
    fill(
        &mut index,
        &texts.map(|(name, text)| said(name, "a", 1, text)),
    );
    for (query, name) in [
        ("2.4.1", "version"),
        ("v2.4.1", "version"),
        ("usersegmenttags", "tags"),
        ("userSegmentTags", "tags"),
        ("tidalWaveCounters", "joined"),
        ("strasse", "street"),
        ("STRASSE", "street"),
        ("елка", "tree"),
        ("ёлки", "tree"),
        ("node.js", "node"),
        ("Next.js", "plain"),
    ] {
        let found = keys(&mut index, &Query::new(query));
        assert_eq!(
            found.first().map(String::as_str),
            Some(&*format!("{name}#a")),
            "{query}"
        );
    }
}

#[test]
fn a_hit_tells_where_it_is_and_why() {
    let mut index = memory();
    fill(
        &mut index,
        &[Record::file(
            RecordKind::Memory,
            "memories/errors.md",
            "# Errors\n\nthe deploy fails without TIDE-6943\n",
        )],
    );
    let hits = index
        .search(&Query::new("why does the deploy fail?"))
        .unwrap();
    let hit = &hits.hits[0];
    assert_eq!(
        (hit.source.as_str(), hit.lines),
        ("memories/errors.md", (1, 3))
    );
    assert_eq!(hit.why.terms, ["deploy", "fail"]);
    assert_eq!(hit.why.vector, None);
    assert_eq!(hits.model, None);
}

#[test]
fn an_answer_is_found_by_the_question_before_it() {
    let mut index = memory();
    fill(
        &mut index,
        &[
            said("s", "q", 1, "Which port does the staging proxy listen on?"),
            said("s", "a", 2, "It is 8443."),
            said("s", "x", 3000, "Lunch at noon."),
        ],
    );
    assert_eq!(
        keys(&mut index, &Query::new("staging proxy port")),
        ["s#q", "s#a"]
    );
}

#[test]
fn a_text_without_a_word_of_the_query_comes_behind_what_it_stands_beside() {
    let answered = |entry: &str, at, text: &str| Record {
        role: Some(String::from("assistant")),
        ..said("s", entry, at, text)
    };
    let records = [
        answered(
            "first",
            1,
            "The worker needs the purple ticket before midnight.",
        ),
        said("s", "ok", 2, "ok"),
        answered("again", 3, "To repeat: a purple ticket, before midnight."),
        said("s", "thanks", 4, "thanks"),
    ];
    let scores = scores(&records, "purple ticket", SearchSettings::default());
    let order: Vec<&str> = scores.iter().map(|(entry, _)| entry.as_str()).collect();
    assert_eq!(order[..2], ["again", "first"]);
    assert!(score_of(&scores, "ok") < score_of(&scores, "first"));
}

#[test]
fn of_two_questions_each_leads_to_what_is_said_elsewhere_of_its_matter() {
    let hours_apart = |entry: &str, at: u64, text: &str| said("s", entry, at * 600, text);
    let mut records = vec![
        hours_apart("age", 1, "Marguerite turned 36 in spring"),
        hours_apart("law", 2, "Marguerite studied law in Lyon"),
    ];
    let lanterns = (0..8).map(|number| {
        let text = format!(
            "the autumn lantern festival with music and boats at pier {number} costs nothing"
        );
        hours_apart(&format!("pier {number}"), 10 + number, &text)
    });
    records.extend(lanterns);
    let others = (0..60).map(|number| {
        let text = "a note about paint";
        hours_apart(&format!("note {number}"), 30 + number, text)
    });
    records.extend(others);
    let mut index = memory();
    fill(&mut index, &records);
    let query = Query {
        k: 20,
        ..Query::new(
            "What does the autumn lantern festival with music and boats at the pier cost? Who turned 36?",
        )
    };
    let found = keys(&mut index, &query);
    assert!(found.contains(&String::from("s#law")), "{found:?}");
}

/// The score of each entry that a search finds.
fn scores(records: &[Record], query: &str, search: SearchSettings) -> Vec<(String, f32)> {
    let mut index = memory();
    index.use_search(search);
    fill(&mut index, records);
    let hits = index.search(&Query::new(query)).unwrap().hits;
    hits.into_iter().map(|hit| (hit.entry, hit.score)).collect()
}

fn score_of(scores: &[(String, f32)], entry: &str) -> f32 {
    scores.iter().find(|(name, _)| name == entry).unwrap().1
}

#[test]
fn the_answer_comes_not_far_behind_its_question_and_what_others_said_does() {
    let mut answer = said("s", "answer", 2, "Thirty, since the upgrade.");
    answer.role = Some(String::from("assistant"));
    let records = [
        said("s", "before", 0, "Good morning to all."),
        said("s", "question", 1, "How many lanterns hang in the harbour?"),
        answer,
        said("s", "after", 3, "Thank you."),
    ];
    let with = |exchange| SearchSettings {
        beside: 0.1,
        feedback: 0.0,
        exchange,
        ..SearchSettings::default()
    };
    let query = "lanterns in the harbour";
    let ratio = |exchange, entry| {
        let scores = scores(&records, query, with(exchange));
        score_of(&scores, entry) / score_of(&scores, "question")
    };
    assert!(ratio(0.0, "answer") < 0.2);
    assert!((ratio(0.6, "answer") - 0.6).abs() < 1e-3);
    assert!(ratio(0.6, "before") < 0.2);
}

#[test]
fn a_text_has_less_of_what_is_beside_it_where_the_user_begins_anew() {
    let by = |role: &str, entry: &str, at: u64, text: &str| {
        let mut record = said("s", entry, at, text);
        record.role = Some(role.to_owned());
        record
    };
    let records = [
        by("assistant", "before", 1, "Thirty, since the upgrade."),
        by(
            "user",
            "question",
            2,
            "How many lanterns hang in the harbour?",
        ),
        by("assistant", "answer", 3, "Forty, since the spring."),
    ];
    let settings = SearchSettings {
        feedback: 0.0,
        exchange: 0.0,
        ..SearchSettings::default()
    };
    let scores = scores(&records, "lanterns in the harbour", settings);
    assert!(score_of(&scores, "before") < 0.8 * score_of(&scores, "answer"));
}

#[test]
fn a_word_of_one_place_counts_more_than_one_that_stands_anywhere() {
    let texts = [
        "suggest a colour",
        "rain again",
        "ferry at nine",
        "ferry at noon",
        "ferry at five",
        "soup today",
        "suggest a name",
        "wind tomorrow",
        "suggest a day",
        "fog at dawn",
    ];
    let records: Vec<Record> = (0..)
        .zip(texts)
        .map(|(at, text)| said("s", text, at, text))
        .collect();
    let with = |topics| SearchSettings {
        beside: 0.0,
        feedback: 0.0,
        topics,
        ..SearchSettings::default()
    };
    let lead = |topics| {
        let scores = scores(&records, "suggest ferry", with(topics));
        score_of(&scores, "ferry at noon") / score_of(&scores, "suggest a name")
    };
    assert!((lead(0.0) - 1.0).abs() < 1e-3);
    assert!(lead(0.5) > 1.1);
}

#[test]
fn a_text_with_more_of_the_query_gains_on_one_that_repeats_a_word() {
    let records = [
        said("a", "repeats", 1, "harbour harbour harbour harbour harbour"),
        said("b", "has both", 1, "the harbour has lanterns and boats"),
        said("c", "neither", 1, "something about the weather"),
    ];
    let with = |coverage| SearchSettings {
        coverage,
        ..SearchSettings::default()
    };
    let lead = |coverage| {
        let scores = scores(&records, "harbour lanterns", with(coverage));
        score_of(&scores, "has both") / score_of(&scores, "repeats")
    };
    assert!(lead(0.4) > lead(0.0));
}

#[test]
fn what_is_said_elsewhere_of_the_same_thing_is_found_by_its_name() {
    let hours_apart = |entry: &str, at: u64, text: &str| said("s", entry, at * 600, text);
    let mut index = memory();
    fill(
        &mut index,
        &[
            hours_apart("a", 1, "Marguerite turned 36 in spring"),
            hours_apart("b", 2, "the printer is out of toner"),
            hours_apart("c", 3, "Marguerite studied law in Lyon"),
            hours_apart("d", 4, "lunch is at noon on Fridays"),
            hours_apart("e", 5, "the roof was mended"),
            hours_apart("f", 6, "parking is free on Sundays"),
        ],
    );
    let query = Query::new("who turned 36?");
    assert_eq!(keys(&mut index, &query), ["s#a", "s#c"]);
    let mut hits = index.search(&query).unwrap().hits;
    assert!(hits[1].score < hits[0].score / 2.0);
    assert!(hits.remove(1).why.terms.is_empty());
}

#[test]
fn filters_leave_out_what_does_not_pass() {
    let mut index = memory();
    let mut assistant = said("s", "b", 2, "the cache is cold");
    assistant.role = Some(String::from("assistant"));
    fill(
        &mut index,
        &[
            said("s", "a", 1, "the cache is warm"),
            assistant,
            said("t", "c", 500, "the cache is broken"),
            Record::file(RecordKind::Memory, "memories/context.md", "cache"),
            Record::file(RecordKind::Dream, "DREAMS.md", "cache"),
        ],
    );
    let mut find = |filters: Filters| {
        let mut keys = keys(
            &mut index,
            &Query {
                filters,
                ..Query::new("cache")
            },
        );
        keys.sort();
        keys
    };
    let none = Filters::default();
    assert_eq!(
        find(none.clone()),
        ["memories/context.md", "s#a", "s#b", "t#c"]
    );
    assert_eq!(
        find(Filters {
            sessions: vec!["t".into()],
            ..none.clone()
        }),
        ["t#c"]
    );
    assert_eq!(
        find(Filters {
            roles: vec!["Assistant".into()],
            ..none.clone()
        }),
        ["s#b"]
    );
    assert_eq!(
        find(Filters {
            paths: vec!["memories".into()],
            ..none.clone()
        }),
        ["memories/context.md"]
    );
    assert_eq!(
        find(Filters {
            paths: vec!["memo".into()],
            ..none.clone()
        }),
        [""; 0]
    );
    assert_eq!(
        find(Filters {
            kinds: vec![RecordKind::Dream],
            ..none.clone()
        }),
        ["DREAMS.md"]
    );
    assert_eq!(
        find(Filters {
            since: Some(Millis(120_000)),
            until: Some(Millis(600_000)),
            ..none
        }),
        ["s#b"]
    );
}

#[test]
fn a_chinese_character_is_found_in_every_pair_and_a_quotation_comes_first() {
    let mut index = memory();
    fill(
        &mut index,
        &[
            said("s", "a", 1, "我的上司是银行的行长。"),
            said("t", "b", 1, "火车十点出发"),
            said("u", "c", 1, "长桥在行人路的另一边"),
            said("v", "d", 1, "Rust 好的书"),
        ],
    );
    for (query, wanted) in [
        ("行", vec!["s#a", "u#c"]),
        ("桥", vec!["u#c"]),
        ("发", vec!["t#b"]),
    ] {
        // Others have words of the best ones, not of the query.
        let hits = index.search(&Query::new(query)).unwrap().hits;
        let having = hits.iter().filter(|hit| !hit.why.terms.is_empty());
        let mut found: Vec<String> = having.map(longhaul_index::Hit::key).collect();
        found.sort();
        assert_eq!(found, wanted, "{query}");
    }
    assert_eq!(keys(&mut index, &Query::new("银行的行长"))[0], "s#a");
    assert_eq!(keys(&mut index, &Query::new("rust 好"))[0], "v#d");
    // Taken out, its pairs are gone too.
    assert_eq!(index.remove("t").unwrap(), 1);
    assert_eq!(keys(&mut index, &Query::new("火车")), Vec::<String>::new());
}

#[test]
fn among_more_candidates_a_hit_that_repeats_none_is_found() {
    let mut index = memory();
    let mut texts: Vec<Record> = (0..12)
        .map(|at| {
            let text = format!("the harbour pilot boards ships at dawn, copy {at}");
            Record::file(RecordKind::Memory, format!("copies/{at:02}.md"), text)
        })
        .collect();
    texts.push(Record::file(
        RecordKind::Memory,
        "other.md",
        "every harbour pilot of the eastern coast was asked to leave ships alone in the fog, \
         which nobody had foreseen when the charts were drawn and the lights were set",
    ));
    fill(&mut index, &texts);
    let query = Query {
        k: 2,
        ..Query::new("harbour pilot ships")
    };
    let mut found = |candidates: u32| {
        index.use_search(SearchSettings {
            candidates,
            ..SearchSettings::default()
        });
        keys(&mut index, &query).contains(&"other.md".to_owned())
    };
    assert_eq!([found(1), found(4)], [false, true]);
}

#[test]
fn as_many_hits_come_as_are_wanted_and_none_at_all_for_none() {
    let mut index = memory();
    fill(
        &mut index,
        &[said("s", "a", 1, "one two"), said("t", "b", 1, "one three")],
    );
    for (wanted, found) in [(0, 0), (1, 1), (2, 2), (9, 2)] {
        let query = Query {
            k: wanted,
            ..Query::new("one")
        };
        assert_eq!(keys(&mut index, &query).len(), found, "{wanted}");
    }
}

#[test]
fn a_query_of_100_kb_is_answered_from_its_start() {
    let mut index = memory();
    fill(&mut index, &[said("s", "a", 1, "needle in a haystack")]);
    let hits = index
        .search(&Query::new(format!(
            "needle {}",
            "hay stack ".repeat(10_000)
        )))
        .unwrap();
    assert_eq!(hits.hits[0].key(), "s#a");
    assert_eq!(hits.notes.len(), 1);
}

/// A text of words that nothing else has, as a page or a log that is pasted.
fn page(words: std::ops::Range<usize>) -> String {
    let word = |number: usize| {
        let letter = |place: u32| char::from(b'a' + (number / 26usize.pow(place) % 26) as u8);
        format!("z{}{}{}q", letter(0), letter(1), letter(2))
    };
    words.map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_asked_behind_a_pasted_page_is_looked_for() {
    let mut index = memory();
    fill(&mut index, &[said("s", "a", 1, "needle in a haystack")]);
    for pasted in [page(0..2_000), page(0..600)] {
        let found = index.search(&Query::new(format!("{pasted} needle")));
        assert_eq!(found.unwrap().hits[0].key(), "s#a");
    }
}

#[test]
fn of_many_words_the_rarest_are_looked_for_and_that_is_said() {
    let mut index = memory();
    let texts = (0..1_000).step_by(10).flat_map(|from| {
        let text = page(from..from + 10);
        ["a", "b"].map(|session| said(session, &format!("{from}"), from as u64, &text))
    });
    let mut texts: Vec<Record> = texts.collect();
    texts.push(said("c", "only", 1, "needle in a haystack"));
    fill(&mut index, &texts);
    let found = index
        .search(&Query {
            k: 40,
            ..Query::new(format!("{} needle", page(0..1_000)))
        })
        .unwrap();
    let keys: Vec<String> = found.hits.iter().map(|hit| hit.key().to_string()).collect();
    assert!(keys.contains(&"c#only".to_owned()), "{keys:?}");
    let said = "of 1001 words of the query that are in the index, the 96 rarest were looked for";
    assert_eq!(found.notes, [said]);
}

#[test]
fn a_five_word_quote_is_among_the_first_hits() {
    let mut index = memory();
    let words = [
        "river", "stone", "cloud", "ember", "north", "glass", "quiet", "maple", "orbit", "salt",
    ];
    let mut state = 7usize;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        words[(state >> 33) % words.len()]
    };
    let records: Vec<Record> = (0..300)
        .map(|at| {
            let text: Vec<&str> = (0..12).map(|_| next()).collect();
            said("s", &at.to_string(), at * 1_000, &text.join(" "))
        })
        .collect();
    fill(&mut index, &records);
    let mut found = 0;
    for record in records.iter().step_by(10) {
        let quote: Vec<&str> = record.text.split(' ').skip(3).take(5).collect();
        let keys = keys(
            &mut index,
            &Query {
                k: 5,
                ..Query::new(quote.join(" "))
            },
        );
        found += usize::from(keys.contains(&record.key()));
    }
    assert_eq!(found, 30);
}

#[test]
fn what_is_kept_of_an_entry_and_the_entry_are_one_hit() {
    let mut index = memory();
    let page = "# Project\n\n### d-7c2f7d5f\nNever push releases on Fridays.\n\n- constraint, \
        said by the user; valid from 2026-03-09\n- evidence: one.jsonl entry 4f2a91c0 (user): \
        “Never push releases on Fridays.”\n";
    let spoken = "Thanks. Never push releases on Fridays. Go on.";
    fill(
        &mut index,
        &[
            said("s", "4f2a91c0", 1, spoken),
            Record::file(RecordKind::Memory, "memories/project.md", page),
        ],
    );
    let query = Query::new("releases on Fridays");
    let hits = index.search(&query).unwrap().hits;
    let found: Vec<(String, usize)> = hits.iter().map(|hit| (hit.key(), hit.kept.len())).collect();
    assert_eq!(found, [("s#4f2a91c0".to_owned(), 1)]);
    // Another entry of that name says something else.
    fill(&mut index, &[said("s", "4f2a91c0", 1, "releases, no.")]);
    assert_eq!(keys(&mut index, &query)[0], "memories/project.md");
}

#[test]
fn who_asks_for_one_word_gets_what_has_it_and_nothing_else() {
    let mut index = memory();
    fill(
        &mut index,
        &[
            said("s", "a", 1, "the zebra stands behind gate 41"),
            said("s", "b", 2, "gate 41 was painted again"),
            said("t", "c", 1, "gate 41 is closed on Mondays"),
        ],
    );
    assert_eq!(keys(&mut index, &Query::new("zebra")), ["s#a"]);
    assert_eq!(keys(&mut index, &Query::new("zebra gate")).len(), 3);
    // Without blanks it may be a whole question, and what stands beside counts.
    fill(
        &mut index,
        &[
            said("u", "d", 1, "我的上司是银行的行长"),
            said("u", "e", 2, "她叫赵雅琳"),
        ],
    );
    let found = keys(&mut index, &Query::new("我的上司叫什么名字"));
    assert_eq!(found, ["u#d", "u#e"]);
}

#[test]
fn as_many_hits_come_back_as_are_wanted_each_once() {
    let mut index = memory();
    let records: Vec<Record> = (0..400)
        .map(|at| {
            said(
                "s",
                &at.to_string(),
                at,
                &format!("the lantern number {at}"),
            )
        })
        .collect();
    fill(&mut index, &records);
    let query = Query {
        k: 300,
        ..Query::new("lantern")
    };
    let found = keys(&mut index, &query);
    let different: std::collections::HashSet<&String> = found.iter().collect();
    assert_eq!((found.len(), different.len()), (300, 300));
}
