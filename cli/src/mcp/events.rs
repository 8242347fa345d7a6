//! Splits an event stream into events.
//! <https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerEvent {
    /// Name of the event. An empty name means `message`.
    pub(crate) name: String,
    pub(crate) data: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Assembles events from the pieces of a stream.
#[derive(Debug)]
pub(crate) struct Events {
    /// Maximum size of an event, in bytes.
    most: usize,
    line: Vec<u8>,
    event: ServerEvent,
    has_data: bool,
    after_return: bool,
    /// The id of the event that is being read, or of the last event with an id.
    id: Vec<u8>,
    /// The id of the last complete event, or of the last event before it with an id. Empty if there is none.
    last_id: Vec<u8>,
    /// The delay that the server asks for before a stream is continued, in milliseconds.
    retry: Option<u64>,
}

impl Events {
    pub(crate) fn new(most: usize) -> Events {
        Events {
            most,
            line: Vec::new(),
            event: ServerEvent::default(),
            has_data: false,
            after_return: false,
            id: Vec::new(),
            last_id: Vec::new(),
            retry: None,
        }
    }

    pub(crate) fn last_id(&self) -> &[u8] {
        &self.last_id
    }

    pub(crate) fn retry(&self) -> Option<u64> {
        self.retry
    }

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
            self.last_id.clone_from(&self.id);
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
            // The standard ignores ids with a null.
            b"id" if !value.contains(&0) => self.id = value.into(),
            b"retry" => {
                let digits = value.iter().all(u8::is_ascii_digit).then_some(value);
                self.retry = digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok()).or(self.retry);
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
    fn the_last_id_is_that_of_a_complete_event() {
        let mut events = Events::new(99);
        for (text, id, retry) in [
            ("id: 1\nretry: 5", "", None),
            ("\n\n", "1", Some(5)),
            ("data: a\n\nid: a\0\n\nretry: x\n\n", "1", Some(5)),
            ("id: 2\ndata: a\n", "1", Some(5)),
            ("\nretry: 99999999999999999999\n", "2", Some(5)),
            ("id\n\n", "", Some(5)),
        ] {
            assert!(events.push(text.as_bytes()).is_ok());
            assert_eq!((events.last_id(), events.retry()), (id.as_bytes(), retry), "{text}");
        }
    }

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
