//! Command lines and what they do.

use super::effects::{Effect, effects};
use super::runs::runs;

fn list(command: &str) -> Vec<String> {
    effects(command).list.iter().map(show).collect()
}

fn show(effect: &Effect) -> String {
    match effect {
        Effect::Read(path) => format!("r {path}"),
        Effect::Write(path) => format!("w {path}"),
        Effect::Change(path) => format!("c {path}"),
        Effect::Touch(path) => format!("t {path}"),
        Effect::Delete(path) => format!("d {path}"),
        Effect::DeleteTree(path) => format!("D {path}"),
        Effect::Move { from, to, into } => {
            format!("m {from} {to}{}", if *into { "/" } else { "" })
        }
        Effect::Arrival { folder, glob } => format!("a {folder} {glob}"),
        Effect::Copy { from, to, into } => {
            format!("k {from} {to}{}", if *into { "/" } else { "" })
        }
    }
}

#[test]
fn what_commands_do_to_files() {
    let table: &[(&str, &[&str])] = &[
        ("sed -i 's/a/b/g' src/x.rs", &["c src/x.rs"]),
        ("sed -i '' 's/a/b/' a.go b.go", &["c a.go", "c b.go"]),
        ("sed -i.bak -e 's/a/b/' x", &["c x"]),
        ("sed -n '1,20p' src/x.rs", &["r src/x.rs"]),
        ("perl -pi -e 's/a/b/' x y", &["c x", "c y"]),
        ("perl -pe 's/a/b/' x", &[]),
        ("echo hi >> notes.md", &["c notes.md"]),
        ("cargo test 2>&1 | tail -20", &[]),
        ("cargo test > out.log 2> err.log", &["w out.log"]),
        ("make &> /dev/null", &[]),
        ("cat a.txt b.txt | wc -l", &["r a.txt", "r b.txt"]),
        ("head -n 20 a.txt", &["r a.txt"]),
        (
            "cat > 'my file.txt' <<'EOF'\nrm x\n> y\nEOF\nrm z",
            &["w my file.txt", "d z"],
        ),
        ("git mv a b && git rm -q c", &["m a b", "d c"]),
        ("mv a.rs b.rs src/", &["m a.rs src//", "m b.rs src//"]),
        ("cp .env.example .env", &["k .env.example .env"]),
        ("rm -rf build && rm -f *.o \"$TMP/x\" $(ls)", &["D build"]),
        (
            "cd sub && sed -i s/a/b/ x.go; cd .. ; touch y",
            &["c sub/x.go", "t sub/../y"],
        ),
        ("(cd sub && rm a) && rm b", &["d sub/a", "d b"]),
        ("cd $DIR && rm a", &[]),
        (
            "for f in a.go b.go; do sed -i 's/x/y/' \"$f\"; done",
            &["c a.go", "c b.go"],
        ),
        ("for f in *.go; do sed -i 's/x/y/' $f; done", &[]),
        ("mv src/*.go lib/", &["a lib/ src/*.go"]),
        (
            "for f in *.go; do cp \"$f\" ../lib; done",
            &["a ../lib *.go"],
        ),
        ("for f in a.go *.rs; do mv $f lib; done", &[]),
        ("F=src/a.rs; rm $F", &["d src/a.rs"]),
        ("test -f a || rm a", &[]),
        (
            "git checkout -- a.rs b.rs && git checkout main",
            &["c a.rs", "c b.rs"],
        ),
        ("git restore --staged a.rs; git restore b.rs", &["c b.rs"]),
        (
            "git commit -m \"$(cat <<'EOF'\nDon't > rm\n)\nEOF\n)\" && rm q",
            &["d q"],
        ),
        ("bash -lc 'echo x > y'", &["w y"]),
        ("sudo tee -a /etc/hosts <<< x", &["c /etc/hosts"]),
        ("FOO=1 BAR=2 dd if=/dev/zero of=disk.img", &["w disk.img"]),
        ("echo \"a > b\" # > c", &[]),
        (
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch\nEOF",
            &["c a.py", "w b.py"],
        ),
    ];
    for (command, expected) in table {
        assert_eq!(list(command), *expected, "{command}");
    }
}

#[test]
fn runs_of_one_command_are_told_to_be_the_same() {
    let real = |command: &str| runs(command).real;
    assert_eq!(
        real("cd x && cargo test a 2>&1 | tail -5"),
        real("cargo test a")
    );
    // With another variable it is another command.
    assert_ne!(real("FOO=1 cargo test a"), real("cargo test a"));
    assert_ne!(real("cargo test a"), real("cargo test b"));
    assert_eq!(
        real("git stash && go build ./... ; echo $?"),
        real("go build ./...")
    );
    assert_eq!(runs("echo hi").real, runs("echo hi").all);
}

#[test]
fn what_passed_with_a_line_is_what_its_status_shows() {
    let shows = |line: &str, part: &str| {
        let part = runs(part).all;
        runs(line).shown.contains(&part[0])
    };
    for (line, part, shown) in [
        ("cd w && make lint 2>&1 && make docs", "make lint", true),
        ("make lint | tail -3", "make lint", false),
        ("make lint && make docs | tail -3", "make lint", true),
        ("make lint; make docs", "make lint", false),
        ("make lint; make docs", "make docs", true),
        ("make lint || true", "make lint", false),
        ("make lint", "make lint", true),
    ] {
        assert_eq!(shows(line, part), shown, "{part} in {line}");
    }
}
