use super::*;

fn relation(older: &str, newer: &str) -> Relation {
    Features::of(older).relation(&Features::of(newer))
}

#[test]
fn the_same_in_other_words_is_the_same() {
    for (a, b) in [
        ("Never push on Fridays.", "never push on friday"),
        (
            "User wants JSDoc comments on all new functions",
            "The user prefers JSDoc comments on all new functions.",
        ),
        (
            "API spec is at /docs/api-spec.yaml",
            "The API spec: /docs/api-spec.yaml",
        ),
        ("所有新函数都要写注释", "所有新函数都要写注释。"),
    ] {
        assert_eq!(relation(a, b), Relation::Same, "{a} / {b}");
    }
}

#[test]
fn a_newer_value_or_the_opposite_takes_the_place_of_the_older_one() {
    for (a, b) in [
        (
            "Never push releases on Fridays.",
            "Always push releases on Fridays.",
        ),
        (
            "JWT access tokens expire after 15 minutes",
            "JWT access tokens expire after 30 minutes",
        ),
        (
            "We use Postgres for the job queue",
            "We use SQLite for the job queue instead of Postgres",
        ),
        (
            "We keep the deploy history of the gateway in Postgres",
            "We keep the deploy history of the gateway in SQLite instead of Postgres",
        ),
    ] {
        assert_eq!(relation(a, b), Relation::Replaces, "{a} / {b}");
    }
}

#[test]
fn what_only_looks_alike_is_left_to_a_person_or_alone() {
    assert_eq!(
        relation(
            "Deploy the site on Monday mornings",
            "Deploy the site on Friday mornings"
        ),
        Relation::Perhaps
    );
    assert_eq!(
        relation(
            "We keep the deploy history of the gateway in SQLite instead of Postgres",
            "We keep the deploy history of the gateway in Postgres",
        ),
        Relation::Perhaps
    );
    assert_eq!(
        relation(
            "Use port 8080 for the API",
            "Use port 9090 for the dashboard"
        ),
        Relation::None
    );
    assert_eq!(
        relation("Add tests for the parser", "The release is on Tuesday"),
        Relation::None
    );
}

#[test]
fn a_change_of_one_thing_closes_nothing_that_is_said_of_another() {
    for (a, b) in [
        (
            "Tests of the parser take 3 minutes.",
            "Tests of the lexer take 5 minutes now.",
        ),
        (
            "The build of the app needs 8 GB of RAM.",
            "The build of the site needs 2 GB of RAM now.",
        ),
        (
            "Meetings with Acme last 30 minutes.",
            "Meetings with Globex last 60 minutes now.",
        ),
        (
            "The flight to Rome leaves at 8:00.",
            "The flight to Oslo leaves at 9:30 now.",
        ),
        (
            "The limit for guests is 10 requests.",
            "The limit for members is 100 requests now.",
        ),
        ("Plan A costs 20 dollars.", "Plan B costs 40 dollars now."),
        (
            "Der Umbau von Halle Nord dauert 3 Wochen.",
            "Der Umbau von Halle Süd dauert jetzt 5 Wochen.",
        ),
        (
            "The queue of the shop holds 50 jobs.",
            "The queue of the blog holds 80 jobs now.",
        ),
    ] {
        assert_ne!(relation(a, b), Relation::Replaces, "{a} / {b}");
    }
}

