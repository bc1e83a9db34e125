//! What tests need of the system: a terminal multiplexer, a browser.

use std::process::Command;

use crate::Result;
use crate::{paths, peers, shell, tools};

/// What finds serious faults of accessibility in a page.
const AXE: &str = "axe-core@4.14.1";

/// Sees that there is tmux, in which `chat` is tested: installed, or installed now
/// where the system's packages can be. None is no failure of ours; the tests say what
/// they could not do.
pub(crate) fn provide_tmux() {
    if !provide("tmux", "-V", ["tmux"; 4]) {
        println!("SKIPPED: tmux cannot be installed here; chat is not tested in a terminal");
    }
}

/// Sees that there is a browser with its driver, in which the dashboard is tested.
/// Without them the run fails: nothing else would notice a page that does not work.
pub(crate) fn provide_browser() -> Result<()> {
    let alpine = "chromium chromium-chromedriver";
    let packages = [
        "chromium chromium-driver",
        alpine,
        "chromium chromedriver",
        "chromedriver",
    ];
    if !provide("chromedriver", "--version", packages) {
        return Err(
            "there is no chromedriver, and the system's packages cannot be installed \
            here; install Chromium with its driver (Debian: `apt-get install chromium \
            chromium-driver`): the dashboard is tested in it"
                .into(),
        );
    }
    let home = paths::tools().join("axe");
    tools::once(&home, AXE, || {
        shell::output(&mut peers::npm_install(&home, AXE)).map(drop)
    })
    .map_err(|error| format!("axe-core cannot be installed, which needs npm: {error}").into())
}

/// Whether a program is there, which it shows by saying its version (what it does
/// with another's flag for that, nobody knows: chromedriver serves for ever), or is
/// after the system's packages were asked for it: those of Debian, Alpine, Fedora and
/// Homebrew.
fn provide(program: &str, version: &str, packages: [&str; 4]) -> bool {
    let works = || shell::works(Command::new(program).arg(version));
    if works() {
        return true;
    }
    println!("there is no {program}; asking the system's packages for it");
    let managers = [
        (
            "apt-get",
            &["install", "--yes", "--quiet", "--no-install-recommends"][..],
        ),
        ("apk", &["add", "--quiet"][..]),
        ("dnf", &["install", "--assumeyes", "--quiet"][..]),
        ("brew", &["install", "--quiet"][..]),
    ];
    managers
        .into_iter()
        .zip(packages)
        .any(|((manager, args), packages)| {
            let names = packages.split(' ');
            let install = || shell::works(Command::new(manager).args(args).args(names.clone()));
            // A fresh machine may not know its packages yet.
            let update = || shell::works(Command::new(manager).arg("update"));
            (install() || update() && install()) && works()
        })
}
