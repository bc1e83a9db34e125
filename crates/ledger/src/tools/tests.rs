//! Tools of every supported agent.

use super::*;

#[test]
fn tools_of_every_agent_are_understood() {
    let read = |path: &str| ToolUse::Read {
        path: path.into(),
        part: false,
    };
    let shell = |command: &str| ToolUse::Shell {
        command: command.into(),
        dir: None,
    };
    let table = [
        ("read", r#"{"path":"a"}"#, read("a")),
        ("Read", r#"{"file_path":"/a"}"#, read("/a")),
        ("mcp__fs__read_text_file", r#"{"path":"a"}"#, read("a")),
        (
            "edit",
            r#"{"path":"a","oldText":"x","newText":"y"}"#,
            ToolUse::Edit { path: "a".into() },
        ),
        (
            "edit",
            r#"{"path":"a","edits":[{},{}]}"#,
            ToolUse::MultiEdit {
                path: "a".into(),
                edits: 2,
            },
        ),
        (
            "MultiEdit",
            r#"{"file_path":"a","edits":[{}]}"#,
            ToolUse::MultiEdit {
                path: "a".into(),
                edits: 1,
            },
        ),
        (
            "NotebookEdit",
            r#"{"notebook_path":"n.ipynb","new_source":"x"}"#,
            ToolUse::Edit {
                path: "n.ipynb".into(),
            },
        ),
        (
            "Write",
            r#"{"file_path":"a","content":"xy"}"#,
            ToolUse::Write {
                path: "a".into(),
                content_len: 4,
            },
        ),
        ("bash", r#"{"command":"ls"}"#, shell("ls")),
        (
            "shell",
            r#"{"command":["bash","-lc","ls | wc"]}"#,
            shell("ls | wc"),
        ),
        (
            "shell",
            r#"{"command":["git","commit","-m","a b"]}"#,
            shell("git commit -m 'a b'"),
        ),
        (
            "exec_command",
            r#"{"cmd":"ls","workdir":"/x"}"#,
            ToolUse::Shell {
                command: "ls".into(),
                dir: Some("/x".into()),
            },
        ),
        (
            "mcp__fs__move_file",
            r#"{"source":"a","destination":"b"}"#,
            ToolUse::Move {
                from: "a".into(),
                to: "b".into(),
            },
        ),
        (
            "delete_file",
            r#"{"path":"a"}"#,
            ToolUse::Delete { path: "a".into() },
        ),
        (
            "update_plan",
            r#"{"plan":[{"step":"s","status":"in_progress"}]}"#,
            ToolUse::Todo {
                items: vec![("s".into(), ItemState::InProgress)],
            },
        ),
        (
            "TodoWrite",
            r#"{"todos":[{"content":"c","status":"completed"}]}"#,
            ToolUse::Todo {
                items: vec![("c".into(), ItemState::Done)],
            },
        ),
        (
            "TaskCreate",
            r#"{"subject":"s"}"#,
            ToolUse::TodoAdd { text: "s".into() },
        ),
        (
            "TaskUpdate",
            r#"{"taskId":"3","status":"completed"}"#,
            ToolUse::TodoSet {
                id: "3".into(),
                state: Some(ItemState::Done),
                text: None,
            },
        ),
        (
            "AskUserQuestion",
            r#"{"questions":[{"question":"Q?"}]}"#,
            ToolUse::Ask {
                question: "Q?".into(),
                options: Vec::new(),
            },
        ),
        (
            "str_replace_based_edit_tool",
            r#"{"command":"create","path":"a","file_text":""}"#,
            ToolUse::Write {
                path: "a".into(),
                content_len: 2,
            },
        ),
        (
            "create_directory",
            r#"{"path":"a"}"#,
            ToolUse::Search {
                pattern: None,
                path: Some("a".into()),
            },
        ),
        ("weather", r#"{"city":"x"}"#, ToolUse::Other),
        ("bash", "[", ToolUse::Other),
    ];
    for (tool, arguments, expected) in table {
        assert_eq!(classify(tool, arguments), expected, "{tool} {arguments}");
    }
    let patch = classify(
        "apply_patch",
        r#"{"input":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}"#,
    );
    assert!(matches!(patch, ToolUse::Patch { files } if files.len() == 1));
}
