//! Imports go downwards: the lists of layers in the ARCHITECTURE pages, against the modules of every crate.

#![cfg(all(not(loom), not(shuttle), not(miri)))]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path as FilePath, PathBuf},
};
use syn::visit::{self, Visit};

/// The segments of a module's path, from the root of the crate.
type Module = Vec<String>;

/// The line whose files may refer to each other.
const UNIT: &str = "scheduler: ";

#[test]
fn imports_go_downwards() {
    let root = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !root.join("runtime").is_dir() {
        // This is the package of the crate, which has no pages. Where there are crates, each must be on a page.
        return;
    }
    let pages = entries(&root).into_iter().filter_map(|folder| fs::read_to_string(folder.join("ARCHITECTURE.md")).ok());
    let text = pages.collect::<String>();
    let (mut faults, mut count) = (Vec::new(), 0);
    for (name, src) in crates(&root) {
        let modules = read_modules(&src);
        if modules.len() == 1 {
            continue;
        }
        let Some(layers) = Layers::parse(&text, &name) else {
            faults.push(format!("{name} has no list of layers"));
            continue;
        };
        let imports = imports(&modules);
        count += imports.values().map(BTreeSet::len).sum::<usize>();
        faults.extend(layers.faults(&imports).iter().map(|fault| format!("{name}: {fault}")));
    }
    assert!(count > 1_000, "too few imports to be all: {count}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn entries(folder: &FilePath) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// The names and the sources of the crates, those of other workspaces included.
fn crates(root: &FilePath) -> Vec<(String, PathBuf)> {
    let crates = entries(root).into_iter().flat_map(|product| entries(&product));
    let crates = crates.filter(|folder| folder.join("Cargo.toml").is_file() && folder.join("src").is_dir());
    // The sources behind a link are those of another crate.
    let crates = crates.filter(|folder| !folder.join("src").is_symlink());
    let named = crates.map(|folder| {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        (name, folder.join("src"))
    });
    named.collect()
}

#[test]
fn upward_import_and_cycle_are_found() {
    let layers =
        Layers::parse("```layers some\nhigh, odd/high  text\nscheduler: one, two\nlow, near, far\n```", "some")
            .unwrap();
    let modules = [
        (&["low"][..], "use crate::high::part::Thing;"),
        (&["low", "a"], "fn f() { crate::low::b::f() } pub(crate) fn g() {}"),
        (&["low", "b"], "use super::a::{g as h}; #[cfg(test)] mod tests { use crate::high::*; }"),
        (&["high"], "pub(crate) mod part; pub(crate) use part::Thing;"),
        (&["high", "part"], "use crate::{low::{a, b}, one::Used};"),
        (&["odd", "high"], "use crate::low;"),
        (&["one"], "use crate::two::Two;"),
        (&["two"], "use crate::one::One;"),
        (&["near"], "use crate::far; fn f() { far::call() }"),
        (&["far"], "mod inner; pub(crate) use inner::call;"),
        (&["far", "inner"], "use crate::near::f; pub(in crate::high) fn call() { f() }"),
    ];
    let named = |(path, text): &(&[&str], &str)| {
        (path.iter().map(ToString::to_string).collect(), syn::parse_file(text).expect("Rust"))
    };
    let modules: BTreeMap<Module, syn::File> = modules.iter().map(named).collect();
    let faults = layers.faults(&imports(&modules));
    assert_eq!(
        faults,
        [
            "far/inner and near import each other",
            "low imports high/part, which is above it",
            "low/a and low/b import each other"
        ]
    );
}

/// From the top to the bottom, each with the paths that belong to it.
struct Layers(Vec<(bool, Vec<Module>)>);

impl Layers {
    /// The list of a crate.
    fn parse(text: &str, name: &str) -> Option<Self> {
        let list = text.split(&format!("```layers {name}\n")).nth(1)?.split("```").next().unwrap_or_default();
        let line = |line: &str| {
            let paths = line.strip_prefix(UNIT).unwrap_or(line);
            let paths = paths.split("  ").next().unwrap_or_default();
            let paths = paths.split(", ").map(|path| path.trim().split('/').map(str::to_owned).collect()).collect();
            (line.starts_with(UNIT), paths)
        };
        Some(Self(list.lines().map(line).collect()))
    }

    /// The layer of a module, from the top: that with the longest path that the module's begins with. A path to `mod`
    /// is that of the file alone.
    fn of(&self, module: &Module) -> Option<usize> {
        let file = [&module[..], &["mod".to_owned()]].concat();
        let fit = |paths: &Vec<Module>| paths.iter().filter(|path| file.starts_with(path)).map(Vec::len).max();
        let fits = self.0.iter().enumerate().filter_map(|(layer, (_, paths))| Some((fit(paths)?, layer)));
        fits.max_by_key(|(length, _)| *length).map(|(_, layer)| layer)
    }

    fn faults(&self, imports: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<String> {
        let mut faults = Vec::new();
        for (from, all) in imports {
            let Some(layer) = self.of(from) else {
                faults.push(format!("{} is in no layer", from.join("/")));
                continue;
            };
            for to in all {
                let is_above = self.of(to).is_some_and(|other| other < layer);
                if is_above {
                    faults.push(format!("{} imports {}, which is above it", from.join("/"), to.join("/")));
                } else if to > from && reaches(imports, to, from) && !self.0[layer].0 {
                    faults.push(format!("{} and {} import each other", from.join("/"), to.join("/")));
                }
            }
        }
        faults
    }
}

/// Whether there is a way from one module to the other, along imports.
fn reaches(imports: &BTreeMap<Module, BTreeSet<Module>>, from: &Module, to: &Module) -> bool {
    let (mut seen, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(module) = left.pop() {
        if module == to {
            return true;
        }
        if seen.insert(module) {
            left.extend(imports.get(module).into_iter().flatten());
        }
    }
    false
}

fn read_modules(src: &FilePath) -> BTreeMap<Module, syn::File> {
    let (mut modules, mut folders) = (BTreeMap::new(), vec![src.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).expect("a folder of sources");
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && let Some(module) = module_of(src, &path)
            {
                let text = fs::read_to_string(&path).expect("a source file");
                modules.insert(
                    module,
                    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
                );
            }
        }
    }
    modules
}

/// Empty for the root; `None` for other programs of the crate, and for what stands beside the layers.
fn module_of(src: &FilePath, file: &FilePath) -> Option<Module> {
    let path = file.strip_prefix(src).ok()?.with_extension("");
    let mut module: Module = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if matches!(module.last()?.as_str(), "mod" | "lib" | "main") {
        module.pop();
    }
    let is_beside = |name: &String| matches!(name.as_str(), "bin" | "models" | "compile_fail" | "tests");
    (!module.iter().any(is_beside)).then_some(module)
}

/// Which modules each module names, but for those inside of it, and but for tests. The root names all.
fn imports(modules: &BTreeMap<Module, syn::File>) -> BTreeMap<Module, BTreeSet<Module>> {
    let reexports = Reexports::read(modules);
    let all = modules.iter().map(|(module, file)| {
        let mut named = Named { module: module.clone(), modules, reexports: &reexports, paths: Vec::new() };
        named.visit_file(file);
        let targets = named.paths.into_iter().filter_map(|path| reexports.target(modules, path));
        (module.clone(), targets.filter(|to| !to.starts_with(module)).collect())
    });
    all.filter(|(module, _)| !module.is_empty()).collect()
}

/// Where the names come from that a module has and does not define.
struct Reexports(BTreeMap<Module, Module>);

impl Reexports {
    fn read(modules: &BTreeMap<Module, syn::File>) -> Self {
        let mut found = BTreeMap::new();
        for (module, file) in modules {
            for item in &file.items {
                if let syn::Item::Use(item) = item {
                    for (path, name) in flatten(&item.tree) {
                        if let Some(path) = absolute(module, modules, &path) {
                            found.insert([&module[..], &[name]].concat(), path);
                        }
                    }
                }
            }
        }
        Self(found)
    }

    /// The module in which what the path leads to is defined.
    fn target(&self, modules: &BTreeMap<Module, syn::File>, mut path: Module) -> Option<Module> {
        for _ in 0..8 {
            let end = (0..=path.len()).rev().find(|&end| modules.contains_key(&path[..end]))?;
            let name = path.get(end)?.clone();
            match self.0.get(&[&path[..end], &[name]].concat()) {
                Some(origin) => path = [&origin[..], &path[end + 1..]].concat(),
                None => {
                    path.truncate(end);
                    return Some(path);
                }
            }
            if modules.contains_key(&path) {
                return Some(path);
            }
        }
        None
    }
}

struct Named<'a> {
    module: Module,
    modules: &'a BTreeMap<Module, syn::File>,
    reexports: &'a Reexports,
    paths: Vec<Module>,
}

impl Named<'_> {
    fn note(&mut self, path: &[String]) {
        let imported = || {
            let origin = self.reexports.0.get(&[&self.module[..], &path[..1]].concat())?;
            Some([origin, &path[1..]].concat())
        };
        if let Some(path) = absolute(&self.module, self.modules, path).or_else(imported) {
            // A path to a module names what is in it.
            let path = if self.modules.contains_key(&path) { [&path[..], &["*".to_owned()]].concat() } else { path };
            self.paths.push(path);
        }
    }
}

impl<'a> Visit<'a> for Named<'_> {
    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        for (path, _) in flatten(&item.tree) {
            self.note(&path);
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names.len() > 1 {
            self.note(&names);
        }
        visit::visit_path(self, path);
    }

    fn visit_item(&mut self, item: &'a syn::Item) {
        let attributes = match item {
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !attributes.iter().any(is_test) {
            visit::visit_item(self, item);
        }
    }

    /// `pub(in path)` imports nothing.
    fn visit_visibility(&mut self, _: &'a syn::Visibility) {}

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if item.content.is_some() {
            self.module.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }
}

fn is_test(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string().contains("test"))
}

/// The paths that a `use` names, and the name that each gets.
fn flatten(tree: &syn::UseTree) -> Vec<(Vec<String>, String)> {
    let below = |first: String, rest: Vec<(Vec<String>, String)>| {
        let join = |(path, name): (Vec<String>, String)| match path.first().map(String::as_str) {
            Some("self") => (vec![first.clone()], if name == "self" { first.clone() } else { name }),
            _ => ([vec![first.clone()], path].concat(), name),
        };
        rest.into_iter().map(join).collect()
    };
    match tree {
        syn::UseTree::Path(path) => below(path.ident.to_string(), flatten(&path.tree)),
        syn::UseTree::Name(name) => vec![(vec![name.ident.to_string()], name.ident.to_string())],
        syn::UseTree::Rename(rename) => vec![(vec![rename.ident.to_string()], rename.rename.to_string())],
        syn::UseTree::Glob(_) => vec![(vec!["*".to_owned()], "*".to_owned())],
        syn::UseTree::Group(group) => group.items.iter().flat_map(flatten).collect(),
    }
}

/// From the root of the crate; `None` for paths into other crates.
fn absolute(module: &Module, modules: &BTreeMap<Module, syn::File>, path: &[String]) -> Option<Module> {
    let supers = path.iter().take_while(|name| *name == "super").count();
    match path.first()?.as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([module, &path[1..]].concat()),
        "super" => Some([module.get(..module.len().checked_sub(supers)?)?, &path[supers..]].concat()),
        first => {
            let child = [&module[..], &[first.to_owned()]].concat();
            modules.contains_key(&child).then(|| [module, path].concat())
        }
    }
}
