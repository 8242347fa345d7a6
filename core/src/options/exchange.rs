//! Options of an exchange: the options of `adapt_request`, with an optional dialect, and the options of searches.

use alloc::{format, string::String, vec::Vec};

use super::{
    table::{options, Example, Readable, Reader},
    tools::OnSetAside,
    AdaptOptions, Api, SearchOptions, ServerToolSearch, ToolFormat,
};
use crate::{
    dialect::{Dialect, DialectId},
    error::{Code, Error},
    json::{Data, Node, Object},
    naming::Naming,
};

options! {
    /// Options of [`Exchange`](crate::Exchange).
    ///
    /// ```
    /// use toolwire::{Dialect, ExchangeOptions};
    /// let options = ExchangeOptions::default().dialect(Dialect::MOONSHOT).max_rounds(3);
    /// # assert_eq!(options.max_rounds, 3);
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ExchangeOptions {
        /// Dialect of the backend. `None`: determined by the host, the path and the model.
        "dialect" dialect: Option<DialectId> = None, set(|dialect: DialectId| Some(dialect));
        /// Options of searches.
        "search" search: SearchOptions = SearchOptions::default(), set(by hand);
        // Ten is also the limit of Anthropic's own loop.
        /// Maximum number of times that the model is asked again, within one request, after it searched for tools.
        "maxRounds" max_rounds: usize = 10;
        /// Handling of a request if some of its tools have to be set aside.
        "onSetAside" on_set_aside: OnSetAside = OnSetAside::Warn;
        /// Number of rewritten tool lists to cache: a request that repeats a list byte for byte reuses the result. 0
        /// disables the cache. See [`ToolListCache`](crate::ToolListCache).
        "toolListCache" tool_list_cache: usize = 16;
    } with {
        /// Options for rewriting the request. Their dialect is not used.
        pub(crate) adapt: AdaptOptions = AdaptOptions::at_default();
        /// If true, the backend's native construct for deferred tools is looked up by its URL and the request's model,
        /// as [`deferral_for`](crate::deferral_for) does; in JSON, `deferred.native` is `"auto"` or absent. A construct
        /// that [`DeferredOptions::native`](super::DeferredOptions::native) names takes precedence. If false, deferred
        /// tools are emulated unless it names one.
        pub native_is_auto: bool = true;
    }
}

/// The options of a single request, for exchanges. An exchange does not look up the dialect, because these options name
/// one.
impl From<AdaptOptions> for ExchangeOptions {
    fn from(adapt: AdaptOptions) -> Self {
        ExchangeOptions { dialect: Some(adapt.tools.sanitize.dialect), adapt, ..Self::at_default() }
    }
}

impl Default for ExchangeOptions {
    fn default() -> Self {
        Self::at_default()
    }
}

/// The option `search`.
impl Readable for SearchOptions {
    fn read(reader: &Reader<'_, '_>, name: &str) -> Result<Option<Self>, Error> {
        let Some(node) = reader.node(name) else { return Ok(None) };
        let options = SearchOptions::read(node, reader.naming());
        options.map(Some).map_err(|error| error.below(&format!("/{name}")))
    }

    fn shown(&self) -> Option<String> {
        None
    }
}

/// Requests the lookup, as the value of `deferred.native`.
const AUTO: &str = "auto";
const EXAMPLE: Example<'_> =
    Example { function: "Exchange.open", input: "url, body", option: "dialect", value: "\"moonshot\"" };

