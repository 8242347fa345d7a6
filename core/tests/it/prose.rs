//! A ratchet for comments: the share of documented private functions and the counts of unreadable prose may only fall.
#![allow(clippy::panic, clippy::expect_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    thread,
};

use syn::{
    visit::{self, Visit},
    Attribute, ImplItemFn, ItemFn, ItemImpl, Meta, Visibility,
};

/// The largest count of each measure. Never raise one.
const TODAY: [(&str, usize); 20] = [
    (DOCUMENTED, 335),
    (LONG, 62),
    (CHAINED, 340),
    ("counts as", 4),
    ("leads to", 3),
    ("place", 14),
    ("for people", 2),
    ("takes", 56),
    ("stands", 2),
    ("beside", 0),
    ("mends", 0),
    ("anew", 1),
    (WHETHER, 2),
    ("the same", 258),
    ("that of", 11),
    ("those of", 7),
    ("the other one", 1),
    ("which is one", 1),
    ("in which", 79),
    ("of which", 14),
];

/// A count may be lower by 1 in `SHARE` and by `ROOM` before its row must follow.
pub(crate) const SHARE: usize = 20;
pub(crate) const ROOM: usize = 3;

const FOLDERS: [&str; 6] = ["core", "command", "cli", "xtask", "bindings-py", "bindings-wasm"];

const DOCUMENTED: &str = "documented functions among 1,000 private ones";
const LONG: &str = "sentences over 28 words";
const CHAINED: &str = "sentences with two relative clauses";
const MAX_WORDS: usize = 28;
const RELATIVE: [&str; 4] = ["which", "that", "whose", "who"];

/// Words to avoid, with their other forms, and what to write.
const AVOIDED: [(&str, &[&str], &str); 17] = [
    ("counts as", &["count as", "counted as"], "is treated as"),
    ("leads to", &["lead to", "led to"], "points to"),
    ("place", &["places"], "location, index"),
    ("for people", &[], "human-readable"),
    ("takes", &[], "accepts"),
    ("stands", &["stand", "stood"], "exists, contains, is"),
    ("beside", &["besides"], "next to, together with"),
    ("mends", &["mend", "mended", "mending"], "fixes"),
    ("anew", &[], "again"),
    (WHETHER, &[], "returns true if"),
    ("the same", &[], "the noun again"),
    ("that of", &[], "the noun again"),
    ("those of", &[], "the noun again"),
    ("the other one", &[], "the noun again"),
    ("which is one", &[], "the noun again"),
    ("in which", &[], "two sentences"),
    ("of which", &[], "two sentences"),
];
/// Avoided only at the start of a sentence.
const WHETHER: &str = "Whether …";

#[derive(Default)]
struct Functions {
    private: usize,
    documented: usize,
}

impl Functions {
    fn count(&mut self, attributes: &[Attribute], visibility: &Visibility) {
        let is_test = attributes.iter().any(|attribute| attribute.path().is_ident("test"));
        if matches!(visibility, Visibility::Public(_)) || is_test {
            return;
        }
        let is_doc =
            |attribute: &Attribute| matches!(&attribute.meta, Meta::NameValue(doc) if doc.path.is_ident("doc"));
        self.private += 1;
        self.documented += usize::from(attributes.iter().any(is_doc));
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.count(&function.attrs, &function.vis);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.count(&function.attrs, &function.vis);
        visit::visit_impl_item_fn(self, function);
    }

    // A trait documents its functions.
    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        match item.trait_ {
            None => visit::visit_item_impl(self, item),
            Some(_) => item.items.iter().for_each(|item| {
                if let syn::ImplItem::Fn(function) = item {
                    visit::visit_block(self, &function.block);
                }
            }),
        }
    }
}

/// Each phrase with the words of one form, by the first word.
type Avoided = BTreeMap<&'static str, Vec<(&'static str, Vec<&'static str>)>>;

fn avoided_words() -> Avoided {
    let mut avoided = Avoided::new();
    for (phrase, forms, _) in AVOIDED {
        for form in [&[phrase], forms].concat() {
            let words: Vec<&str> = form.split(' ').collect();
            avoided.entry(words[0]).or_default().push((phrase, words));
        }
    }
    avoided
}

