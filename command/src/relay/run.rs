//! The command `toolwire relay`: its options become the settings of a [`Relay`](super::Relay), which the host runs.

use super::{settings::LISTEN, upstream::Words, ConfigFile, Settings, Upstream};
use crate::{
    arguments::RelayArguments,
    error::CommandError,
    gather::Gathering,
    hosted::Hosted,
    http::{
        address::{is_loopback, Address, Listen},
        demand_token,
    },
    need::Need,
};

/// Prepares the command for the host.
pub(crate) fn run(arguments: &RelayArguments, gathered: Gathering) -> Result<Hosted, CommandError> {
    let failed = |message: String| CommandError::new("", message).in_source("relay");
    let file = match gathered.with {
        Some(file) => ConfigFile::read(&file.text, &file.source)?,
        None => {
            let Some(url) = &arguments.upstream else {
                let message = "expected `--upstream URL` or `--config FILE`, found neither";
                return Err(failed(message.into()));
            };
            let address = Address::read(url).map_err(|error| failed(format!("--upstream: {error}")))?;
            let options = Words {
                dialect: arguments.dialect.clone(),
                native: arguments.native.clone(),
                repair: arguments.repair.clone(),
                formats: arguments.formats.clone(),
                overflow: arguments.overflow.clone(),
            };
            let upstream = Upstream { address, options, ..Upstream::default() };
            ConfigFile { upstreams: Vec::from([upstream]), ..ConfigFile::default() }
        }
    };
    let listen = match (&arguments.listen, file.listen) {
        (Some(text), _) => Listen::read(text).map_err(|error| failed(format!("--listen: {error}")))?,
        (None, Some(listen)) => listen,
        (None, None) => Listen::read(LISTEN).map_err(failed)?,
    };
    let mut settings = Settings::new(listen, file.upstreams);
    settings.token = arguments.token_env.clone().or(file.token);
    settings.timeout = arguments.timeout.or(file.timeout).unwrap_or(settings.timeout);
    settings.verbose = arguments.verbose;
    demand_token(&settings.listen, settings.token.as_deref()).map_err(failed)?;
    let is_itself = |one: &&Upstream| {
        settings.listen.port != 0 && one.address.port == settings.listen.port && is_loopback(&one.address.host)
    };
    if let Some(one) = settings.upstreams.iter().find(is_itself) {
        let url = one.address.url(&one.address.base);
        return Err(failed(format!("expected the URL of an API, found the relay's own: `{url}`")));
    }
    let settings = settings.document(arguments.report.as_deref());
    Ok(Hosted::new("relay", Need::Relay(settings)))
}
