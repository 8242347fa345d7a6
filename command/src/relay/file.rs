//! `relay.toml`: several upstreams, by path or by model.

use toml::{
    de::{DeTable, DeValue},
    Spanned,
};
use toolwire::{
    internal::Choices,
    options::{Formats, Overflow},
};

use super::upstream::Upstream;
use crate::{
    arguments::{natives, REPAIRS},
    error::CommandError,
    http::address::{Address, Listen},
    toml_file::TomlFile,
};

const KEYS: [&str; 4] = ["listen", "token-env", "timeout", "upstream"];
const UPSTREAM_KEYS: [&str; 9] =
    ["url", "path", "models", "model-names", "dialect", "native", "repair", "formats", "overflow"];

/// Content of a `relay.toml` file.
#[derive(Debug, Default)]
pub(crate) struct ConfigFile {
    pub(crate) listen: Option<Listen>,
    pub(crate) token: Option<String>,
    pub(crate) timeout: Option<u32>,
    pub(crate) upstreams: Vec<Upstream>,
}

impl ConfigFile {
    /// Reads a file. An unknown key is an error, like an unknown option on the command line.
    pub(crate) fn read(text: &str, source: &str) -> Result<ConfigFile, CommandError> {
        TomlFile::read(text, source, config)
    }
}

fn config(file: &TomlFile<'_>, table: &DeTable<'_>) -> Result<ConfigFile, CommandError> {
    let mut config = ConfigFile::default();
    for (key, value) in table.iter() {
        match key.get_ref().as_ref() {
            "listen" => config.listen = Some(checked(file, value, Listen::read)?),
            "token-env" => config.token = Some(file.string(value)?),
            "timeout" => {
                let DeValue::Integer(number) = value.get_ref() else {
                    return Err(file.unexpected(value, "a number of seconds"));
                };
                let seconds = number.as_str().parse().ok().filter(|seconds| *seconds > 0);
                config.timeout = Some(seconds.ok_or_else(|| file.unexpected(value, "a number of seconds above 0"))?);
            }
            "upstream" => {
                let DeValue::Array(list) = value.get_ref() else {
                    return Err(file.unexpected(value, "`[[upstream]]`, a list of tables"));
                };
                for entry in list.iter() {
                    config.upstreams.push(upstream(file, entry)?);
                }
            }
            other => return Err(file.unknown(key.span(), other, &KEYS)),
        }
    }
    if config.upstreams.is_empty() {
        return Err(CommandError::new("", "expected `[[upstream]]` with a `url`, found none"));
    }
    Ok(config)
}

fn upstream(file: &TomlFile<'_>, entry: &Spanned<DeValue<'_>>) -> Result<Upstream, CommandError> {
    let DeValue::Table(table) = entry.get_ref() else { return Err(file.unexpected(entry, "a table")) };
    let (mut one, mut has_url) = (Upstream::default(), false);
    for (key, value) in table.iter() {
        match key.get_ref().as_ref() {
            "url" => (one.address, has_url) = (checked(file, value, Address::read)?, true),
            "path" => one.path = checked(file, value, path)?,
            "models" => one.models = file.some(value)?,
            "model-names" => {
                let DeValue::Table(names) = value.get_ref() else {
                    return Err(file.unexpected(value, "a table: a client's name of a model, and the API's"));
                };
                for (name, value) in names.iter() {
                    one.names.insert(name.get_ref().to_string(), file.string(value)?);
                }
            }
            "dialect" => one.options.dialect = Some(file.dialect(value)?),
            "native" => one.options.native = file.one_of(value, &natives())?,
            "repair" => one.options.repair = file.one_of(value, &REPAIRS)?,
            "formats" => one.options.formats = file.one_of(value, &words::<Formats>())?,
            "overflow" => one.options.overflow = file.one_of(value, &words::<Overflow>())?,
            other => return Err(file.unknown(key.span(), other, &UPSTREAM_KEYS)),
        }
    }
    if !has_url {
        return Err(file.unexpected(entry, "a `url` of the API"));
    }
    Ok(one)
}

/// Reads the path prefix of an upstream.
fn path(text: &str) -> Result<String, String> {
    let path = text.trim_end_matches('/');
    let takes = |one: char| one.is_ascii_alphanumeric() || matches!(one, '/' | '-' | '_' | '.' | '~');
    if path.is_empty() || !path.starts_with('/') || path.starts_with("/toolwire") || !path.chars().all(takes) {
        return Err(format!("expected a path such as `/kimi`, other than `/toolwire`, found `{text}`"));
    }
    Ok(path.into())
}

fn checked<T>(
    file: &TomlFile<'_>,
    value: &Spanned<DeValue<'_>>,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, CommandError> {
    let text = file.string(value)?;
    read(&text).map_err(|message| file.error(Some(value.span()), &message))
}

fn words<T: Choices>() -> Vec<&'static str> {
    T::CHOICES.iter().map(|(word, _)| *word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_upstreams() {
        let text = "listen = \"127.0.0.1:9000\"\ntimeout = 60\n[[upstream]]\npath = \"/kimi/\"\n\
            url = \"https://api.moonshot.ai/anthropic\"\ndialect = \"moonshot\"\n[upstream.model-names]\n\
            claude = \"kimi-k3\"\n[[upstream]]\nmodels = \"deepseek-*\"\nurl = \"https://api.deepseek.com\"\n";
        let config = ConfigFile::read(text, "relay.toml").unwrap_or_default();
        assert_eq!(config.timeout, Some(60));
        assert_eq!(config.upstreams.len(), 2);
        let kimi = config.upstreams.first().cloned().unwrap_or_default();
        assert_eq!((kimi.path.as_str(), kimi.renamed("claude")), ("/kimi", Some("kimi-k3")));
        assert_eq!(kimi.options.dialect.as_deref(), Some("moonshot"));
    }

    #[test]
    fn errors_name_the_line() {
        for (text, found) in [
            (
                "lisen = \"a\"",
                "relay.toml:1: expected one of `listen`, `token-env`, `timeout`, `upstream`, found `lisen`",
            ),
            ("timeout = 5", "expected `[[upstream]]` with a `url`, found none"),
            ("[[upstream]]\npath = \"/a\"", "expected a `url` of the API"),
            ("[[upstream]]\nurl = \"https://u:k@a\"", "relay.toml:2: expected a URL without a user"),
            ("[[upstream]]\nurl = \"https://a\"\nnative = \"x\"", "relay.toml:3: expected one of `auto`, "),
            (
                "[[upstream]]\nurl = \"https://a\"\npath = \"/toolwire\"",
                "relay.toml:3: expected a path such as `/kimi`",
            ),
            ("timeout = 0\n[[upstream]]\nurl = \"https://a\"", "relay.toml:1: expected a number of seconds above 0"),
        ] {
            let message = ConfigFile::read(text, "relay.toml").map(|_| String::new());
            let message = message.unwrap_or_else(|error| error.line(""));
            assert!(message.contains(found), "{text}: {message}");
        }
    }
}
