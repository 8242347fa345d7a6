//! The command `toolwire proxy`: its options become the settings of a [`Proxy`](super::Proxy), which the host runs.

use toolwire::{dialects, internal, Dialect};

use super::Settings;
use crate::{
    arguments::{least_confidence, Defer, ProxyArguments},
    clients,
    error::CommandError,
    gather::Gathering,
    need::Need,
    task::{Output, Task},
    terminal::Terminal,
};

/// The command at work.
pub(crate) struct Run {
    settings: String,
    is_over: bool,
    /// Why it could not go on.
    failure: Option<String>,
}

impl Run {
    pub(crate) fn new(arguments: &ProxyArguments, gathered: Gathering) -> Result<Run, CommandError> {
        let client = arguments.client.as_deref().and_then(clients::named);
        let api = arguments.dialect.as_deref().or(client.and_then(|client| client.api)).unwrap_or(clients::PORTABLE);
        let of_client = client.and_then(|client| client.dialect).filter(|dialect| *dialect != api);
        let most_of_api =
            dialects().iter().find(|dialect| dialect.name == api).and_then(|api: &Dialect| internal::most_tools(api));
        let most = match arguments.defer {
            Defer::Off => None,
            Defer::Above(most) => Some(most),
            Defer::Auto => client.and_then(|client| client.most).into_iter().chain(most_of_api).min(),
        };
        let settings = Settings {
            servers: Vec::new(),
            dialects: [api].into_iter().chain(of_client).map(String::from).collect(),
            client: client.map(|client| (client.name.to_string(), client.source.to_string())),
            repair: least_confidence(&arguments.repair),
            most,
            refuses_results: arguments.results == "refuse",
            verbose: arguments.verbose,
            timeout: arguments.connection.timeout,
        };
        if gathered.servers.is_empty() {
            let message = "expected a server after `--`, `--url` or `--servers`, found none";
            return Err(CommandError::new("", message).in_source("proxy"));
        }
        let settings = settings.document(&gathered.servers, arguments.report.as_deref());
        Ok(Run { settings, is_over: false, failure: None })
    }
}

impl Task for Run {
    fn need(&self) -> Option<Need> {
        (!self.is_over).then(|| Need::Proxy(self.settings.clone()))
    }

    fn give(&mut self, _text: &str) -> Result<(), CommandError> {
        self.is_over = true;
        Ok(())
    }

    fn fail(&mut self, message: &str) -> Result<(), CommandError> {
        self.is_over = true;
        self.failure = Some(message.into());
        Ok(())
    }

    fn finish(self: Box<Self>, _terminal: &Terminal) -> Result<Output, CommandError> {
        match self.failure {
            Some(message) => Err(CommandError::new("", message).in_source("proxy")),
            None => Ok(Output::default()),
        }
    }
}
