//! Recognizes the format of a request by its shape.

use alloc::string::String;

use super::{Wire, ALL, RECOGNIZED};
use crate::{error::Error, json::Node, options::Api};

/// The destination of a request, which decides its format if the request does not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SentTo {
    /// `None` if unknown.
    pub(crate) api: Option<Api>,
    /// True if a request that may have the format of `api` was certainly not written for another API.
    pub(crate) is_home: bool,
    /// True if the API hosts `code_execution`, as xAI's Responses API.
    pub(crate) has_code_execution: bool,
}

impl SentTo {
    /// Keeps only Chat Completions: for this target, members that exist only in Chat Completions identify the format.
    pub(crate) fn target(api: Option<Api>) -> SentTo {
        SentTo { api: api.filter(|api| SentTo::matters(*api)), is_home: false, has_code_execution: false }
    }

    pub(crate) fn matters(api: Api) -> bool {
        api == Api::OpenaiChat
    }
}

/// Returns true for a request of this format. The history of other formats may have the same name.
pub(super) type Recognizes = fn(&Node<'_>, SentTo) -> Result<bool, Error>;

/// Returns a pointer to a part that distinguishes a request from requests of formats with an equally named history.
pub(super) type Evidence = fn(&Node<'_>, &str) -> Result<Option<String>, Error>;

impl Wire {
    pub(crate) const fn has_evidence(&self) -> bool {
        self.evidence.is_some()
    }

    /// Returns the format that a part of the request proves, and a pointer to this part. The history of the request has
    /// the name that this format uses.
    pub(crate) fn format_by_evidence(&self, request: &Node<'_>) -> Result<Option<(String, Api)>, Error> {
        if self.evidence.is_none() {
            return Ok(None);
        }
        let others = ALL.iter().filter(|wire| wire.history == self.history && wire.api() != self.api());
        for (api, evidence) in others.filter_map(|wire| Some((wire.api(), wire.evidence?))) {
            if let Some(pointer) = evidence(request, self.history)? {
                return Ok(Some((pointer, api)));
            }
        }
        Ok(None)
    }
}

/// Returns the first format whose description accepts the request and its history.
pub(crate) fn recognize(request: &Node<'_>, sent_to: SentTo) -> Result<Option<Api>, Error> {
    for wire in RECOGNIZED {
        if is_given(request, wire.history)
            && wire.recognizes.map_or(Ok(true), |recognizes| recognizes(request, sent_to))?
        {
            return Ok(Some(wire.endpoint.api));
        }
    }
    Ok(None)
}

pub(super) fn is_given(request: &Node<'_>, key: &str) -> bool {
    request.get(key).is_some_and(|node| !node.is_null())
}
