//! What somebody may have meant by a name that is not known.

/// Less alike than this, and it is another word. As clap has it for the command line.
const ALIKE: f64 = 0.7;

/// The known name that is most like a word.
pub(crate) fn suggestion<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let alike = known.map(|name| (strsim::jaro(word, name), name)).filter(|(alike, _)| *alike > ALIKE);
    alike.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, name)| name)
}

/// Whether a name is another one misspelt: written with other separators and capitals, or with a letter or two wrong.
pub(crate) fn is_misspelt(word: &str, name: &str) -> bool {
    let plain = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let (word, name) = (plain(word), plain(name));
    word == name || (word.len() > 6 && strsim::osa_distance(&word, &name) <= 2)
}
