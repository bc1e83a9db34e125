//! Skills: where they are found, which one wins, who may use them.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

mod common;

use common::{Folder, Parts, load, skills};
use longhaul_assembly::{
    BootstrapLimits, Host, Problem, Skill, SkillOrigin, SkillSources, Skills, Unavailable,
};

fn host() -> Host {
    Host {
        os: "macos".to_owned(),
        binaries: ["git".to_owned(), "rg".to_owned()].into(),
        variables: ["TOKEN".to_owned()].into(),
        settings: ["browser.enabled".to_owned()].into(),
    }
}

fn listed(skills: Skills) -> String {
    let (workspace, _) = load(&Folder::new().path(), &BootstrapLimits::default());
    let mut parts = Parts::of(workspace);
    parts.skills = skills;
    parts.prompt().text().to_owned()
}

#[test]
fn the_later_source_wins() {
    let front = |from: &str| format!("name: git\ndescription: from {from}");
    let folder = ["x1", "x2", "bundled", "managed", "home", "ws/skills"]
        .iter()
        .fold(Folder::new(), |folder, place| {
            folder.with_skill(&format!("{place}/git"), &front(place))
        });
    let mut sources = SkillSources {
        extra: vec![folder.at("x1"), folder.at("x2")],
        bundled: Some(folder.at("bundled")),
        managed: Some(folder.at("managed")),
        home: Some(folder.at("home")),
        workspace: Some(folder.at("ws")),
    };
    let winner = |sources: &SkillSources| {
        let (skills, problems) = skills(sources, &host());
        assert!(problems.is_empty(), "{problems:?}");
        let skill = skills.available[0].clone();
        (skill.description, skill.origin)
    };
    assert_eq!(
        winner(&sources),
        ("from ws/skills".to_owned(), SkillOrigin::Workspace)
    );
    sources.workspace = None;
    assert_eq!(
        winner(&sources),
        ("from home".to_owned(), SkillOrigin::Home)
    );
    sources.home = None;
    assert_eq!(
        winner(&sources),
        ("from managed".to_owned(), SkillOrigin::Managed)
    );
    sources.managed = None;
    assert_eq!(
        winner(&sources),
        ("from bundled".to_owned(), SkillOrigin::Bundled)
    );
    sources.bundled = None;
    assert_eq!(winner(&sources), ("from x2".to_owned(), SkillOrigin::Extra));
}

#[test]
fn a_broken_skill_is_told_and_does_not_hide_a_sound_one() {
    let folder = Folder::new()
        .with_skill("home/git", "name: git\ndescription: sound")
        .with(
            "ws/skills/git/SKILL.md",
            "---\nname: git\ndescription: [\n---\n",
        )
        .with("ws/skills/none/SKILL.md", "# no front matter\n")
        .with("ws/skills/bin/SKILL.md", b"\0\0")
        .with("ws/skills/README.md", "not a skill");
    let sources = SkillSources {
        home: Some(folder.at("home")),
        workspace: Some(folder.at("ws")),
        managed: Some(folder.at("not there")),
        ..SkillSources::default()
    };
    let (skills, problems) = skills(&sources, &host());
    let expected = Skill {
        name: "git".to_owned(),
        description: "sound".to_owned(),
        location: folder.at("home/git/SKILL.md"),
        origin: SkillOrigin::Home,
    };
    assert_eq!(skills.available, [expected]);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].contains("bin/SKILL.md is not text"));
    assert!(
        told[1].contains("git/SKILL.md:3: the front matter is not YAML"),
        "{}",
        told[1]
    );
    assert!(told[2].ends_with("none/SKILL.md:1: it does not begin with `---`"));
    assert!(problems.iter().all(|problem| !problem.remedy().is_empty()));
}

