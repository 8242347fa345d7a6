//! Files of reference data whose rows each hold or do not: what lies beside the checkout, and more of it.

use serde_json::Value;

/// Judges every row of a file, of which there have to be so many, and so many of `more/`; gives all that were judged.
/// Without the data it says so, and judges none.
///
/// # Panics
/// If a row has a fault, or another number of rows is there.
pub(crate) fn judged(file: &str, counts: [usize; 2], fault: impl Fn(&Value) -> Option<String>) -> Vec<Value> {
    let mut judged = Vec::new();
    for (folder, count) in ["", "more/"].into_iter().zip(counts) {
        let path = format!("{}/../../shared/data/{folder}{file}", env!("CARGO_MANIFEST_DIR"));
        let Ok(text) = std::fs::read_to_string(path) else {
            println!("skipped: there is no reference data beside the checkout");
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