/// A sentence of a comment, with the number of the row where its paragraph begins. Code is one word without letters.
struct Sentence {
    row: usize,
    words: Vec<String>,
}

impl Sentence {
    /// Returns each measure as often as the sentence contributes to it.
    fn faults(&self, avoided: &Avoided) -> Vec<&'static str> {
        let mut faults = Vec::new();
        let bare: Vec<String> = self.words.iter().map(|word| bare(word)).filter(|word| !word.is_empty()).collect();
        if bare.len() > MAX_WORDS {
            faults.push(LONG);
        }
        if bare.iter().filter(|word| RELATIVE.contains(&word.as_str())).count() > 1 {
            faults.push(CHAINED);
        }
        if bare.first().is_some_and(|word| word == "whether") {
            faults.push(WHETHER);
        }
        for (at, word) in bare.iter().enumerate() {
            for (phrase, form) in avoided.get(word.as_str()).into_iter().flatten() {
                // The field says "in place".
                let is_term = *phrase == "place" && bare[..at].last().is_some_and(|before| before == "in");
                if !is_term && bare[at..].iter().map(String::as_str).take(form.len()).eq(form.iter().copied()) {
                    faults.push(*phrase);
                }
            }
        }
        faults
    }
}

fn bare(word: &str) -> String {
    word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase()
}

/// Returns the sentences of all comments that have rows of their own.
fn sentences(text: &str) -> Vec<Sentence> {
    let (mut sentences, mut paragraph, mut start) = (Vec::new(), String::new(), 0);
    let (mut is_code, mut last) = (false, None);
    let mut end = |paragraph: &mut String, row| {
        sentences.extend(split(paragraph).into_iter().map(|words| Sentence { row, words }));
        paragraph.clear();
    };
    for (row, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let mark = ["///", "//!", "//"].into_iter().find(|mark| line.starts_with(mark));
        let line = line.strip_prefix(mark.unwrap_or_default()).unwrap_or_default().trim();
        is_code &= mark == last;
        let is_fence = line.starts_with("```") && mark.is_some();
        is_code ^= is_fence;
        let is_list = ["- ", "* "].iter().any(|mark| line.starts_with(mark));
        let is_prose = mark.is_some() && !is_code && !is_fence && !line.is_empty() && !line.starts_with(['#', '|']);
        if !is_prose || is_list || mark != last {
            end(&mut paragraph, start);
        }
        if is_prose {
            if paragraph.is_empty() {
                start = row + 1;
            }
            paragraph += " ";
            paragraph += line;
        }
        last = mark;
    }
    end(&mut paragraph, start);
    sentences
}

/// Splits a paragraph into sentences of words.
fn split(paragraph: &str) -> Vec<Vec<String>> {
    let mut text = String::new();
    for (at, part) in paragraph.split('`').enumerate() {
        text += if at % 2 == 0 { part } else { "`0`" };
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let (mut sentences, mut sentence) = (Vec::new(), Vec::new());
    for (at, word) in words.iter().enumerate() {
        sentence.push((*word).to_owned());
        let is_end = word.trim_end_matches([')', '"', '*', '_']).ends_with(['.', '?', '!']);
        if is_end && !words.get(at + 1).is_some_and(|next| next.starts_with(char::is_lowercase)) {
            sentences.push(std::mem::take(&mut sentence));
        }
    }
    sentences.push(sentence);
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// Adds all Rust files of a folder, without built ones.
pub(crate) fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder exists").flatten() {
        match entry.path() {
            path if path.is_dir() && path.ends_with("target") => {}
            path if path.is_dir() => files(&path, into),
            path if path.extension().is_some_and(|end| end == "rs") => into.push(path),
            _ => {}
        }
    }
}

