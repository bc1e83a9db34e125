//! Values that stand in a block which has the telling name: variables of
//! Terraform, fields of schemas, parameters of YAML.

use super::Redactor;
use super::beside::{begins_line, name_before};
use super::names::Promise;
use super::value::blanks;

impl Redactor {
    /// What the name of the block promises in which a value stands:
    /// `variable "db_password" { default = "x" }`, `db_password: { value: "x" }`,
    /// and what is indented below `db_password:`.
    pub(super) fn of_block(&self, bytes: &[u8], at: usize, name: &[u8]) -> Option<Promise> {
        const REACH: usize = 512;
        let before = &bytes[at.saturating_sub(REACH)..at];
        let mut depth = 0;
        let open = before.iter().rposition(|b| {
            depth += match b {
                b'}' => 1,
                b'{' => -1,
                _ => 0,
            };
            depth < 0
        });
        if let Some(open) = open {
            let label = before[..open].trim_ascii_end();
            let label = label.strip_suffix(b":").unwrap_or(label);
            return self.promise(name_before(label, label.len())?);
        }
        // Up to the first line that is indented less.
        let mut lines = before.rsplit(|b| *b == b'\n');
        let own = blanks(lines.next()?, 0);
        let above = lines.find(|line| {
            let indent = blanks(line, 0);
            indent < own && indent < line.len()
        })?;
        let parent = above.trim_ascii().strip_suffix(b":")?;
        let begins = begins_line(bytes, at, name);
        begins.then(|| self.promise(name_before(parent, parent.len())?))?
    }
}

/// Whether a name says of what it stands in that this is its value.
pub(super) fn is_default(name: &[u8]) -> bool {
    ["default", "value", "default_value", "defaultvalue"]
        .iter()
        .any(|n| name.eq_ignore_ascii_case(n.as_bytes()))
}