#[test]
fn what_is_turned_round_takes_the_place_and_is_never_the_same() {
    for (a, b) in [
        ("I prefer tabs over spaces.", "I prefer spaces over tabs."),
        (
            "Always deploy from staging to production.",
            "Always deploy from production to staging.",
        ),
        (
            "Use Postgres before Redis in tests, always.",
            "Use Redis before Postgres in tests, always.",
        ),
        (
            "Always call A.init() after B.init().",
            "Always call B.init() after A.init().",
        ),
        (
            "The timeout is 30 seconds for uploads and 60 seconds for downloads",
            "The timeout is 60 seconds for uploads and 30 seconds for downloads",
        ),
        (
            "Always run the tests before committing, not after.",
            "Always run the tests after committing, not before.",
        ),
        ("Use tabs, not spaces.", "Use spaces, not tabs."),
        (
            "Anna reviews what Boris writes in the gateway",
            "Boris reviews what Anna writes in the gateway",
        ),
        (
            "Immer Postgres vor Redis starten.",
            "Immer Redis vor Postgres starten.",
        ),
        (
            "Merge the release branch into main, never main into anything else",
            "Merge main into the release branch, never main into anything else",
        ),
        ("永远先运行格式化再运行测试", "永远先运行测试再运行格式化"),
        (
            "Preferimos pytest sobre unittest en el taller",
            "Preferimos unittest sobre pytest en el taller",
        ),
    ] {
        assert_eq!(relation(a, b), Relation::Replaces, "{a} / {b}");
    }
    for (a, b) in [
        (
            "Tabs, not spaces, in Makefiles.",
            "Not tabs, spaces in Makefiles.",
        ),
        (
            "Use tabs in Makefiles, spaces elsewhere",
            "In Makefiles use spaces, elsewhere tabs",
        ),
        (
            "The job may run without Docker but never with root",
            "The job may run with root but never without Docker",
        ),
        (
            "We deploy the gateway service from the staging cluster every night",
            "We deploy the gateway service from the staging cluster every morning",
        ),
        (
            "Never push the release branch of the web shop on Fridays",
            "Never push the release branch of the web shop on Fridays before review",
        ),
        ("先运行格式化再运行测试工具", "先运行测试工具再运行格式化"),
        (
            "提交代码之前必须运行全部测试",
            "提交代码之后必须运行全部测试",
        ),
    ] {
        let found = relation(a, b);
        assert!(
            matches!(found, Relation::Replaces | Relation::Perhaps),
            "{a} / {b}: {found:?}"
        );
    }
}

#[test]
fn the_same_with_a_phrase_moved_or_in_other_little_words_is_the_same() {
    for (a, b) in [
        ("Never push on Fridays.", "On Fridays never push!"),
        ("Never push on Fridays.", "Don't push on Fridays."),
        ("You can't push on Fridays.", "Do not push on Fridays"),
        (
            "Please run the linter before every commit",
            "You must always run the linter before each and every commit.",
        ),
        (
            "The staging database listens on port 5433.",
            "the staging database is listening on port 5433",
        ),
        ("Никогда не удаляй миграции.", "Нельзя удаляй миграции"),
    ] {
        assert_eq!(relation(a, b), Relation::Same, "{a} / {b}");
    }
}

#[test]
fn a_number_that_says_which_one_makes_another_thing() {
    for (a, b) in [
        (
            "Worker 1 of the pipeline listens on port 7001.",
            "Worker 2 of the pipeline listens on port 7002.",
        ),
        (
            "The server web-01 has 16 GB of memory.",
            "The server web-02 has 32 GB of memory.",
        ),
        (
            "The server web-01 has 16 GB of memory.",
            "The server web-02 has 16 GB of memory.",
        ),
        (
            "The bucket in eu-west-1 keeps backups for 30 days.",
            "The bucket in us-east-1 keeps backups for 90 days.",
        ),
        (
            "The API v1 endpoint allows 100 requests a minute.",
            "The API v2 endpoint allows 500 requests a minute.",
        ),
        ("Fact from worker 3 speaks", "Fact from worker 4 speaks"),
        (
            "Service A of the shop listens on port 7001",
            "Service B of the shop listens on port 7002",
        ),
        (
            "Worker 1 must never be restarted at night",
            "Worker 2 must always be restarted at night",
        ),
        (
            "Room 4 of the office has 12 seats",
            "Room 5 of the office has 20 seats",
        ),
    ] {
        assert_eq!(relation(a, b), Relation::None, "{a} / {b}");
    }
    for (a, b) in [
        (
            "Connections time out after 10 seconds and retry 3 times",
            "Connections time out after 20 seconds and retry 5 times",
        ),
        (
            "We sign the tokens of the shop with HS256",
            "We sign the tokens of the shop with RS256",
        ),
        (
            "Turbine 3 in the hall is offline",
            "Turbine 4 in the hall is offline",
        ),
        ("Use gpt-4 for the summaries", "Use gpt-5 for the summaries"),
    ] {
        assert_eq!(relation(a, b), Relation::Perhaps, "{a} / {b}");
    }
}

