//! `cargo xtask graph`: which modules of each crate need which.
//!
//! The modules of one folder are the nodes; whatever lies below one of them
//! belongs to it. A name that a folder passes on counts as a need of the module
//! that it comes from. Fails where modules need each other in a circle: such
//! modules can only be read, moved and tested as one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};

use crate::Result;
use crate::paths;
use crate::size;

/// A module by the names on the way to it from the root of its crate.
type Name = Vec<String>;

pub(crate) fn run() -> Result<()> {
    let mut circles = Vec::new();
    for folder in size::crates(&paths::root())? {
        let modules = Modules::read(&folder.join("src"))?;
        let needs = modules.needs();
        println!("{}", paths::name(&folder));
        for (parent, edges) in &needs {
            if parent.is_empty() {
                for (from, to) in edges {
                    let to: Vec<&str> = to.iter().map(String::as_str).collect();
                    println!("  {from} → {}", to.join(", "));
                }
            }
            for circle in knots(edges) {
                let place = [&[paths::name(&folder)][..], parent].concat().join("::");
                circles.push(format!("{place}: {}", circle.join(" ⇄ ")));
            }
        }
    }
    if circles.is_empty() {
        return Ok(());
    }
    Err(format!("modules that need each other:\n  {}", circles.join("\n  ")).into())
}

/// What each module of a folder needs of its neighbours.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// The modules of a crate, the names each passes on, and the paths each spells.
#[derive(Default)]
struct Modules {
    all: BTreeMap<Name, Module>,
}

#[derive(Default)]
struct Module {
    /// Names that are another module's: what is imported, by the name here.
    imported: BTreeMap<String, Name>,
    /// Modules whose every name is imported.
    globs: Vec<Name>,
    /// Every path that may lead to another module.
    paths: Vec<Name>,
}

impl Modules {
    fn read(source: &Path) -> Result<Modules> {
        let mut modules = Modules::default();
        modules.folder(source, &[])?;
        Ok(modules)
    }

    fn folder(&mut self, folder: &Path, name: &[String]) -> Result<()> {
        for entry in paths::files(folder, |_| true)? {
            let file = paths::name(&entry);
            let mut module = name.to_vec();
            if entry.is_dir() {
                module.push(file);
                self.folder(&entry, &module)?;
                continue;
            }
            let Some(stem) = file.strip_suffix(".rs") else {
                continue;
            };
            if stem == "tests" || name.iter().any(|part| part == "tests") {
                continue;
            }
            if !matches!(stem, "lib" | "main" | "mod") {
                module.push(stem.to_owned());
            }
            let text = fs::read_to_string(&entry)?;
            let parsed =
                syn::parse_file(&text).map_err(|error| format!("{}: {error}", entry.display()))?;
            let found = self.all.entry(module).or_default();
            Reader { found }.visit_file(&parsed);
        }
        Ok(())
    }

    /// The module in which a path that is spelt in `from` ends.
    fn resolve(&self, from: &[String], path: &[String], depth: usize) -> Option<Name> {
        let (first, mut rest) = path.split_first()?;
        let mut at: Name = match first.as_str() {
            "crate" => Vec::new(),
            "self" => from.to_vec(),
            "super" => from.split_last()?.1.to_vec(),
            name => {
                let child = [from, &[name.to_owned()][..]].concat();
                if !self.all.contains_key(&child) {
                    return None;
                }
                child
            }
        };
        while let Some((next, further)) = rest.split_first() {
            if next == "super" {
                at.pop()?;
                rest = further;
                continue;
            }
            let child = [&at[..], std::slice::from_ref(next)].concat();
            if self.all.contains_key(&child) {
                at = child;
                rest = further;
                continue;
            }
            let module = self.all.get(&at)?;
            // A circle of re-exports would not compile; the bound is for globs.
            if depth < 16 {
                if let Some(origin) = module.imported.get(next)
                    && let Some(found) = self.resolve(&at, origin, depth + 1)
                {
                    return Some(found);
                }
                for glob in &module.globs {
                    let path = [&glob[..], rest].concat();
                    if let Some(found) = self.resolve(&at, &path, depth + 1)
                        && self.resolve(&at, glob, depth + 1).as_ref() != Some(&found)
                    {
                        return Some(found);
                    }
                }
            }
            break;
        }
        Some(at)
    }

    /// Needs among neighbours, by the module that holds them.
    fn needs(&self) -> BTreeMap<Name, Edges> {
        let mut needs: BTreeMap<Name, Edges> = BTreeMap::new();
        for (from, module) in &self.all {
            for path in &module.paths {
                let Some(to) = self.resolve(from, path, 0) else {
                    continue;
                };
                let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                if let (Some(here), Some(there)) = (from.get(shared), to.get(shared)) {
                    let edges = needs.entry(from[..shared].to_vec()).or_default();
                    edges.entry(here.clone()).or_default().insert(there.clone());
                }
            }
        }
        needs
    }
}

/// Collects the imports and paths of one file.
struct Reader<'a> {
    found: &'a mut Module,
}