impl ExchangeOptions {
    /// Returns the names of the options that `adapt_request` does not have.
    fn exchange_only() -> impl Iterator<Item = &'static str> {
        Self::KNOWN.iter().copied().filter(|name| *name != "dialect")
    }

    /// Returns the options for rewriting requests, which the other setters set. Their dialect is not used: it is
    /// [`Self::dialect`], or that of the backend.
    pub const fn adapt(&self) -> &AdaptOptions {
        &self.adapt
    }

    /// Sets [`Self::native_is_auto`].
    #[must_use]
    pub fn native_is_auto(mut self, is_auto: bool) -> Self {
        self.native_is_auto = is_auto;
        self
    }

    pub(crate) fn read(node: &Node<'_>, naming: Naming) -> Result<Self, Error> {
        let known: Vec<&str> = AdaptOptions::known().chain(Self::exchange_only()).collect();
        let reader = Reader::new(node, naming, &known, EXAMPLE)?;
        let with_example = |error: Error| {
            let Some(unknown) = node.get("dialect").and_then(Node::as_text) else { return error };
            if error.code() != Code::UnknownDialect || error.pointer() != "/dialect" {
                return error;
            }
            let value = format!("\"{}\"", crate::dialect::nearest_name(&unknown.display()));
            let example = naming.example(&Example { value: &value, ..EXAMPLE });
            error.append_message(&format!("; for example `{example}`"))
        };
        let mut options = Self::of(&reader, Self::default()).map_err(with_example)?;
        options.native_is_auto = !reader.node("deferred").is_some_and(|deferred| has_native(deferred, "none"));
        options.adapt = AdaptOptions::read(&without_exchange_options(node, naming), naming)?;
        if options.dialect.is_some() {
            crate::dialect::of(&options.adapt.tools.sanitize)?;
        }
        // The dialect is that of `options`.
        options.adapt.tools.sanitize.dialect = Dialect::PORTABLE;
        Ok(options)
    }

    /// Returns the options with which `adapt_request` rewrites a request of this format into this dialect.
    pub(crate) fn adapting(&self, format: ToolFormat, dialect: DialectId) -> Result<AdaptOptions, Error> {
        let mut adapt = self.adapt.clone();
        adapt.tools.format = adapt.tools.format.or(Some(format));
        adapt.tools.sanitize.dialect = dialect;
        if let Some(deferred) = &mut adapt.deferred {
            let is_request_format = |target: Api| adapt.tools.format == Some(target.tools());
            if deferred.target.is_some_and(|target| !is_request_format(target)) {
                let message = "expected the request's own format as `target`, because replies are not translated \
                    back, found another format; `applyDeferredLoading` translates requests";
                return Err(Error::new(Code::InvalidOption, "/deferred/target", message));
            }
            // Only Anthropic's format has blocks that show the client a search that it did not make.
            if adapt.tools.format == Some(ToolFormat::Anthropic) {
                deferred.server_tool_search.get_or_insert(ServerToolSearch::Emulate);
            }
        }
        Ok(adapt)
    }
}

fn has_native(deferred: &Node<'_>, word: &str) -> bool {
    deferred.get("native").is_some_and(|native| native.is_text(word))
}

/// Returns the options that `adapt_request` has. If they contain no dialect, which `adapt_request` requires, a
/// placeholder is set. The dialect is determined later.
fn without_exchange_options<'a>(node: &Node<'a>, naming: Naming) -> Node<'a> {
    let mut rest = match node.data() {
        Data::Object(object) => object.clone(),
        _ => Object::new(),
    };
    for name in ExchangeOptions::exchange_only() {
        rest.remove(&naming.spell(name));
    }
    // The construct is determined later.
    if let Some(deferred) = rest.get_mut("deferred").filter(|deferred| has_native(deferred, AUTO)) {
        deferred.set("native", Node::literal("none"));
    }
    if rest.get("dialect").is_none_or(Node::is_null) {
        rest.set("dialect", Node::literal(Dialect::PORTABLE.as_str()));
    }
    Node::object(rest)
}

/// Returns the error for a request whose host is retired, with the advice to set `dialect`.
pub(crate) fn without_dialect(error: &Error, naming: Naming) -> Error {
    let example = match naming {
        Naming::Rust => String::from("ExchangeOptions::default().dialect(Dialect::MOONSHOT)"),
        _ => naming.example(&EXAMPLE),
    };
    Error::new(error.code(), "/dialect", format!("{}; or set `dialect`: `{example}`", error.message()))
}
