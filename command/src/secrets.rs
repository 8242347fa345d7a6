//! Redacts secrets in text, even if their characters are escaped, because an error may repeat them.

use std::{borrow::Cow, collections::BTreeSet};

use crate::need::{Server, Transport};

/// Minimum length of a secret. Shorter values are not redacted, because they occur in ordinary words.
const MIN_LENGTH: usize = 6;
const HIDDEN: &str = "…";
/// Maximum number of bytes that one byte of a secret has in an error, if escapes are escaped again.
const MAX_ESCAPE: usize = 16;
/// Maximum depth of nested escapes that are decoded: JSON in a JSON string has depth 2.
const DEPTH: usize = 4;
const ENTITIES: [(&str, char); 5] = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&apos;", '\'')];

/// Secrets, and the text that replaces them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets {
    secrets: BTreeSet<String>,
    instead: String,
}

impl Secrets {
    /// Returns a single secret, and the text that replaces it.
    pub fn one(secret: &str, instead: &str) -> Secrets {
        let secrets = [secret].into_iter().filter(|secret| !secret.is_empty()).map(String::from).collect();
        Secrets { secrets, instead: instead.into() }
    }

    /// Returns the values of a server's headers and variables, and the user, the query and the fragment of its URL.
    /// `variable` returns the value of an environment variable.
    pub fn of_server(server: &Server, variable: impl Fn(&str) -> Option<String>) -> Secrets {
        let mut found = Secrets { secrets: BTreeSet::new(), instead: HIDDEN.into() };
        server.secrets.iter().for_each(|value| found.add(value));
        match &server.transport {
            Transport::Process { inherited, environment, .. } => {
                environment.iter().for_each(|(_, value)| found.add(value));
                inherited.iter().filter_map(|name| variable(name)).for_each(|value| found.add(&value));
            }
            Transport::Remote { url, headers, .. } => {
                for (_, value) in headers {
                    found.add(value);
                    // The credentials after a scheme, as in `Bearer …`.
                    value.split_whitespace().skip(1).for_each(|word| found.add(word));
                }
                found.add_url(url);
            }
        }
        found
    }

    fn add(&mut self, value: &str) {
        if value.chars().count() >= MIN_LENGTH {
            self.secrets.insert(value.into());
        }
    }

    fn add_url(&mut self, url: &str) {
        let (_, rest) = url.split_once("//").unwrap_or(("", ""));
        let authority = rest.find(['/', '?', '#']).map_or(rest, |end| rest.split_at(end).0);
        if let Some((user, _)) = authority.rsplit_once('@').filter(|(user, _)| !user.is_empty()) {
            self.secrets.insert(format!("{user}@"));
            self.add(user);
            user.split(':').for_each(|word| self.add(word));
        }
        let Some(query) = rest.find(['?', '#']).and_then(|at| rest.get(at + 1..)) else { return };
        for part in query.split('#').filter(|part| !part.is_empty()) {
            self.secrets.extend([format!("?{part}"), format!("#{part}")]);
            self.add(part);
        }
        for word in query.split(['&', '#']) {
            self.add(word.split_once('=').map_or(word, |(_, value)| value));
        }
    }

    /// Returns the maximum number of bytes that a secret may have in text.
    pub fn longest(&self) -> usize {
        MAX_ESCAPE * self.secrets.iter().map(String::len).max().unwrap_or_default()
    }

    /// Redacts the secrets in text. Overlapping secrets are replaced as one.
    pub fn hide(&self, text: &str) -> String {
        self.hide_from(text, 0)
    }

    /// Like [`Self::hide`], for the end of a longer text. The first [`Self::longest`] bytes are omitted, because they
    /// may be the end of a secret.
    pub fn hide_end(&self, text: &str) -> String {
        let from = (self.longest()..=text.len()).find(|at| text.is_char_boundary(*at));
        self.hide_from(text, from.unwrap_or(text.len()))
    }

    fn hide_from(&self, text: &str, from: usize) -> String {
        let plain = Unescaped::new(text);
        let mut places: Vec<(usize, usize)> = Vec::new();
        for secret in &self.secrets {
            places.extend(text.match_indices(secret.as_str()).map(|(at, found)| (at, at + found.len())));
            let secret = Unescaped::new(secret).text;
            let found = plain.text.match_indices(&*secret).filter(|_| !secret.is_empty());
            places
                .extend(found.map(|(at, found)| (plain.original_offset(at), plain.original_offset(at + found.len()))));
        }
        places.sort_unstable();
        let part = |start: usize, end: usize| text.get(start.max(from)..end.max(from)).unwrap_or_default();
        let (mut shown, mut shown_end) = (String::new(), 0);
        for (start, end) in places {
            if start >= shown_end {
                shown.push_str(part(shown_end, start));
                shown.push_str(if end > from { &self.instead } else { "" });
            }
            shown_end = shown_end.max(end);
        }
        shown + part(shown_end, text.len())
    }
}

struct Unescaped<'t> {
    text: Cow<'t, str>,
    /// Offsets in the original text, for each byte of the decoded text and for its end. `None` if nothing was decoded.
    places: Option<Vec<usize>>,
}