impl Reader<'_> {
    fn tree(&mut self, tree: &syn::UseTree, before: &[String]) {
        match tree {
            syn::UseTree::Path(path) => {
                let longer = [before, &[path.ident.to_string()][..]].concat();
                self.tree(&path.tree, &longer);
            }
            syn::UseTree::Name(name) => self.import(before, &name.ident, &name.ident),
            syn::UseTree::Rename(renamed) => self.import(before, &renamed.ident, &renamed.rename),
            syn::UseTree::Glob(_) => {
                self.found.globs.push(before.to_vec());
                self.found.paths.push(before.to_vec());
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.tree(tree, before);
                }
            }
        }
    }

    fn import(&mut self, before: &[String], name: &syn::Ident, here: &syn::Ident) {
        let mut path = before.to_vec();
        if name != "self" {
            path.push(name.to_string());
        }
        let here = if here == "self" {
            path.last().cloned().unwrap_or_default()
        } else {
            here.to_string()
        };
        self.found.imported.insert(here, path.clone());
        self.found.paths.push(path);
    }

    /// Paths inside a macro's tokens: those that begin with `crate` or `super`.
    fn tokens(&mut self, tokens: proc_macro2::TokenStream) {
        let mut path: Name = Vec::new();
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Ident(ident) => {
                    let word = ident.to_string();
                    if path.is_empty() == matches!(word.as_str(), "crate" | "super") {
                        path.push(word);
                    } else {
                        self.end(&mut path);
                    }
                }
                proc_macro2::TokenTree::Punct(sign) if sign.as_char() == ':' => {}
                proc_macro2::TokenTree::Group(group) => {
                    self.end(&mut path);
                    self.tokens(group.stream());
                }
                _ => self.end(&mut path),
            }
        }
        self.end(&mut path);
    }

    fn end(&mut self, path: &mut Name) {
        if path.len() > 1 {
            self.found.paths.push(path.clone());
        }
        path.clear();
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|path| path.is_ident("test"))
    })
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Mod(module) => &module.attrs,
            syn::Item::Use(import) => &import.attrs,
            syn::Item::Fn(function) => &function.attrs,
            syn::Item::Impl(block) => &block.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, import: &'ast syn::ItemUse) {
        self.tree(&import.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Name = path
            .segments
            .iter()
            .map(|part| part.ident.to_string())
            .collect();
        if names.len() > 1 {
            self.found.paths.push(names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }
}

/// Modules that reach each other, each knot in order of names.
fn knots(edges: &Edges) -> Vec<Vec<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> = edges
        .keys()
        .map(|from| (from, reachable(edges, from)))
        .collect();
    let mut knots: BTreeSet<Vec<String>> = BTreeSet::new();
    for (from, all) in &reach {
        let knot: Vec<String> = all
            .iter()
            .filter(|to| reach.get(*to).is_some_and(|back| back.contains(*from)))
            .map(|to| (*to).clone())
            .collect();
        if knot.len() > 1 {
            knots.insert(knot);
        }
    }
    knots.into_iter().collect()
}

fn reachable<'a>(edges: &'a Edges, from: &'a String) -> BTreeSet<&'a String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        for to in edges.get(next).into_iter().flatten() {
            if seen.insert(to) {
                open.push(to);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(files: &[(&str, &str)]) -> Modules {
        let mut modules = Modules::default();
        for (name, text) in files {
            let name: Name = name
                .split("::")
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect();
            let found = modules.all.entry(name).or_default();
            Reader { found }.visit_file(&syn::parse_file(text).unwrap());
        }
        modules
    }

    #[test]
    fn a_circle_through_a_name_that_the_root_passes_on_is_found() {
        let modules = modules(&[
            ("", "mod a; mod b; pub use b::Thing;"),
            ("a", "use crate::Thing; fn f(_: Thing) {}"),
            ("b", "pub struct Thing; fn g() { crate::a::f(Thing) }"),
        ]);
        let needs = modules.needs();
        assert_eq!(knots(&needs[&Vec::new()]), [["a", "b"]]);
    }

    #[test]
    fn needs_that_point_one_way_and_tests_are_no_circle() {
        let modules = modules(&[
            ("", "mod a; mod b;"),
            (
                "a",
                "pub struct Thing; #[cfg(test)] mod tests { use crate::b::g; }",
            ),
            (
                "b",
                "use super::a::Thing; fn g() { println!(\"{}\", crate::a::f()) }",
            ),
        ]);
        let needs = modules.needs();
        assert_eq!(needs[&Vec::new()].len(), 1);
        assert!(knots(&needs[&Vec::new()]).is_empty());
    }

    #[test]
    fn what_lies_below_a_module_belongs_to_it() {
        let modules = modules(&[
            ("", "mod a; mod b;"),
            ("a", "mod deep;"),
            ("a::deep", "use super::super::b;"),
            ("b", "use crate::a::deep;"),
        ]);
        assert_eq!(knots(&modules.needs()[&Vec::new()]), [["a", "b"]]);
    }
}
