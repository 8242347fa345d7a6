//! Subsets of an API's models, by their lower-case names.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Models {
    All,
    /// Models whose names begin with one of these strings.
    Begin(&'static [&'static str]),
    /// Models whose names contain one of these strings.
    Contain(&'static [&'static str]),
    /// Models with one of these names, with or without an Ollama tag after a colon.
    Tagged(&'static [&'static str]),
    /// Models whose names contain one of these strings, each a family and a version (`opus-4-7`). No further digits of
    /// a version may follow: `opus-5` does not include `opus-5-5`. A date may follow, and a point may replace a hyphen.
    Versions(&'static [&'static str]),
}

impl Models {
    pub(crate) fn include(self, model: &str) -> bool {
        match self {
            Models::All => true,
            Models::Begin(names) => names.iter().any(|name| model.starts_with(name)),
            Models::Contain(names) => names.iter().any(|name| model.contains(name)),
            Models::Tagged(names) => names.contains(&model.split(':').next().unwrap_or_default()),
            Models::Versions(names) => names.iter().any(|name| has_version(model, name)),
        }
    }
}

fn has_version(model: &str, version: &str) -> bool {
    let is_same = |(byte, wanted): (u8, u8)| byte == wanted || (byte == b'.' && wanted == b'-');
    let ends = model.as_bytes().windows(version.len()).enumerate().filter_map(|(start, part)| {
        part.iter().copied().zip(version.bytes()).all(is_same).then_some(start + version.len())
    });
    ends.filter_map(|end| model.get(end..)).any(|rest| !continues_version(rest))
}

/// Returns true if another number of the version follows. Numbers with more than two digits are dates.
fn continues_version(rest: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    // `1m` is the size of a context.
    let is_minor = |text: &str| {
        let count = digits(text);
        let is_whole = text.as_bytes().get(count).is_none_or(|next| !next.is_ascii_alphanumeric());
        (1..=2).contains(&count) && is_whole
    };
    digits(rest) > 0 || rest.strip_prefix(['-', '.']).is_some_and(is_minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_complete() {
        let models = Models::Versions(&["opus-5", "sonnet-4-6", "fable-5-1"]);
        for model in [
            "claude-opus-5",
            "us.anthropic.claude-opus-5-20261001-v1:0",
            "claude-sonnet-4.6",
            "claude-fable-5.1@latest",
        ] {
            assert!(models.include(model), "{model}");
        }
        for model in
            ["claude-opus-5-5", "claude-opus-5.5-20261001", "claude-opus-50", "claude-sonnet-4", "claude-fable-5"]
        {
            assert!(!models.include(model), "{model}");
        }
    }
}