impl<'t> Unescaped<'t> {
    fn new(text: &'t str) -> Unescaped<'t> {
        let mut plain = Unescaped { text: text.into(), places: None };
        for _ in 0..DEPTH {
            let Some(next) = plain.decoded() else { break };
            plain = next;
        }
        plain
    }

    fn original_offset(&self, at: usize) -> usize {
        self.places.as_ref().map_or(at, |places| places.get(at).copied().unwrap_or_default())
    }

    /// Decodes one level. Returns `None` for text without escapes.
    fn decoded(&self) -> Option<Unescaped<'t>> {
        let (mut text, mut places) = (String::new(), Vec::new());
        let (mut at, mut found) = (0, false);
        while let Some(rest) = self.text.get(at..).filter(|rest| !rest.is_empty()) {
            let (character, length) = match escape(rest) {
                Some(escape) => {
                    found = true;
                    escape
                }
                None => rest.chars().next().map(|character| (character, character.len_utf8()))?,
            };
            text.push(character);
            // The first byte begins where the escape begins, and the next character where the escape ends.
            places.resize(text.len(), self.original_offset(at));
            at += length;
        }
        places.push(self.original_offset(at));
        found.then_some(Unescaped { text: text.into(), places: Some(places) })
    }
}

/// Reads a character that is escaped for JSON, a URL or HTML. Returns it with its length.
fn escape(text: &str) -> Option<(char, usize)> {
    match *text.as_bytes().first()? {
        b'\\' => json_escape(text),
        b'%' => url_escape(text),
        b'&' => {
            let named = |(name, character): &(&str, char)| {
                let found = text.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name));
                found.then_some((*character, name.len()))
            };
            ENTITIES.iter().find_map(named).or_else(|| html_escape(text))
        }
        _ => None,
    }
}

fn json_escape(text: &str) -> Option<(char, usize)> {
    let unit = |text: &str| {
        let digits = text.strip_prefix('\\')?.strip_prefix(['u', 'U'])?.get(..4)?;
        digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
    };
    if let Some(first) = unit(text) {
        let second = text.get(6..).and_then(unit);
        let mut pair = char::decode_utf16([first].into_iter().chain(second));
        return match pair.next()? {
            Ok(character) => Some((character, 6 * character.len_utf16())),
            Err(_) => Some((char::REPLACEMENT_CHARACTER, 6)),
        };
    }
    let character = match text.chars().nth(1)? {
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        character if "\"'\\/".contains(character) => character,
        _ => return None,
    };
    Some((character, 2))
}

fn url_escape(text: &str) -> Option<(char, usize)> {
    let mut bytes = Vec::new();
    for at in 0..4 {
        let byte = text.get(3 * at..3 * at + 3)?.strip_prefix('%')?;
        bytes.push(byte.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u8::from_str_radix(byte, 16).ok())??);
        if let Ok(text) = std::str::from_utf8(&bytes) {
            return Some((text.chars().next()?, bytes.len() * 3));
        }
    }
    None
}

fn html_escape(text: &str) -> Option<(char, usize)> {
    let rest = text.strip_prefix("&#")?;
    let (digits, radix) = match rest.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (rest, 10),
    };
    let (digits, _) = digits.split_once(';').filter(|(digits, _)| (1..=7).contains(&digits.len()))?;
    let number =
        digits.chars().all(|digit| digit.is_digit(radix)).then(|| u32::from_str_radix(digits, radix).ok())??;
    let length = text.find(';')? + 1;
    Some((char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(url: &str, headers: &[(&str, &str)]) -> Secrets {
        let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let transport = Transport::Remote { url: url.into(), headers, sse: false };
        Secrets::of_server(&Server { transport, timeout: 1, secrets: Vec::new() }, |_| None)
    }

    #[test]
    fn secrets_are_found_however_they_are_escaped() {
        let secrets = Secrets::one("a\"b/ü€\n\u{1f600}", "(KEY)");
        for text in [
            "a\"b/ü€\n\u{1f600}",
            r#"a\"b\/\u00fc\u20ac\n\ud83d\ude00"#,
            r#"a\\\"b\\/\\u00fc\\u20ac\\n\\ud83d\\ude00"#,
            "a%22b%2F%C3%BC%e2%82%ac%0A%F0%9F%98%80",
            "a%2522b%252F%25C3%25BC%25e2%2582%25ac%250A%25F0%259F%2598%2580",
            "a&quot;b&#47;&#xFC;&#8364;&#10;&#x1F600;",
        ] {
            assert_eq!(secrets.hide(&format!("<{text}>")), "<(KEY)>", "{text}");
        }
        assert_eq!(secrets.hide(r"C:\users\%zz &#; \u12"), r"C:\users\%zz &#; \u12");
        assert_eq!(Secrets::one("", "(KEY)").hide("text"), "text");
    }

    #[test]
    fn overlapping_secrets_are_replaced_as_one() {
        let secrets = Secrets { secrets: ["abcdef", "defghi"].map(String::from).into(), instead: HIDDEN.into() };
        assert_eq!(secrets.hide("-abcdefghi-abcdef-"), "-…-…-");
    }

    #[test]
    fn parts_of_a_url_and_credentials_are_secrets() {
        let secrets =
            remote("https://user:secret-1@a.example/mcp?key=secret-2&b=c#secret-3", &[("A", "Bearer secret-4")]);
        for (text, shown) in [
            ("secret-1 secret-2 secret-3 secret-4", "… … … …"),
            ("https://user:secret-1@a.example/mcp", "https://…a.example/mcp"),
            ("?key=secret-2&b=c", "…"),
            ("b=c, user", "b=c, user"),
        ] {
            assert_eq!(secrets.hide(text), shown, "{text}");
        }
    }

    #[test]
    fn the_beginning_of_a_truncated_text_may_be_a_secret() {
        let secrets = Secrets::one("secret", "…");
        let text = format!("ret{}secret.", "x".repeat(secrets.longest()));
        assert_eq!(secrets.hide_end(&text), "xxx….");
    }
}
