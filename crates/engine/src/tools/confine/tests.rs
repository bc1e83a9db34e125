use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};

struct Ground {
    _folder: tempfile::TempDir,
    workspace: PathBuf,
    outside: PathBuf,
    fence: Fence,
}

fn ground() -> Ground {
    let folder = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(folder.path()).unwrap();
    let (workspace, outside) = (base.join("work"), base.join("outside"));
    fs::create_dir_all(workspace.join("src")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    fs::write(workspace.join("src/a"), "a").unwrap();
    Ground {
        fence: Fence::new(&workspace, &[]).unwrap(),
        _folder: folder,
        workspace,
        outside,
    }
}

#[test]
fn paths_inside_are_found_however_they_are_written() {
    let ground = ground();
    let absolute = ground.workspace.join("src/a");
    for path in [
        "src/a",
        "./src/a",
        "src/../src/a",
        absolute.to_str().unwrap(),
    ] {
        let inside = ground.fence.resolve(path, Access::Write).unwrap();
        assert_eq!(inside.below(), Path::new("src/a"), "{path}");
    }
}

#[test]
fn no_way_out_by_dots_or_absolute_paths() {
    let ground = ground();
    let secret = ground.outside.join("secret");
    for path in [
        "..",
        "../outside/secret",
        "src/../../outside/secret",
        secret.to_str().unwrap(),
        "/etc/passwd",
        "/",
        "~/x",
        "../work-beside/x",
    ] {
        for access in [Access::Read, Access::Write] {
            assert!(ground.fence.resolve(path, access).is_err(), "{path}");
        }
    }
}

#[test]
fn a_folder_whose_name_begins_like_the_workspace_is_outside() {
    let ground = ground();
    let beside = ground.workspace.with_file_name("work2");
    fs::create_dir(&beside).unwrap();
    fs::write(beside.join("x"), "x").unwrap();
    let path = beside.join("x");
    let refused = ground.fence.resolve(path.to_str().unwrap(), Access::Read);
    assert!(refused.unwrap_err().contains("outside the workspace"));
}

#[test]
fn no_way_out_by_symlinks_of_files_folders_or_parents() {
    let ground = ground();
    symlink(ground.outside.join("secret"), ground.workspace.join("file")).unwrap();
    symlink(&ground.outside, ground.workspace.join("folder")).unwrap();
    symlink("../outside", ground.workspace.join("relative")).unwrap();
    symlink(
        ground.outside.join("new"),
        ground.workspace.join("dangling"),
    )
    .unwrap();
    symlink("folder", ground.workspace.join("twice")).unwrap();
    for path in [
        "file",
        "folder/secret",
        "folder/new",
        "folder/new/deeper",
        "relative/secret",
        "dangling",
        "twice/secret",
        "src/../folder/secret",
    ] {
        for access in [Access::Read, Access::Write] {
            let refused = ground.fence.resolve(path, access).unwrap_err();
            assert!(
                refused.contains("outside the workspace"),
                "{path}: {refused}"
            );
        }
    }
}

#[test]
fn symlinks_that_stay_inside_are_followed_and_kept() {
    let ground = ground();
    symlink("src", ground.workspace.join("link")).unwrap();
    symlink("src/a", ground.workspace.join("to-a")).unwrap();
    let inside = ground.fence.resolve("link/a", Access::Read).unwrap();
    assert_eq!(inside.below(), Path::new("src/a"));
    let inside = ground.fence.resolve("to-a", Access::Write).unwrap();
    write(&inside, b"new").unwrap();
    assert_eq!(fs::read(ground.workspace.join("src/a")).unwrap(), b"new");
    assert!(ground.workspace.join("to-a").is_symlink());
}

#[test]
fn symlinks_in_a_circle_end() {
    let ground = ground();
    symlink("b", ground.workspace.join("a")).unwrap();
    symlink("a", ground.workspace.join("b")).unwrap();
    let refused = ground.fence.resolve("a/x", Access::Read).unwrap_err();
    assert!(refused.contains("symbolic links"), "{refused}");
}

#[test]
fn a_symlink_put_there_after_the_check_leads_nowhere() {
    let ground = ground();
    let inside = ground.fence.resolve("src/secret", Access::Write).unwrap();
    let file = ground.fence.resolve("src/a", Access::Read).unwrap();
    fs::remove_dir_all(ground.workspace.join("src")).unwrap();
    symlink(&ground.outside, ground.workspace.join("src")).unwrap();
    assert!(write(&inside, b"overwritten").is_err());
    assert!(open(&file).is_err());
    assert_eq!(fs::read(ground.outside.join("secret")).unwrap(), b"secret");
    assert_eq!(fs::read_dir(&ground.outside).unwrap().count(), 1);
}

#[test]
fn a_file_swapped_for_a_symlink_after_the_check_is_neither_read_nor_followed() {
    let ground = ground();
    let inside = ground.fence.resolve("src/a", Access::Write).unwrap();
    fs::remove_file(ground.workspace.join("src/a")).unwrap();
    symlink(
        ground.outside.join("secret"),
        ground.workspace.join("src/a"),
    )
    .unwrap();
    assert!(open(&inside).is_err());
    assert!(write(&inside, b"x").is_err());
    assert_eq!(fs::read(ground.outside.join("secret")).unwrap(), b"secret");
}

#[test]
fn other_folders_can_be_read_but_not_written() {
    let ground = ground();
    let fence = Fence::new(&ground.workspace, std::slice::from_ref(&ground.outside)).unwrap();
    let secret = ground.outside.join("secret");
    let path = secret.to_str().unwrap();
    let inside = fence.resolve(path, Access::Read).unwrap();
    assert_eq!(inside.path(), secret);
    assert!(fence.resolve(path, Access::Write).is_err());
}

#[test]
fn new_folders_are_made_and_permissions_are_kept() {
    let ground = ground();
    let new = ground.fence.resolve("x/y/z", Access::Write).unwrap();
    write(&new, b"z").unwrap();
    assert_eq!(fs::read(ground.workspace.join("x/y/z")).unwrap(), b"z");
    let script = ground.workspace.join("run");
    fs::write(&script, "old").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let inside = ground.fence.resolve("run", Access::Write).unwrap();
    write(&inside, b"new").unwrap();
    let mode = fs::metadata(&script).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn a_pipe_is_refused_instead_of_waited_for() {
    let ground = ground();
    let path = ground.workspace.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let inside = ground.fence.resolve("pipe", Access::Read).unwrap();
    assert!(open(&inside).unwrap_err().to_string().contains("regular"));
    assert!(write(&inside, b"x").is_err());
}

#[test]
fn a_folder_is_not_replaced_by_a_file() {
    let ground = ground();
    for path in ["src", "."] {
        let inside = ground.fence.resolve(path, Access::Write).unwrap();
        let error = write(&inside, b"x").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory, "{path}");
    }
    assert!(ground.workspace.join("src/a").exists());
}

#[test]
fn dots_behind_a_folder_that_does_not_exist_are_refused() {
    let ground = ground();
    let refused = ground.fence.resolve("no/../../outside/x", Access::Write);
    assert!(refused.unwrap_err().contains("does not exist"));
}