/// Counts the measures in some files, and lists the locations of all faults.
fn count(root: &Path, paths: &[PathBuf]) -> (Functions, BTreeMap<&'static str, usize>, String) {
    let avoided = avoided_words();
    let (mut functions, mut counts, mut list) = (Functions::default(), BTreeMap::new(), String::new());
    for path in paths {
        let text = fs::read_to_string(path).expect("the file is text");
        let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        functions.visit_file(&file);
        let name = path.strip_prefix(root).expect("it is below the root").display();
        for sentence in sentences(&text) {
            for fault in sentence.faults(&avoided) {
                *counts.entry(fault).or_insert(0) += 1;
                writeln!(list, "{name}:{}: {fault}: {}", sentence.row, sentence.words.join(" ")).expect("a string");
            }
        }
    }
    (functions, counts, list)
}

#[test]
fn comments_only_become_fewer_and_shorter() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is below the root");
    let mut paths = Vec::new();
    FOLDERS.iter().for_each(|folder| files(&root.join(folder), &mut paths));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let parts: Vec<_> = thread::scope(|scope| {
        let parts: Vec<_> =
            paths.chunks(paths.len().div_ceil(threads)).map(|paths| scope.spawn(move || count(root, paths))).collect();
        parts.into_iter().map(|part| part.join().expect("the files are read")).collect()
    });

    let (mut functions, mut counts, mut list) = (Functions::default(), BTreeMap::new(), String::new());
    for (part, faults, rows) in parts {
        functions.private += part.private;
        functions.documented += part.documented;
        faults.into_iter().for_each(|(fault, count)| *counts.entry(fault).or_insert(0) += count);
        list += &rows;
    }
    counts.insert(DOCUMENTED, (1000 * functions.documented).div_ceil(functions.private));

    let (mut higher, mut lower) = (String::new(), String::new());
    for (measure, limit) in TODAY {
        let count = counts.remove(measure).unwrap_or_default();
        if count > limit {
            let instead = AVOIDED.iter().find(|(phrase, ..)| *phrase == measure);
            let instead = instead.map(|(.., instead)| format!(" (write: {instead})")).unwrap_or_default();
            writeln!(higher, "  {measure}: {count} instead of {limit}{instead}").expect("a string");
        } else if count + (limit / SHARE).max(ROOM) < limit {
            writeln!(lower, "    ({measure:?}, {count}),").expect("a string");
        }
    }
    assert!(counts.is_empty(), "TODAY lacks these measures: {counts:?}");
    let listed = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prose.txt");
    if !higher.is_empty() {
        fs::write(&listed, list).expect("the list is written");
    }
    assert!(
        higher.is_empty(),
        "comments became worse; {} lists all locations. Rewrite or delete yours:\n{higher}",
        listed.display()
    );
    assert!(lower.is_empty(), "comments became better. Replace these rows of TODAY in {}:\n{lower}", file!());
}

#[test]
fn sentences_are_counted() {
    let long = "word ".repeat(MAX_WORDS);
    let text = format!(
        "//! {long}\n//! `of which no word counts as one` end. Whether it stands. Version 1.5 of it,\n//! e.g. this.\n\
         /// The place that a name leads to, which is one of them.\n// Changed in place.\n\
         /// - Whether\n/// - it is\n/// ```\n/// anew\n/// ```\nfn f() {{}} // anew\n"
    );
    let avoided = avoided_words();
    let faults: Vec<_> = sentences(&text).iter().map(|sentence| (sentence.row, sentence.faults(&avoided))).collect();
    let expected = [
        (1, vec![LONG]),
        (1, vec![WHETHER, "stands"]),
        (1, vec![]),
        (4, vec![CHAINED, "place", "leads to", "which is one"]),
        (5, vec![]),
        (6, vec![WHETHER]),
        (7, vec![]),
    ];
    assert_eq!(faults, expected);
}

#[test]
fn private_functions_are_counted() {
    let text = "
        /// Documented.
        #[inline]
        pub(crate) fn one() { fn two() {} }
        /// Public.
        pub fn three() {}
        impl Type { /// Documented.
            fn four() {} fn five() {} }
        impl Trait for Type { fn six() { fn seven() {} } }
        #[test]
        fn eight() {}
    ";
    let mut functions = Functions::default();
    functions.visit_file(&syn::parse_file(text).expect("it is Rust"));
    assert_eq!((functions.private, functions.documented), (5, 2));
}