#[test]
fn a_number_that_says_how_much_or_where_is_updated() {
    for (a, b) in [
        (
            "The staging gateway listens on port 8443.",
            "The staging gateway listens on port 9555.",
        ),
        (
            "The bucket keeps backups for 30 days.",
            "The bucket keeps backups for 90 days.",
        ),
        (
            "The handbook of the team has 220 pages",
            "The handbook of the team now has 240 pages",
        ),
        (
            "The project is built with Python 3.11 on all machines",
            "The project is built with Python 3.13 on all machines",
        ),
        (
            "The release of the shop is on 2026-11-20",
            "The release of the shop is on 2026-12-04",
        ),
        (
            "Upload requests of the shop time out after 30s",
            "Upload requests of the shop time out after 45s",
        ),
        (
            "The API spec of the shop is at /docs/api.yaml",
            "The API spec of the shop is at /spec/api.yaml",
        ),
        (
            "Die Sicherungen der Datenbank bleiben 30 Tage",
            "Die Sicherungen der Datenbank bleiben 90 Tage",
        ),
        ("测试服务器的端口是8443", "测试服务器的端口是9555"),
        (
            "Deploys of the shop run in eu-west-1",
            "Deploys of the shop switched: they run in us-east-1",
        ),
    ] {
        assert_eq!(relation(a, b), Relation::Replaces, "{a} / {b}");
    }
}

#[test]
fn a_change_of_another_thing_replaces_nothing() {
    let found = relation(
        "The production cluster of the shop runs on Kubernetes",
        "The staging cluster of the shop was migrated to Kubernetes",
    );
    assert_ne!(found, Relation::Replaces);
}

#[test]
fn a_number_of_another_place_takes_no_place_though_it_is_so_now() {
    for (a, b) in [
        (
            "The API listens on port 8080 in staging.",
            "The API listens on port 9090 in production now.",
        ),
        (
            "The build takes 4 minutes on Linux.",
            "The build takes 12 minutes on Windows now.",
        ),
        (
            "Der Build dauert 4 Minuten unter Linux.",
            "Der Build dauert jetzt 12 Minuten unter Windows.",
        ),
    ] {
        assert_eq!(relation(a, b), Relation::Perhaps, "{a} / {b}");
    }
    for (a, b) in [
        (
            "The build takes 4 minutes on Linux.",
            "The build takes 12 minutes on Linux now.",
        ),
        (
            "The team meets at 10 on Mondays.",
            "The team meets at 11 on Tuesdays now.",
        ),
        (
            "The office is at Main Street 5 in Berlin.",
            "The office is at Hill Street 7 in Munich now.",
        ),
    ] {
        assert_eq!(relation(a, b), Relation::Replaces, "{a} / {b}");
    }
}

#[test]
fn what_is_done_beside_another_thing_contradicts_nothing() {
    for (one, other) in [
        (
            "Always ask before deleting files.",
            "Always ask before pushing.",
        ),
        (
            "Add a changelog entry for every feature.",
            "Add a test for every feature.",
        ),
        (
            "Update the README after every release.",
            "Update the changelog after every release.",
        ),
    ] {
        assert_eq!(relation(one, other), Relation::None, "{other}");
        assert_eq!(relation(other, one), Relation::None, "{one}");
    }
    // When, how and of what kind is asked about.
    for (one, other) in [
        (
            "Run the tests before merging.",
            "Run the tests after merging.",
        ),
        (
            "Add a short summary to every page.",
            "Add a long summary to every page.",
        ),
        (
            "Write the docs in English first.",
            "Write the docs in German first.",
        ),
        (
            "Use the blue theme for all slides.",
            "Use the green theme for all slides.",
        ),
        ("Always ask before pushing.", "Always ask after pushing."),
    ] {
        assert_eq!(relation(one, other), Relation::Perhaps, "{other}");
    }
}
