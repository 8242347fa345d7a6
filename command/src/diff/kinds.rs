//! The differences that `toolwire diff` reports, with their severities and advice.

use toolwire::reports::Severity;

/// A kind of difference.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) severity: Severity,
    pub(crate) summary: &'static str,
    pub(crate) fix: &'static str,
}

const BREAKING: Severity = Severity::Refused;
const WARNING: Severity = Severity::Reinterpreted;
const NOTE: Severity = Severity::Ignored;

pub(crate) static TOOL_REMOVED: Kind = Kind {
    name: "tool-removed",
    severity: BREAKING,
    summary: "A tool is gone.",
    fix: "Keep the tool, or tell your users before the release.",
};
pub(crate) static TOOL_RENAMED: Kind = Kind {
    name: "tool-renamed",
    severity: BREAKING,
    summary: "A tool has another name.",
    fix: "Keep the old name, or offer the tool under both names for some time.",
};
pub(crate) static TOOL_ADDED: Kind =
    Kind { name: "tool-added", severity: NOTE, summary: "A tool is new.", fix: "Nothing has to be done." };
pub(crate) static INPUT_NARROWER: Kind = Kind {
    name: "input-narrower",
    severity: BREAKING,
    summary: "Arguments are refused that were accepted.",
    fix: "Accept the arguments again: new properties are optional, and old values stay valid.",
};
pub(crate) static INPUT_BOTH: Kind = Kind {
    name: "input-both",
    severity: BREAKING,
    summary: "Arguments are refused that were accepted, and others are accepted that were refused.",
    fix: "Accept the old arguments, too.",
};
pub(crate) static INPUT_WIDER: Kind = Kind {
    name: "input-wider",
    severity: NOTE,
    summary: "Arguments are accepted that were refused.",
    fix: "Nothing has to be done.",
};
pub(crate) static INPUT_UNDECIDED: Kind = Kind {
    name: "input-undecided",
    severity: WARNING,
    summary: "The schemas of the arguments differ, and no value proves how.",
    fix: "Compare the schemas yourself: a `format` differs, or the difference is hard to reach.",
};
pub(crate) static OUTPUT_WIDER: Kind = Kind {
    name: "output-wider",
    severity: BREAKING,
    summary: "The tool may return results that it never returned.",
    fix: "Return only what the old schema accepts, or tell your users before the release.",
};
pub(crate) static OUTPUT_BOTH: Kind = Kind {
    name: "output-both",
    severity: BREAKING,
    summary: "The tool may return results that it never returned, and no longer returns others.",
    fix: "Return only what the old schema accepts, or tell your users before the release.",
};
pub(crate) static OUTPUT_NARROWER: Kind = Kind {
    name: "output-narrower",
    severity: NOTE,
    summary: "The tool promises more about its results.",
    fix: "Nothing has to be done.",
};
pub(crate) static OUTPUT_UNDECIDED: Kind = Kind {
    name: "output-undecided",
    severity: WARNING,
    summary: "The schemas of the results differ, and no value proves how.",
    fix: "Compare the schemas yourself: a `format` differs, or the difference is hard to reach.",
};
pub(crate) static DIALECT_LOST: Kind = Kind {
    name: "dialect-lost",
    severity: BREAKING,
    summary: "An API or a client refuses a tool that it accepted.",
    fix: "`toolwire check` shows the finding, and how to fix it.",
};
pub(crate) static DIALECT_WORSE: Kind = Kind {
    name: "dialect-worse",
    severity: WARNING,
    summary: "An API or a client reads a part of a tool differently now, or ignores it.",
    fix: "`toolwire check --show ignored` shows the finding, and how to fix it.",
};
pub(crate) static DIALECT_WON: Kind = Kind {
    name: "dialect-won",
    severity: NOTE,
    summary: "An API or a client accepts a tool that it refused.",
    fix: "Nothing has to be done.",
};
pub(crate) static DIALECT_BETTER: Kind = Kind {
    name: "dialect-better",
    severity: NOTE,
    summary: "An API or a client no longer reads a part of a tool differently, or ignores less.",
    fix: "Nothing has to be done.",
};
pub(crate) static ANNOTATIONS_CHANGED: Kind = Kind {
    name: "annotations-changed",
    severity: WARNING,
    summary: "A tool has other annotations, by which clients decide whether to ask the user.",
    fix: "Check that the annotations describe what the tool does.",
};
pub(crate) static TEXT_CHANGED: Kind = Kind {
    name: "text-changed",
    severity: NOTE,
    summary: "The model reads another text.",
    fix: "Nothing has to be done; evaluate the tool if the choice of the tool matters.",
};

/// All kinds.
pub(crate) static KINDS: [&Kind; 17] = [
    &TOOL_REMOVED,
    &TOOL_RENAMED,
    &TOOL_ADDED,
    &INPUT_NARROWER,
    &INPUT_BOTH,
    &INPUT_WIDER,
    &INPUT_UNDECIDED,
    &OUTPUT_WIDER,
    &OUTPUT_BOTH,
    &OUTPUT_NARROWER,
    &OUTPUT_UNDECIDED,
    &DIALECT_LOST,
    &DIALECT_WORSE,
    &DIALECT_WON,
    &DIALECT_BETTER,
    &ANNOTATIONS_CHANGED,
    &TEXT_CHANGED,
];

/// Returns the kind with this name.
pub(crate) fn kind_of(name: &str) -> Option<&'static Kind> {
    KINDS.into_iter().find(|kind| kind.name == name)
}

/// Returns the word for a severity of differences.
pub(crate) const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Refused => "breaking",
        Severity::Reinterpreted => "warning",
        Severity::Ignored => "note",
    }
}

#[cfg(test)]
mod tests {
    use super::{level, KINDS};

    #[test]
    fn every_kind_is_documented() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/diff.md");
        let page = std::fs::read_to_string(path).unwrap();
        for kind in KINDS {
            let (level, rest) = level(kind.severity).split_at(1);
            let heading = format!("\n### {}\n\n{}{rest}. ", kind.name, level.to_uppercase());
            assert!(page.contains(&heading), "{}", kind.name);
        }
    }
}
