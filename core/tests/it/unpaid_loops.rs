//! A ratchet for loops over the input that no budget bounds. A loop pays if its function has a budget, for instance by
//! `Budget::pay` or by a walk of `schema/visit.rs`. `core/tests/growth/unpaid.rs` measures the loops that are left.
#![allow(clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

use std::{fmt::Write, fs, path::Path};

use quote::ToTokens;
use syn::{
    visit::{self, Visit},
    Attribute, Block, ExprForLoop, ExprLoop, ExprMethodCall, ExprWhile, ImplItemFn, ItemFn, ItemImpl, ItemMod,
    Signature,
};

use crate::prose::{files, ROOM, SHARE};

/// Loops in functions that read parts of an input and have no budget, by layer. Lower a count when the code permits;
/// never raise one.
const TODAY: [(&str, usize); 19] = [
    ("adapt", 68),
    ("api", 12),
    ("check", 87),
    ("deferred", 83),
    ("dialect", 16),
    ("envelope", 3),
    ("exchange", 41),
    ("internal", 1),
    ("json", 55),
    ("names", 22),
    ("options", 9),
    ("repair", 44),
    ("reply", 100),
    ("request", 188),
    ("sanitize", 330),
    ("schema", 118),
    ("search", 19),
    ("tools", 248),
    ("wire", 357),
];

/// Types that hold a part of an input.
const INPUTS: [&str; 6] = ["Node", "Object", "Member", "Text", "Listing", "Conversation"];
/// Names by which a function pays, or receives what pays.
const PAYING: [&str; 7] = ["budget", "Budget", "pay", "steps", "Steps", "walk", "walk_mut"];
/// Methods that visit all items of an iterator.
const VISITING: [&str; 14] = [
    "all", "any", "collect", "count", "extend", "find", "find_map", "fold", "for_each", "last", "max", "min",
    "position", "sum",
];

#[derive(Default)]
struct Loops {
    /// Types of the surrounding `impl`.
    owner: String,
    found: Vec<(String, usize)>,
}

impl Loops {
    fn function(&mut self, signature: &Signature, block: &Block) {
        let inputs = format!("{} {}", signature.inputs.to_token_stream(), self.owner);
        let code = format!("{inputs} {}", block.to_token_stream());
        let has = |text: &str, names: &[&str]| {
            text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| names.contains(&word))
        };
        if has(&inputs, &INPUTS) && !has(&code, &PAYING) {
            let mut count = Count(0);
            count.visit_block(block);
            if count.0 > 0 {
                self.found.push((signature.ident.to_string(), count.0));
            }
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.to_token_stream().to_string().contains("test"))
}

impl<'ast> Visit<'ast> for Loops {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let outer = std::mem::replace(&mut self.owner, item.self_ty.to_token_stream().to_string());
        visit::visit_item_impl(self, item);
        self.owner = outer;
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if !is_test(&function.attrs) {
            self.function(&function.sig, &function.block);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if !is_test(&function.attrs) {
            self.function(&function.sig, &function.block);
        }
    }
}

struct Count(usize);

impl<'ast> Visit<'ast> for Count {
    fn visit_expr_for_loop(&mut self, expression: &'ast ExprForLoop) {
        self.0 += 1;
        visit::visit_expr_for_loop(self, expression);
    }

    fn visit_expr_while(&mut self, expression: &'ast ExprWhile) {
        self.0 += 1;
        visit::visit_expr_while(self, expression);
    }

    fn visit_expr_loop(&mut self, expression: &'ast ExprLoop) {
        self.0 += 1;
        visit::visit_expr_loop(self, expression);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.0 += usize::from(VISITING.iter().any(|name| call.method == name));
        visit::visit_expr_method_call(self, call);
    }
}

fn loops(text: &str) -> Vec<(String, usize)> {
    let mut loops = Loops::default();
    loops.visit_file(&syn::parse_file(text).expect("it is Rust"));
    loops.found
}

#[test]
fn loops_without_a_budget_only_become_fewer() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    files(&source, &mut paths);
    paths.sort();
    let (mut list, mut layers) = (String::new(), std::collections::BTreeMap::<String, usize>::new());
    for path in &paths {
        let name = path.strip_prefix(&source).expect("it is below the folder").to_string_lossy().replace('\\', "/");
        if name.contains("tests") {
            continue;
        }
        let layer = name.split(['/', '.']).next().unwrap_or_default().to_owned();
        for (function, count) in loops(&fs::read_to_string(path).expect("the file is text")) {
            *layers.entry(layer.clone()).or_default() += count;
            writeln!(list, "{name}: {function}: {count}").expect("a string");
        }
    }
    let listed = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unpaid-loops.txt");
    fs::write(&listed, list).expect("the list is written");
    let (mut higher, mut rows) = (String::new(), String::new());
    for (layer, limit) in TODAY {
        let count = layers.remove(layer).unwrap_or_default();
        if count > limit {
            writeln!(higher, "  {layer}: {count} instead of {limit}").expect("a string");
        }
        if count + (limit / SHARE).max(ROOM) < limit {
            writeln!(rows, "    ({layer:?}, {count}),").expect("a string");
        }
    }
    assert!(layers.is_empty(), "TODAY lacks these layers: {layers:?}");
    let list = listed.display();
    assert!(
        higher.is_empty(),
        "loops over the input have no budget; let their functions take one and pay for each item. {list} lists all:\n{higher}"
    );
    assert!(rows.is_empty(), "fewer loops have no budget. Replace these rows of TODAY in {}:\n{rows}", file!());
}

#[test]
fn loops_without_a_budget_are_found() {
    let text = "
        fn unpaid(node: &Node<'_>) { for item in node { while true {} } node.iter().any(is_one); }
        fn paid(node: &Node<'_>, budget: &Budget) { for item in node { budget.pay(1); } }
        fn no_input(count: usize) { for item in 0..count {} }
        impl Object<'_> { fn own(&self) { loop {} } }
        #[cfg(test)]
        mod tests { fn helper(node: &Node<'_>) { loop {} } }
    ";
    assert_eq!(loops(text), [("unpaid".to_owned(), 3), ("own".to_owned(), 1)]);
}
