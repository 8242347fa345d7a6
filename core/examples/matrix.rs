//! Prints the results of `sanitize` for every collection of schemas in every dialect:
//! `cargo run --release -p toolwire --example matrix`.
//!
//! With names of dialects as arguments, prints only those dialects, with full details of failures. Without the data
//! next to the checkout (`../shared/data`), it measures the sample in this repository.

#[path = "../tests/it/matrix/measure.rs"]
mod measure;

use measure::{collections, described, measure, HEADER, SAMPLE, WHOLE};

fn main() {
    let selected: Vec<String> = std::env::args().skip(1).collect();
    let Some(collections) = collections(WHOLE).or_else(|| collections(SAMPLE)) else {
        println!("expected tests/sample or ../shared/data, found neither");
        return;
    };
    for collection in &collections {
        let all: usize = collection.schemas.iter().map(|(_, times)| times).sum();
        println!("\n{}: {all}, {} of them different", collection.name, collection.schemas.len());
        println!("| dialect | {} |\n|---|{}", HEADER.join(" | "), "--:|".repeat(HEADER.len()));
        for dialect in described().filter(|name| selected.is_empty() || selected.iter().any(|known| known == name)) {
            let row = measure(dialect, collection);
            let cells: Vec<String> = row.cells().iter().map(usize::to_string).collect();
            println!("| `{dialect}` | {} |", cells.join(" | "));
            if !selected.is_empty() {
                row.error_counts.iter().for_each(|(error, count)| println!("  {count} × {error}"));
                row.faults.iter().for_each(|fault| println!("  {fault}"));
            }
        }
    }
}
