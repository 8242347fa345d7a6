//! The options for the requests to an API of `toolwire relay`. One table has them for the command line, for
//! `relay.toml` and for the settings.

use clap::{builder::PossibleValuesParser, error::Error as ClapError, Arg, ArgMatches, Args, Command, FromArgMatches};
use toolwire::{
    dialects as known_dialects,
    internal::{self, Choices},
    options::{Formats, Native, Overflow},
    ExchangeOptions, RepairOptions,
};

use super::{choice, least_confidence, REPAIRS};

/// The value of an option is a word.
pub(crate) struct RequestOption {
    /// Name on the command line, in `relay.toml` and in settings.
    pub(crate) name: &'static str,
    short: Option<char>,
    value_name: &'static str,
    help: &'static str,
    pub(crate) words: fn() -> Vec<&'static str>,
    /// The word if the option is not set; `None` if it is determined for each request.
    default: fn() -> Option<&'static str>,
    apply: fn(ExchangeOptions, &str) -> ExchangeOptions,
}

/// The option whose words are the names of dialects.
pub(crate) const DIALECT: &str = "dialect";
/// The word for the construct that is determined from host and model.
const AUTO: &str = "auto";
const OFF: &str = "off";
const SWITCH: [&str; 2] = ["on", OFF];

pub(crate) const REQUEST_OPTIONS: [RequestOption; 6] = [
    RequestOption {
        name: DIALECT,
        short: Some('d'),
        value_name: "DIALECT",
        help: "Dialect of the API, if the host, the path and the model do not determine it",
        words: || known_dialects().iter().map(|dialect| dialect.name).collect(),
        default: || None,
        apply: |mut options, word| {
            options.dialect = word.parse().ok();
            options
        },
    },
    RequestOption {
        name: "native",
        short: None,
        value_name: "CONSTRUCT",
        help: "Native construct for deferred tools that the API supports; `auto`: determined by the host and the model",
        words: || [AUTO].into_iter().chain(words_of::<Native>()).collect(),
        default: || Some(AUTO),
        apply: |options, word| {
            let native = choice::<Native>(Some(word));
            let deferred = options.adapt().deferred.clone();
            let deferred = deferred.map(|deferred| deferred.native(native.unwrap_or(Native::None)));
            options.native_is_auto(native != Some(Native::None)).deferred(deferred)
        },
    },
    RequestOption {
        name: "repair",
        short: None,
        value_name: "CONFIDENCE",
        help: "Minimum confidence of a repair; `off`: calls are restored, but not repaired",
        words: || REPAIRS.to_vec(),
        default: || Some(RepairOptions::default().confidence.as_str()),
        apply: |options, word| {
            let least = least_confidence(word);
            options.repair(least.map(|least| RepairOptions::default().confidence(least)))
        },
    },
    RequestOption {
        name: "lenient-types",
        short: None,
        value_name: "ON",
        help:
            "Accept text for numbers and null for optional properties, and repair such calls, for APIs that validate \
            the calls of their models (Groq)",
        words: || SWITCH.to_vec(),
        default: || Some(OFF),
        apply: |options, word| options.lenient_types(word != OFF),
    },
    RequestOption {
        name: "formats",
        short: None,
        value_name: "HOW",
        help: "Form in which the schema of a response format is sent",
        words: || words_of::<Formats>().collect(),
        default: || Some(ExchangeOptions::default().adapt().formats.as_str()),
        apply: |options, word| {
            let formats = choice(Some(word)).unwrap_or(options.adapt().formats);
            options.formats(formats)
        },
    },
    RequestOption {
        name: "overflow",
        short: None,
        value_name: "WHAT",
        help: "Handling of a request that has more tools than the API accepts: set aside or defer the excess",
        words: || words_of::<Overflow>().collect(),
        default: || Some(ExchangeOptions::default().adapt().overflow.as_str()),
        apply: |options, word| {
            let overflow = choice(Some(word)).unwrap_or(options.adapt().overflow);
            options.overflow(overflow)
        },
    },
];

fn words_of<T: Choices>() -> impl Iterator<Item = &'static str> {
    T::CHOICES.iter().map(|(word, _)| *word)
}

impl RequestOption {
    pub(crate) fn named(name: &str) -> Option<&'static RequestOption> {
        REQUEST_OPTIONS.iter().find(|option| option.name == name)
    }
}

/// In the order of [`REQUEST_OPTIONS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestOptions([Option<String>; REQUEST_OPTIONS.len()]);

impl Default for RequestOptions {
    fn default() -> RequestOptions {
        RequestOptions(REQUEST_OPTIONS.each_ref().map(|option| (option.default)().map(String::from)))
    }
}

impl RequestOptions {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static RequestOption, Option<&str>)> {
        REQUEST_OPTIONS.iter().zip(self.0.iter().map(Option::as_deref))
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Option<String>> {
        REQUEST_OPTIONS.iter().zip(&mut self.0).find(|(option, _)| option.name == name).map(|(_, word)| word)
    }

    pub(crate) fn exchange_options(&self) -> ExchangeOptions {
        let mut options = ExchangeOptions::default();
        for (option, word) in self.iter() {
            if let Some(word) = word {
                options = (option.apply)(options, word);
            }
        }
        internal::exchange_with_names_of_json(options)
    }
}

impl FromArgMatches for RequestOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, ClapError> {
        Ok(RequestOptions(REQUEST_OPTIONS.each_ref().map(|option| matches.get_one::<String>(option.name).cloned())))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), ClapError> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for RequestOptions {
    fn augment_args(command: Command) -> Command {
        command.args(REQUEST_OPTIONS.iter().map(|option| {
            let words = PossibleValuesParser::new((option.words)());
            let arg = Arg::new(option.name).long(option.name).value_name(option.value_name).help(option.help);
            let arg = arg.short(option.short).value_parser(words).conflicts_with("config");
            arg.default_values((option.default)()).hide_possible_values(option.name == DIALECT)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn each_word_of_each_option_has_an_effect_of_its_own() {
        for option in &REQUEST_OPTIONS {
            let effects: Vec<ExchangeOptions> = (option.words)()
                .into_iter()
                .map(|word| {
                    let mut words = RequestOptions::default();
                    *words.get_mut(option.name).expect("an option") = Some(word.into());
                    words.exchange_options()
                })
                .collect();
            for (at, effect) in effects.iter().enumerate() {
                assert!(!effects.iter().skip(at + 1).any(|other| other == effect), "{} {at}", option.name);
            }
            let default = (option.default)();
            assert!(default.is_none_or(|default| (option.words)().contains(&default)), "{}", option.name);
        }
    }

    #[test]
    fn page_lists_every_option() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/relay.md");
        let page = std::fs::read_to_string(path).expect("the page");
        for option in &REQUEST_OPTIONS {
            assert!(page.contains(&format!("| `--{} ", option.name)), "docs/relay.md: --{}", option.name);
        }
    }
}
