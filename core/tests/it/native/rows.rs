//! Files of reference data with one test per row, in the data next to the checkout and its folder `more/`.

use serde_json::Value;

/// Checks every row of a file, and returns all checked rows. `counts` are the expected numbers of rows in the file and
/// in its counterpart in `more/`. If the data is missing, prints a message and checks nothing.
///
/// # Panics
/// If a row has a fault, or the number of rows differs.
pub(crate) fn judged(file: &str, counts: [usize; 2], fault: impl Fn(&Value) -> Option<String>) -> Vec<Value> {
    let mut judged = Vec::new();
    for (folder, count) in ["", "more/"].into_iter().zip(counts) {
        let path = format!("{}/../../shared/data/{folder}{file}", env!("CARGO_MANIFEST_DIR"));
        let Ok(text) = std::fs::read_to_string(path) else {
            println!("skipped: there is no reference data next to the checkout");
            return Vec::new();
        };
        let rows: Vec<Value> = serde_json::from_str(&text).expect("the data is JSON");
        assert_eq!(rows.len(), count, "the number of cases");
        let failed: Vec<String> =
            rows.iter().filter_map(|row| fault(row).map(|fault| format!("{}: {fault}", row["name"]))).collect();
        println!("{} of {} cases", rows.len() - failed.len(), rows.len());
        assert!(failed.is_empty(), "{} cases failed\n{}", failed.len(), failed.join("\n"));
        judged.extend(rows);
    }
    judged
}
