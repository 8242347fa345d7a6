//! Converts text to Markdown, independent of dialects.

/// The first line of every generated page.
pub(crate) const GENERATED: &str = "<!-- Generated: `cargo xtask pages`. Edit the tables, not this page. -->\n\n";

/// On one line, with vertical bars escaped.
pub(crate) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

pub(crate) fn code(text: &str) -> String {
    if text.contains('`') {
        format!("`` {text} ``")
    } else {
        format!("`{text}`")
    }
}

pub(crate) fn fence(language: &str, text: &str) -> String {
    format!("```{language}\n{}\n```\n", text.trim_end())
}

/// Returns an example that the reader opens.
pub(crate) fn folded(text: &str) -> String {
    format!("\n<details><summary>Example</summary>\n\n{}\n\n</details>\n", text.trim())
}

/// Converts `owner/repository#12` to a link to that thread. All other text, and everything in backticks, is unchanged.
pub(crate) fn link_sources(text: &str) -> String {
    text.split('`')
        .enumerate()
        .map(
            |(index, part)| {
                if index % 2 == 1 {
                    format!("`{part}`")
                } else {
                    part.split(' ').map(link).collect::<Vec<_>>().join(" ")
                }
            },
        )
        .collect()
}

fn link(word: &str) -> String {
    let name = word.trim_matches(['(', ')', ',', ';', '.', ':']);
    let thread = || {
        let (repository, number) = name.split_once('#')?;
        let (owner, project) = repository.split_once('/')?;
        let plain = |text: &str| {
            !text.is_empty() && text.chars().all(|char| char.is_ascii_alphanumeric() || "._-".contains(char))
        };
        let numbered = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
        (plain(owner) && plain(project) && numbered).then(|| format!("https://github.com/{repository}/issues/{number}"))
    };
    match thread() {
        Some(address) => word.replace(name, &format!("[{name}]({address})")),
        None => word.to_owned(),
    }
}
