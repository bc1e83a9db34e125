//! What is found in texts that are full of numbers or short hashes.

use longhaul_index::Filters;

use super::*;

#[test]
fn every_cell_of_a_table_of_numbers_or_hashes_is_found_and_goes_with_it() {
    let kinds: [fn(u64) -> String; 5] = [
        |at| (48_211 + at * 7_919 % 900_000).to_string(),
        |at| format!("{}.{:04}", at % 90, at * 7_919 % 10_000),
        |at| format!("{}.{:02}", 1_000 + at * 31, at / 10 % 100),
        |at| (100 + at * 13).to_string(),
        |at| format!("{:07x}", 0x9a1_b2c3 + at * 104_729),
    ];
    for kind in kinds {
        let mut index = memory();
        // Twelve tables of 40 cells, none of them twice.
        let table = |number: u64| -> Record {
            let cells: Vec<String> = (0..40).map(|at| kind(number * 40 + at)).collect();
            said(&number.to_string(), "a", 1, &cells.join(" | "))
        };
        let records: Vec<Record> = (0..12).map(table).collect();
        fill(&mut index, &records);
        for cell in 0..480 {
            let found = keys(&mut index, &Query::new(kind(cell)));
            let first = found.first().map(String::as_str);
            assert_eq!(first, Some(&*format!("{}#a", cell / 40)), "{}", kind(cell));
        }
        // A table that is written anew has its new cells and none of the old.
        let mut changed = table(3);
        changed.text = (600..640).map(kind).collect::<Vec<_>>().join(" | ");
        fill(&mut index, &[changed]);
        assert_eq!(keys(&mut index, &Query::new(kind(600)))[0], "3#a");
        let gone = keys(&mut index, &Query::new(kind(125)));
        assert!(gone.iter().all(|key| key != "3#a"), "{gone:?}");
    }
}

/// Rows that have nothing in common but their form, as tools print them by day.
fn by_day(written: fn(u64, u64, u64) -> String) -> Vec<Record> {
    let days = (2022..2025).flat_map(|year| {
        let days = (0..336).map(move |day| (year, day / 28 + 1, day % 28 + 1));
        days.map(move |(year, month, day)| {
            let count = (year * 7 + month * 91 + day * 7_919) % 90_000;
            format!("{},{count},{}\n", written(year, month, day), count % 89)
        })
    });
    let rows: Vec<String> = days.collect();
    let months = rows.chunks(28).enumerate();
    let table = |(at, rows): (usize, &[String])| said(&at.to_string(), "a", 1, &rows.concat());
    months.map(table).collect()
}

#[test]
fn a_date_or_a_time_is_found_first_where_a_table_has_it() {
    let kinds: [fn(u64, u64, u64) -> String; 7] = [
        |year, month, day| format!("{year}-{month:02}-{day:02}"),
        |year, month, day| format!("{year}/{month:02}/{day:02}"),
        |year, month, day| format!("{month}/{day}/{year}"),
        |year, month, day| format!("{day:02}.{month:02}.{year}"),
        |year, month, day| format!("{:02}:{month:02}:{day:02}", year % 24),
        |year, month, day| format!("10.{}.{month}.{day}", year % 100),
        |year, month, day| format!("172.{}.1{month:02}.1{day:02}", year % 100),
    ];
    for kind in kinds {
        let mut index = memory();
        fill(&mut index, &by_day(kind));
        for at in (0..1_008).step_by(37) {
            let written = kind(2022 + at / 336, at % 336 / 28 + 1, at % 28 + 1);
            for query in [written.clone(), format!("how many on {written}?")] {
                let found = keys(&mut index, &Query::new(&*query));
                assert_eq!(found[0], format!("{}#a", at / 28), "{query}");
            }
        }
    }
}

#[test]
fn a_date_is_found_in_prose_as_in_tables_and_whatever_joins_it() {
    let mut index = memory();
    let mut records = by_day(|year, month, day| format!("{year}-{month:02}-{day:02}"));
    records.truncate(20);
    for (name, text) in [
        (
            "prose",
            "On 2024-03-14 the harbour was closed for the marmots",
        ),
        ("other", "On 2024-03-15 the harbour was open, 14 boats came"),
        (
            "log",
            "2024-03-16T10:00:07Z the harbour was full and the night 14 hours long",
        ),
    ] {
        records.push(said(name, "a", 1, text));
    }
    fill(&mut index, &records);
    for (query, first) in [
        ("2024-03-14", "prose#a"),
        ("2024/03/14", "prose#a"),
        ("what was the harbour like on 2024/03/14?", "prose#a"),
        ("2024-03-16", "log#a"),
        ("10:00:07", "log#a"),
        ("2023/03/14", "14#a"),
    ] {
        assert_eq!(keys(&mut index, &Query::new(query))[0], first, "{query}");
    }
}

#[test]
fn a_number_is_found_in_the_tables_of_a_session_however_many_others_have_it() {
    let mut index = memory();
    let records: Vec<Record> = (0..10_002)
        .map(|at| {
            let session = if at < 10_001 { "first" } else { "last" };
            said(session, &at.to_string(), at, "777 1 2 3 4 5 6 7 8 9")
        })
        .collect();
    fill(&mut index, &records);
    let mut query = Query::new("777");
    query.filters = Filters {
        sessions: vec!["last".into()],
        ..Filters::default()
    };
    assert_eq!(keys(&mut index, &query), ["last#10001"]);
}
