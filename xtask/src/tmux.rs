//! The terminal in which `chat` is tested.

use std::process::Command;

use crate::shell;

/// Sees that there is tmux: installed, or installed now where the system's
/// packages can be. None is no failure of ours; the tests say what they could
/// not do.
pub(crate) fn provide() {
    let works = || shell::works(Command::new("tmux").arg("-V"));
    if works() {
        return;
    }
    println!("there is no tmux; asking the system's packages for it");
    for (program, args) in [
        ("apt-get", &["install", "--yes", "--quiet", "tmux"][..]),
        ("apk", &["add", "--quiet", "tmux"][..]),
        ("dnf", &["install", "--assumeyes", "--quiet", "tmux"][..]),
        ("brew", &["install", "--quiet", "tmux"][..]),
    ] {
        if shell::works(Command::new(program).args(args)) && works() {
            return;
        }
    }
    println!("SKIPPED: tmux cannot be installed here; chat is not tested in a terminal");
}
