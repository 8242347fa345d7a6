//! Handles replies, and combines the streams of several rounds into one body. A round is a request to the backend and
//! its reply.

use std::{borrow::Cow, future::Future, pin::Pin};

use bytes::{Buf as _, Bytes};
use futures_util::stream;
use http::{header, Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::{BodyExt as _, StreamBody};
use toolwire::{Code, Error, Exchange};

use crate::{
    adapter::{is_json, is_stream, refused, remove_body_headers, Outgoing},
    body::{BoxError, ReplyBody},
};

/// Sends the requests of later rounds.
pub(crate) trait Sender: Send + 'static {
    type Body: Body<Data: Send, Error: Into<BoxError> + Send> + Send + Unpin + 'static;

    fn send(&mut self, request: Request<Bytes>) -> Sent<Self::Body>;
}

pub(crate) type Sent<B> = Pin<Box<dyn Future<Output = Result<Response<B>, BoxError>> + Send>>;

pub(crate) enum Step<B> {
    Done(Response<ReplyBody>),
    /// The client gets the restored stream of this reply.
    Stream(Response<B>),
    /// The model is asked again.
    Again,
}

pub(crate) async fn step<B>(outgoing: &mut Outgoing, response: Response<B>) -> Result<Step<B>, BoxError>
where
    B: Body<Error: Into<BoxError>> + Send + 'static,
{
    let (is_stream, is_json) = (is_stream(response.headers()), is_json(response.headers()));
    if !response.status().is_success() || !(is_stream || is_json) {
        return Ok(Step::Done(response.map(ReplyBody::new)));
    }
    if let Some(error) = encoding_error(&response) {
        return Ok(Step::Done(refused(StatusCode::BAD_GATEWAY, &outgoing.url, &error)));
    }
    if is_stream {
        return Ok(Step::Stream(response));
    }
    let (mut parts, body) = response.into_parts();
    let bytes = body.collect().await.map_err(Into::into)?.to_bytes();
    remove_body_headers(&mut parts.headers);
    if bytes.is_empty() {
        return Ok(Step::Done(Response::from_parts(parts, ReplyBody::whole(bytes))));
    }
    let text = String::from_utf8_lossy(&bytes);
    let reply = outgoing.exchange.reply(text.trim_start_matches('\u{feff}')).map(|reply| reply.map(String::from));
    outgoing.call_on_repair();
    Ok(match reply {
        Ok(Some(reply)) => Step::Done(Response::from_parts(parts, ReplyBody::whole(reply))),
        Ok(None) => Step::Again,
        // The request was valid, so the error is the backend's.
        Err(error) => Step::Done(refused(StatusCode::BAD_GATEWAY, &outgoing.url, &error)),
    })
}

/// Returns one reply for the client that contains all rounds of a stream.
pub(crate) fn stream_rounds<S: Sender>(
    outgoing: Box<Outgoing>,
    response: Response<S::Body>,
    sender: S,
) -> Response<ReplyBody> {
    let (mut parts, body) = response.into_parts();
    remove_body_headers(&mut parts.headers);
    let rounds = Rounds { outgoing, body: Some(body), sender };
    let pieces = stream::try_unfold(rounds, |mut rounds| async move {
        let piece = rounds.next().await?;
        Ok::<_, BoxError>(piece.map(|piece| (Frame::data(piece), rounds)))
    });
    Response::from_parts(parts, ReplyBody::new(StreamBody::new(pieces)))
}

struct Rounds<S: Sender> {
    outgoing: Box<Outgoing>,
    /// `None` at the end.
    body: Option<S::Body>,
    sender: S,
}

impl<S: Sender> Rounds<S> {
    async fn next(&mut self) -> Result<Option<Bytes>, BoxError> {
        while let Some(body) = &mut self.body {
            let restored = match body.frame().await {
                Some(frame) => match frame.map_err(Into::into)?.into_data() {
                    Ok(mut data) => {
                        let data = data.copy_to_bytes(data.remaining());
                        self.outgoing.exchange.feed_bytes(&data).map(|restored| match restored {
                            Cow::Borrowed(same) => data.slice_ref(same),
                            Cow::Owned(restored) => Bytes::from(restored),
                        })
                    }
                    // Trailers describe the original bytes.
                    Err(_) => continue,
                },
                None => self.finish_round().await?.map(Bytes::from),
            };
            self.outgoing.call_on_repair();
            let restored = restored.unwrap_or_else(|error| {
                self.body = None;
                self.error_event(&Exchange::refusal(&self.outgoing.url, &error)).into()
            });
            if !restored.is_empty() {
                return Ok(Some(restored));
            }
        }
        Ok(None)
    }

    async fn finish_round(&mut self) -> Result<Result<Vec<u8>, Error>, BoxError> {
        self.body = None;
        let mut rest = match self.outgoing.exchange.finish_bytes() {
            Ok(rest) => rest,
            Err(error) => return Ok(Err(error)),
        };
        if !self.outgoing.exchange.asks_again() {
            return Ok(Ok(rest));
        }
        let response = self.sender.send(self.outgoing.next()).await?;
        let is_restorable = response.status().is_success() && is_stream(response.headers());
        if is_restorable && encoding_error(&response).is_none() {
            self.body = Some(response.into_body());
        } else {
            let bytes = response.into_body().collect().await.map_err(Into::into)?.to_bytes();
            rest.extend(self.error_event(&String::from_utf8_lossy(&bytes)));
        }
        Ok(Ok(rest))
    }

    /// Returns an error event for a client that already received the beginning of a reply.
    fn error_event(&self, body: &str) -> Vec<u8> {
        self.outgoing.exchange.failed_bytes(body)
    }
}

fn encoding_error<B>(response: &Response<B>) -> Option<Error> {
    let encoding = response.headers().get(header::CONTENT_ENCODING)?;
    if encoding.as_bytes().eq_ignore_ascii_case(b"identity") {
        return None;
    }
    let found = String::from_utf8_lossy(encoding.as_bytes()).into_owned();
    let message = format!("expected a reply without `content-encoding`, found `{found}`: decode it before this layer");
    Some(Error::new(Code::InvalidValue, "", message))
}
