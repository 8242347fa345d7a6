//! Splits an event stream into events.
//! <https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>

/// An event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerEvent {
    /// Its name. An empty name means `message`.
    pub(crate) name: String,
    pub(crate) data: Vec<u8>,
}

/// An event is longer than allowed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Assembles events from the pieces of a stream.
#[derive(Debug)]
pub(crate) struct Events {
    /// Maximum length of an event, in bytes.
    most: usize,
    line: Vec<u8>,
    event: ServerEvent,
    has_data: bool,
    after_return: bool,
}

impl Events {
    pub(crate) fn new(most: usize) -> Events {
        Events { most, line: Vec::new(), event: ServerEvent::default(), has_data: false, after_return: false }
    }

    /// Reads a piece, and returns the events that it completes.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<Vec<ServerEvent>, TooLong> {
        let mut events = Vec::new();
        for part in piece.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (text, end) = match part.split_last() {
                Some((end @ (b'\n' | b'\r'), text)) => (text, Some(*end)),
                _ => (part, None),
            };
            let ends_return = std::mem::take(&mut self.after_return) && text.is_empty() && end == Some(b'\n');
            if self.line.len() + self.event.data.len() + text.len() > self.most {
                return Err(TooLong);
            }
            self.line.extend_from_slice(text);
            if end.is_none() || ends_return {
                continue;
            }
            self.after_return = end == Some(b'\r');
            events.extend(self.end_line());
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Option<ServerEvent> {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_assembled_in_any_pieces() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ": a comment||event: endpoint|data: /m||data:{\"a\":|data: 1}|id: 4||event: x||data||data: last"
                .replace('|', end);
            let event = |name: &str, data: &str| ServerEvent { name: name.into(), data: data.into() };
            let expected = [event("endpoint", "/m"), event("", "{\"a\":\n1}"), event("", "")];
            for size in 1..=text.len() {
                let mut events = Events::new(20);
                let pieces = text.as_bytes().chunks(size).map(|piece| events.push(piece));
                let found: Result<Vec<Vec<ServerEvent>>, TooLong> = pieces.collect();
                let found: Option<Vec<ServerEvent>> = found.ok().map(|found| found.into_iter().flatten().collect());
                assert_eq!(found.as_deref(), Some(expected.as_slice()), "{end:?} {size}");
            }
        }
        let mut events = Events::new(20);
        assert_eq!(events.push(&[b'a'; 21]), Err(TooLong));
    }
}
