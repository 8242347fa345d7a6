//! The requests of a relay by numbers, for hosts that cannot own them: those in npm and PyPI.

use std::collections::BTreeMap;

use toolwire::json;

use super::{Relay, RelayEffect, RelayRequest, RequestHead};
use crate::http::headers;

/// A relay with its open requests, by the host's numbers.
pub struct NumberedRelay {
    relay: Relay,
    open: BTreeMap<u64, RelayRequest>,
}

impl NumberedRelay {
    /// Creates a relay from the command's settings and the token that clients have to send, if one is required.
    pub fn new(settings: &str, token: Option<&str>) -> NumberedRelay {
        NumberedRelay { relay: Relay::new(settings, token), open: BTreeMap::new() }
    }

    /// Handles the head of a request: `{ method, target, authority, headers, time, local }` as JSON. Each header is a
    /// pair of strings; each byte of a value is one character.
    pub fn request(&mut self, number: u64, head: &str) -> Vec<RelayEffect> {
        let (request, effects) = self.relay.request(RequestHead::read(head));
        if request.is_open() {
            self.open.insert(number, request);
        }
        effects
    }

    /// Handles the head of a reply: its status, and its headers as JSON.
    pub fn reply(&mut self, number: u64, status: u16, headers: &str) -> Vec<RelayEffect> {
        let headers = headers::read(json::read(headers).ok().as_ref());
        self.with(number, |request| request.reply(status, headers))
    }

    /// Calls a method of an open request. Without one, there are no effects. If the call panics, the request is gone.
    pub fn with(&mut self, number: u64, what: impl FnOnce(&mut RelayRequest) -> Vec<RelayEffect>) -> Vec<RelayEffect> {
        let Some(mut request) = self.open.remove(&number) else { return Vec::new() };
        let effects = what(&mut request);
        if request.is_open() {
            self.open.insert(number, request);
        }
        effects
    }

    /// Returns the startup message, with the address.
    pub fn started(&self, address: &str) -> String {
        self.relay.started(address)
    }
}