#[test]
fn needs_without_a_programs_key_count_too() {
    let folder = [
        ("a-bare", r#"{"requires": {"bins": ["jj"]}}"#),
        ("b-packed", r#"'{"requires": {"bins": "jj"}}'"#),
        (
            "c-beside",
            r#"{"openclaw": {"emoji": "x"}, "requires": {"bins": ["jj"]}}"#,
        ),
        (
            "d-keyed",
            r#"{"openclaw": {"requires": {"bins": ["git"]}}, "requires": {"bins": ["jj"]}}"#,
        ),
        ("e-there", r#"{"requires": {"bins": ["git"]}}"#),
        ("f-other", r#"{"requires": "python 3", "os": {"any": 1}}"#),
    ]
    .iter()
    .fold(Folder::new(), |folder, (name, metadata)| {
        let head = format!("name: {name}\ndescription: d\nmetadata: {metadata}");
        folder.with_skill(name, &head)
    });
    let sources = SkillSources {
        extra: vec![folder.path()],
        ..SkillSources::default()
    };
    let (skills, problems) = skills(&sources, &host());
    assert_eq!(problems, []);
    let available: Vec<&str> = skills.available.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(available, ["d-keyed", "e-there", "f-other"]);
    let reasons: Vec<&str> = skills.unavailable.iter().map(|s| &*s.reason).collect();
    assert_eq!(reasons, ["the program `jj` is not installed"; 3]);
}

#[test]
fn what_a_skill_needs_must_be_there() {
    let needs = |name: &str, needs: &str| {
        format!("name: {name}\ndescription: d\nmetadata: {{\"openclaw\": {{{needs}}}}}")
    };
    let cases = [
        ("ok-bins", r#""requires": {"bins": ["git"]}"#, None),
        ("ok-any", r#""requires": {"anyBins": ["fd", "rg"]}"#, None),
        ("ok-os", r#""os": ["linux", "darwin"]"#, None),
        (
            "ok-always",
            r#""always": true, "requires": {"bins": ["x"]}"#,
            None,
        ),
        (
            "ok-config",
            r#""requires": {"config": ["browser.enabled"]}"#,
            None,
        ),
        (
            "no-any",
            r#""requires": {"anyBins": ["fd", "ag"]}"#,
            Some("none of fd, ag is installed"),
        ),
        (
            "no-bins",
            r#""requires": {"bins": ["git", "jj"]}"#,
            Some("the program `jj` is not installed"),
        ),
        (
            "no-config",
            r#""requires": {"config": ["x.y"]}"#,
            Some("the setting x.y is not on"),
        ),
        (
            "no-env",
            r#""requires": {"env": ["KEY"]}"#,
            Some("the variable KEY is not set"),
        ),
        ("no-os", r#""os": "linux""#, Some("it is for linux")),
    ];
    let folder = cases.iter().fold(Folder::new(), |folder, (name, what, _)| {
        folder.with_skill(name, &needs(name, what))
    });
    let folder = folder.with_skill(
        "zz-hidden",
        "name: zz-hidden\ndescription: d\ndisable-model-invocation: true",
    );
    let sources = SkillSources {
        extra: vec![folder.path()],
        ..SkillSources::default()
    };
    let (skills, problems) = skills(&sources, &host());
    assert_eq!(problems, []);
    let available: Vec<&str> = skills.available.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(
        available,
        ["ok-always", "ok-any", "ok-bins", "ok-config", "ok-os"]
    );
    let mut expected: Vec<Unavailable> = cases
        .iter()
        .filter_map(|(name, _, reason)| {
            Some(Unavailable {
                name: (*name).to_owned(),
                location: folder.at(name).join("SKILL.md"),
                reason: (*reason)?.to_owned(),
            })
        })
        .collect();
    expected.push(Unavailable {
        name: "zz-hidden".to_owned(),
        location: folder.at("zz-hidden/SKILL.md"),
        reason: "only the user may start it".to_owned(),
    });
    assert_eq!(skills.unavailable, expected);
}

#[cfg(unix)]
#[test]
fn a_skill_of_the_workspace_does_not_lead_out_of_it() {
    let other = Folder::new().with_skill("evil", "name: evil\ndescription: d");
    let folder = Folder::new().with("skills/.keep", "");
    std::os::unix::fs::symlink(other.at("evil"), folder.at("skills/evil")).unwrap();
    let sources = SkillSources {
        workspace: Some(folder.path()),
        ..SkillSources::default()
    };
    let (found, problems) = skills(&sources, &host());
    assert!(found.available.is_empty());
    assert!(matches!(problems[..], [Problem::Outside { .. }]));
    // The user's own folder may link.
    let sources = SkillSources {
        home: Some(folder.at("skills")),
        ..SkillSources::default()
    };
    assert_eq!(skills(&sources, &host()).0.available.len(), 1);
}

#[test]
fn the_prompt_lists_name_description_and_location() {
    let folder = Folder::new()
        .with_skill(
            "group/git",
            "name: git\ndescription: |\n  Version control.\n  ## Tools\n  - forged",
        )
        .with_skill("unnamed", "description: Named by its folder.");
    let sources = SkillSources {
        extra: vec![folder.path()],
        ..SkillSources::default()
    };
    let prompt = listed(skills(&sources, &host()).0);
    let location = |at: &str| folder.at(at).join("SKILL.md").display().to_string();
    let expected = format!(
        "### git\nVersion control. ## Tools - forged\nLocation: {}\n\n\
         ### unnamed\nNamed by its folder.\nLocation: {}\n",
        location("group/git"),
        location("unnamed")
    );
    assert!(prompt.contains("## Available Skills\n"));
    assert!(prompt.contains(&expected), "{prompt}");
}

#[test]
fn a_long_list_is_shortened_and_told() {
    let folder = (0..200).fold(Folder::new(), |folder, n| {
        let name = format!("s{n:03}");
        folder.with_skill(
            &name,
            &format!("name: {name}\ndescription: {}", "word ".repeat(100)),
        )
    });
    let sources = SkillSources {
        extra: vec![folder.path()],
        ..SkillSources::default()
    };
    let (skills, problems) = skills(&sources, &host());
    assert_eq!(
        problems,
        [Problem::SkillsShortened {
            shortened: 200,
            left_out: 0
        }]
    );
    let prompt = listed(skills);
    assert!(prompt.contains("### s199") && prompt.len() < 35_000);
}
