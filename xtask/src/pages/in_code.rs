//! The advice about a constraint in code, as a table.

// The command shows the same advice in its reports.
#[path = "../../../command/src/in_code.rs"]
mod advice;

use std::fmt::Write as _;

use advice::in_code;
use toolwire::rules::Constraint;

/// Returns the section of a constraint's page; it is empty for constraints that no library causes.
pub(super) fn section(constraint: Constraint) -> String {
    let Some(found) = in_code(constraint) else { return String::new() };
    let mut section = String::from("\n| in code | |\n|---|---|\n");
    for (library, advice) in [("zod", found.zod), ("pydantic", found.pydantic), ("Go (jsonschema-go)", found.go)] {
        let _ = writeln!(section, "| {library} | {} |", advice.replace('|', "\\|"));
    }
    section
}
