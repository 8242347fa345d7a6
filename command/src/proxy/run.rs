//! The command `toolwire proxy`: its options become the settings of a [`Proxy`](super::Proxy), which the host runs.

use toolwire::{dialects, internal, Dialect};

use super::Settings;
use crate::{
    arguments::{least_confidence, Defer, ProxyArguments},
    clients,
    error::CommandError,
    gather::Gathering,
    hosted::Hosted,
    http::{address::Listen, demand_token},
    need::Need,
};

/// Prepares the command for the host.
pub(crate) fn run(arguments: &ProxyArguments, gathered: Gathering) -> Result<Hosted, CommandError> {
    let client = arguments.client.as_deref().and_then(clients::named);
    let api = arguments.dialect.as_deref().or(client.and_then(|client| client.api)).unwrap_or(clients::PORTABLE);
    let of_client = client.and_then(|client| client.dialect).filter(|dialect| *dialect != api);
    let most_of_api =
        dialects().iter().find(|dialect| dialect.name == api).and_then(|api: &Dialect| internal::max_tools(api));
    let most = match arguments.defer {
        Defer::Off => None,
        Defer::Above(most) => Some(most),
        Defer::Auto => client.and_then(|client| client.most).into_iter().chain(most_of_api).min(),
    };
    let failed = |message: String| CommandError::new("", message).in_source("proxy");
    let listen = arguments.listen.as_deref().map(Listen::read).transpose();
    let listen = listen.map_err(|error| failed(format!("--listen: {error}")))?;
    if let Some(listen) = &listen {
        demand_token(listen, arguments.token_env.as_deref()).map_err(failed)?;
    }
    let settings = Settings {
        servers: Vec::new(),
        dialects: [api].into_iter().chain(of_client).map(String::from).collect(),
        client: client.map(|client| (client.name.to_string(), client.source.to_string())),
        repair: least_confidence(&arguments.repair),
        most,
        refuses_results: arguments.results == "refuse",
        verbose: arguments.verbose,
        timeout: arguments.connection.timeout,
        listen,
        token: arguments.token_env.clone(),
    };
    if gathered.servers.is_empty() {
        return Err(failed("expected a server after `--`, `--url` or `--servers`, found none".into()));
    }
    let settings = settings.document(&gathered.servers, arguments.report.as_deref());
    Ok(Hosted::new("proxy", Need::Proxy(settings)))
}
