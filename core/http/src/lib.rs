//! toolwire between an HTTP client and the API of a model.
//!
//! Each request with tools is adapted to its backend before it is sent, the reply is restored, whole or streamed, and
//! searches for deferred tools are answered in between: an [`Exchange`](toolwire::Exchange) for each request, as in the
//! adapters for TypeScript and Python.
//!
//! - [`ToolwireLayer`] is a layer of [tower](https://docs.rs/tower) for clients and gateways of hyper and axum.
//! - `ToolwireMiddleware` (feature `reqwest`) is a middleware of
//!   [reqwest-middleware](https://docs.rs/reqwest-middleware).
//!
//! A GET, another path, or a body without a conversation passes unchanged, and so do error replies. If a request cannot
//! be adapted, nothing is sent: the reply has status 400 and the API's own error format, so that an SDK reports a
//! refused request and does not send it again. Adapted requests are sent without `accept-encoding`, because a reply is
//! read; decoders belong between this layer and the network.
//!
//! ```
//! use bytes::Bytes;
//! use http_body_util::Full;
//! use hyper_util::{client::legacy::Client, rt::TokioExecutor};
//! use tower_layer::Layer as _;
//! use toolwire::{Dialect, ExchangeOptions};
//! use toolwire_http::ToolwireLayer;
//!
//! let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
//! let layer = ToolwireLayer::new(ExchangeOptions::default().dialect(Dialect::MOONSHOT))?
//!     .on_request(|exchange| println!("{}", exchange.report().dialect));
//! let service = layer.layer(client);
//! # let _ = service;
//! # Ok::<(), toolwire::Error>(())
//! ```
//!
//! A request is adapted in the task that sends it. A request of 10 MB takes about 50 ms; programs with such requests
//! need more than one worker thread.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod adapter;
mod body;
#[cfg(feature = "reqwest")]
mod middleware;
mod round;
mod service;

pub use body::{BoxError, ReplyBody};
#[cfg(feature = "reqwest")]
pub use middleware::ToolwireMiddleware;
pub use service::{ToolwireLayer, ToolwireService};
