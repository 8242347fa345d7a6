//! Results of calls: fitting them to the `outputSchema` of their tool, cutting long results, and the tool that reads
//! the rest of a cut result.
//!
//! The rest is read with a tool and not as a resource. Most clients let the user choose resources, but the model
//! decides if it needs the rest.

use std::{
    borrow::Cow,
    collections::VecDeque,
    hash::{BuildHasher as _, RandomState},
};

use toolwire::{
    fit_result,
    internal::json::{self, Member, Node, Object, Text},
};

use super::{
    message::{failed_call, quoted, text_at},
    settings::Settings,
    Pending, Proxy, REMEMBERED, RESULT_TYPE, TASKS_GET, TASKS_RESULT,
};

/// Name of the tool that reads the rest, unless a tool of a server has this name.
pub(super) const READ: &str = "read_result";
const STRUCTURED: &str = "structuredContent";
const CONTENT: &str = "content";
/// Part of the maximum size, in bytes, that is reserved for the note at the end of a cut result.
const MAX_CONTINUATION: usize = 300;
/// Maximum total size, in bytes, of the results that a session keeps. The oldest results are dropped.
const MAX_KEPT: usize = 16 << 20;

#[derive(Debug)]
pub(super) struct Results {
    /// Maximum size of a result in bytes. If it is `None`, results are not cut.
    max: Option<usize>,
    /// Makes ids, which other clients of a shared session must not guess. `None` for transcripts, in which ids are
    /// numbers.
    secret: Option<RandomState>,
    count: u64,
    kept: VecDeque<Kept>,
    kept_bytes: usize,
    /// Open tasks, the oldest first: server, id and tool.
    tasks: VecDeque<(usize, String, String)>,
}

#[derive(Debug)]
struct Kept {
    id: String,
    /// The beginning of the text, or the whole text.
    text: String,
    /// Ends of the pieces, in bytes.
    ends: Vec<usize>,
    total: usize,
}

impl Results {
    pub(super) fn new(settings: &Settings) -> Results {
        let secret = (!settings.counted_ids).then(RandomState::new);
        Results {
            max: settings.max_result,
            secret,
            count: 0,
            kept: VecDeque::new(),
            kept_bytes: 0,
            tasks: VecDeque::new(),
        }
    }

    /// Returns a result whose text is at most as long as the maximum, as JSON text, and the size of the whole result.
    /// Returns `None` if the result is not larger than the maximum. `reader` is the name of the tool that reads the
    /// rest.
    ///
    /// The size is the size of all text or of the structured content, because clients show either. Images and other
    /// blocks without text are neither counted nor cut.
    fn cut(&mut self, result: &Node<'_>, reader: &str) -> Option<(String, usize)> {
        let max = self.max?;
        let blocks = result.items_at(CONTENT);
        let mut texts: Vec<(Option<usize>, Cow<'_, str>)> =
            blocks.iter().enumerate().filter_map(|(index, block)| Some((Some(index), text_of(block)?))).collect();
        let structured = result.get(STRUCTURED).filter(|content| !content.is_null());
        let written = structured.map(json::write);
        let size = texts.iter().map(|(_, text)| text.len()).sum::<usize>().max(written.as_ref().map_or(0, String::len));
        if size <= max {
            return None;
        }
        let is_text = |content: &Node<'_>| {
            texts.iter().any(|(_, text)| json::read(text).is_ok_and(|read| json::same(&read, content)))
        };
        // Small structured content stays, because it matches its schema only as a whole.
        let keeps_structured = written.as_ref().is_some_and(|written| written.len() <= max);
        if let Some(written) = structured.filter(|content| !keeps_structured && !is_text(content)).and(written) {
            texts.push((None, Cow::Owned(written)));
        }
        let parts: Vec<&str> = texts.iter().map(|(_, text)| &**text).collect();
        let mut ends = ends(&parts, max.saturating_sub(MAX_CONTINUATION).max(1));
        let whole = parts.join("\n");
        let end = ends.first().copied().unwrap_or_default();
        let mut content = shortened(blocks, &texts, end);
        if end < whole.len() {
            let total = whole.len();
            ends.truncate(ends.partition_point(|end| *end <= MAX_KEPT));
            let text = whole.get(..ends.last().copied().unwrap_or_default()).unwrap_or_default().to_string();
            let id = self.keep(text, ends, total);
            content.push(text_block(continuation(&id, end, total, reader)));
        }
        let mut cut = result.clone();
        // Cut structured content might not match its schema, so it is removed.
        if !keeps_structured {
            cut.remove(STRUCTURED);
        }
        cut.set(CONTENT, Node::array(content));
        Some((json::write(&cut), size))
    }

    fn keep(&mut self, text: String, ends: Vec<usize>, total: usize) -> String {
        self.count += 1;
        let id = match &self.secret {
            Some(secret) => format!("{:016x}", secret.hash_one(self.count)),
            None => format!("r{}", self.count),
        };
        let kept = Kept { id: id.clone(), text, ends, total };
        self.kept_bytes += kept.size();
        self.kept.push_back(kept);
        while self.kept_bytes > MAX_KEPT && self.kept.len() > 1 {
            self.kept_bytes -= self.kept.pop_front().map_or(0, |oldest| oldest.size());
        }
        id
    }

    pub(super) fn has_kept(&self, arguments: Option<&str>) -> bool {
        let arguments = arguments.and_then(|text| json::read(text).ok());
        let id = arguments.and_then(|arguments| text_at(&arguments, &["id"]));
        id.is_some_and(|id| self.kept.iter().any(|kept| kept.id == id))
    }

    fn start(&mut self, server: usize, task: String, tool: &str) {
        if self.tasks.len() >= REMEMBERED {
            self.tasks.pop_front();
        }
        self.tasks.push_back((server, task, tool.to_string()));
    }

    pub(super) fn tool_of_task(&self, server: usize, method: &str, request: &str) -> Option<String> {
        if ![TASKS_RESULT, TASKS_GET].contains(&method) || self.tasks.is_empty() {
            return None;
        }
        let task = text_at(&json::read(request).ok()?, &["params", "taskId"])?;
        self.tasks.iter().find(|(of, id, _)| (*of, id) == (server, &task)).map(|(_, _, tool)| tool.clone())
    }

    pub(super) fn read(&self, arguments: Option<&str>, reader: &str) -> String {
        let arguments = json::read(arguments.unwrap_or("{}")).unwrap_or_default();
        let Some(id) = text_at(&arguments, &["id"]) else {
            return failed_call("expected `id`, the id in the note at the end of a cut result, found none");
        };
        let Some(kept) = self.kept.iter().find(|kept| kept.id == id) else {
            return failed_call(&format!(
                "expected the id in the note at the end of a result of this session, found `{id}`. The oldest results \
                 are dropped when more than {} MiB are kept: call the tool again to get its result",
                MAX_KEPT >> 20
            ));
        };
        let from = match arguments.get("from") {
            None => Some(0),
            // Some models write numbers as strings.
            Some(from) => match from.as_text() {
                Some(text) => text.display().trim().parse().ok(),
                None => from.as_u64().and_then(|from| usize::try_from(from).ok()),
            },
        };
        let total = kept.total;
        let Some(from) = from.filter(|from| *from < total) else {
            return failed_call(&format!(
                "expected `from` to be an integer from 0 to {}, found another value",
                total - 1
            ));
        };
        let from = floor(&kept.text, from);
        let Some(end) = kept.ends.get(kept.ends.partition_point(|end| *end <= from)).copied() else {
            return failed_call(&format!(
                "only the first {} of {total} bytes were kept: call the tool again with arguments that select less",
                kept.text.len()
            ));
        };
        let mut content = Vec::from([text_block(kept.text.get(from..end).unwrap_or_default().to_string())]);
        if end < total {
            content.push(text_block(continuation(&id, end, total, reader)));
        }
        json::write(&object([("content", Node::array(content))]))
    }
}

impl Kept {
    fn size(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<usize>() + size_of::<Kept>()
    }
}

/// Returns the id of a started task, in the form of MCP 2025-11-25 or of the extension for tasks.
/// <https://modelcontextprotocol.io/seps/2663-tasks-extension>
pub(super) fn started_task(result: &Node<'_>) -> Option<String> {
    let is_task = result.get(RESULT_TYPE).is_some_and(|kind| kind.is_text("task"));
    text_at(result, if is_task { &["taskId"] } else { &["task", "taskId"] })
}

pub(super) fn reader(name: &str) -> String {
    let description =
        "Reads on in a result that was too long and was cut. The note at the end of a cut result has `id` \
                       and `from`.";
    format!(
        "{{\"name\":{},\"description\":{},\"inputSchema\":{{\"type\":\"object\",\"properties\":{{\
         \"id\":{{\"type\":\"string\",\"description\":\"The id of the result.\"}},\
         \"from\":{{\"type\":\"integer\",\"description\":\"The byte at which to start.\"}}}},\
         \"required\":[\"id\",\"from\"]}},\"annotations\":{{\"readOnlyHint\":true}}}}",
        quoted(name),
        quoted(description)
    )
}

fn continuation(id: &str, end: usize, total: usize, reader: &str) -> String {
    let left = total - end;
    format!(
        "[This is not the whole result: {left} of {total} bytes are left. To read on, call `{reader}` with \
         {{\"id\": \"{id}\", \"from\": {end}}}.]"
    )
}

fn object<'a, const N: usize>(members: [(&'static str, Node<'a>); N]) -> Node<'a> {
    let members = members.map(|(key, value)| Member { key: Text::new(key), value });
    Node::object(Object::from_members(members.into()))
}

fn text_block<'a>(text: String) -> Node<'a> {
    object([("type", Node::string("text")), ("text", Node::string(text))])
}

fn text_of<'n>(block: &'n Node<'_>) -> Option<Cow<'n, str>> {
    let kind = block.get("type")?;
    let text = match kind {
        _ if kind.is_text("text") => block.text_at("text")?,
        _ if kind.is_text("resource") => block.get("resource")?.text_at("text")?,
        _ => return None,
    };
    Some(text.display())
}

/// Returns a block with a shortened text; `None` if nothing of the text is shown. A resource is kept, because its URI
/// may be all that the model needs.
fn with_text<'a>(block: &Node<'a>, shown: &str) -> Option<Node<'a>> {
    let mut block = block.clone();
    let text = Node::string(shown.to_string());
    if block.get("type").is_some_and(|kind| kind.is_text("resource")) {
        block.visit("resource", |resource| resource.set("text", text));
    } else if shown.is_empty() {
        return None;
    } else {
        block.set("text", text);
    }
    Some(block)
}

/// Removes the text after the first `end` bytes of all texts.
fn shortened<'a>(blocks: &[Node<'a>], texts: &[(Option<usize>, Cow<'_, str>)], end: usize) -> Vec<Node<'a>> {
    let (mut start, mut next) = (0, texts.iter().peekable());
    let mut content = Vec::with_capacity(blocks.len());
    // The structured content has no block.
    for (index, block) in blocks.iter().map(Some).chain([None]).enumerate() {
        let is_next = next.peek().is_some_and(|(of, _)| *of == block.map(|_| index));
        let Some((_, text)) = next.next_if(|_| is_next) else {
            content.extend(block.cloned());
            continue;
        };
        match (block, text.get(..end.saturating_sub(start))) {
            (Some(block), None) => content.push(block.clone()),
            (Some(block), Some(shown)) if shown.len() == text.len() => content.push(block.clone()),
            (None, None) => content.push(text_block(text.to_string())),
            (None, Some(shown)) if !shown.is_empty() => content.push(text_block(shown.to_string())),
            (Some(block), shown) => content.extend(with_text(block, shown.unwrap_or_default())),
            _ => {}
        }
        start += text.len() + 1;
    }
    content
}

/// Divides texts, which are joined by a line break, into pieces of at most `size` bytes. Returns the end of each piece.
/// JSON is divided between elements, other text between lines, if such an end is in the second half of the piece. The
/// halves bound the work: no byte is read more than twice.
fn ends(texts: &[&str], size: usize) -> Vec<usize> {
    let total = (texts.iter().map(|text| text.len() + 1).sum::<usize>()).saturating_sub(1);
    let (mut ends, mut start) = (Vec::new(), 0);
    let (mut texts, mut base, mut scan) = (texts.iter().peekable(), 0, None::<Scan>);
    while total - start > size {
        let (half, limit) = (start + size / 2, start + size);
        // Skip the texts that end in this piece.
        let mut end = None;
        while let Some(text) = texts.next_if(|text| base + text.len() < limit) {
            base += text.len() + 1;
            (end, scan) = (Some(base).filter(|base| *base > half), None);
        }
        start = match (end, texts.peek()) {
            (Some(end), _) => end,
            (None, Some(text)) => {
                let from = start.saturating_sub(base);
                let first = || is_json(text).then(Scan::default).unwrap_or(Scan { is_text: true, ..Scan::default() });
                let next = Scan { at: from, ..scan.unwrap_or_else(first) };
                let next = next.next(text, half.saturating_sub(base), limit - base);
                scan = Some(next);
                base + next.at
            }
            (None, None) => total,
        };
        ends.push(start);
    }
    ends.push(total);
    ends
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['[', '{']) && json::read(text).is_ok()
}

#[derive(Clone, Copy, Debug, Default)]
struct Scan {
    at: usize,
    /// True if the text is not JSON.
    is_text: bool,
    depth: usize,
    is_in_string: bool,
}

impl Scan {
    /// Returns the state at the end of a piece: after `half` if possible, and at most at `limit`. A piece is never
    /// empty, even if it has to be longer.
    fn next(self, text: &str, half: usize, limit: usize) -> Scan {
        if self.is_text {
            let limit = floor(text, limit).max(ceiling(text, self.at + 1));
            let half = floor(text, half.max(self.at));
            let second = text.get(half..limit).unwrap_or_default();
            let space = second.rfind('\n').or_else(|| second.rfind(char::is_whitespace));
            let after = space.and_then(|space| Some(space + second.get(space..)?.chars().next()?.len_utf8()));
            return Scan { at: after.map_or(limit, |after| half + after), ..self };
        }
        let (mut scan, mut last, mut best) = (self, self, None::<Scan>);
        while let Some(byte) = text.as_bytes().get(scan.at) {
            let mut length = 1;
            match byte {
                b'\\' => length = if text.as_bytes().get(scan.at + 1) == Some(&b'u') { 6 } else { 2 },
                b'"' => scan.is_in_string = !scan.is_in_string,
                b'[' | b'{' if !scan.is_in_string => scan.depth += 1,
                b']' | b'}' if !scan.is_in_string => scan.depth = scan.depth.saturating_sub(1),
                _ => {}
            }
            scan.at += length;
            if scan.at > limit && last.at > self.at {
                break;
            }
            if text.is_char_boundary(scan.at) {
                last = scan;
            }
            let is_between = *byte == b',' && !scan.is_in_string && scan.at > half;
            // The comma of the outermost list or object, so that as few elements as possible are divided.
            if is_between && best.is_none_or(|best| scan.depth <= best.depth) {
                best = Some(scan);
            }
        }
        best.unwrap_or(last)
    }
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

fn ceiling(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

impl Proxy {
    /// Passes on a result, fitted to the `outputSchema` of its tool, and cut if it is too long.
    pub(super) fn pass_result(&mut self, pending: &Pending, result: &Node<'_>, message: &Node<'_>, is_whole: bool) {
        let (server, method) = (pending.server, &pending.method);
        if let Some((task, tool)) = started_task(result).zip(pending.tool.as_deref()) {
            self.results.start(server, task, tool);
            return self.pass_answer(server, method, message, is_whole);
        }
        // A result that asks for input has no content yet.
        if result.get(RESULT_TYPE).is_some_and(|kind| !kind.is_text("complete")) {
            return self.pass_answer(server, method, message, is_whole);
        }
        let is_task = method == TASKS_GET;
        let Some(result) = (if is_task { result.get("result") } else { Some(result) }) else {
            return self.pass_answer(server, method, message, is_whole);
        };
        let fitted = pending.tool.as_ref().and_then(|tool| self.fit(pending.server, tool, result));
        let cut = match &fitted {
            Some(fitted) => json::read(fitted).ok().and_then(|fitted| self.cut(pending, &fitted)),
            None => self.cut(pending, result),
        };
        let changed = cut.or(fitted);
        let Some(changed) = changed.as_deref().and_then(|changed| json::read(changed).ok()) else {
            return self.pass_answer(server, method, message, is_whole);
        };
        let mut message = message.clone();
        match is_task {
            true => {
                message.visit("result", |task| task.set("result", changed));
            }
            false => message.set("result", changed),
        }
        self.pass_answer(server, method, &message, false);
    }

    /// Fits a result. Returns JSON text; `None` if the result need not be changed. Reports violations.
    fn fit(&mut self, server: usize, tool: &str, result: &Node<'_>) -> Option<String> {
        let definition = self.catalogue.original_definitions(server, tool)?;
        if result.get(STRUCTURED).is_none() && json::read(definition).ok()?.get("outputSchema").is_none() {
            return None;
        }
        let text = json::write(result);
        let fitted = match fit_result(text.as_str(), definition, &self.settings.results) {
            Ok(fitted) => fitted,
            Err(error) => {
                self.log_once(&format!("results of `{tool}` cannot be checked ({error})"));
                return None;
            }
        };
        if let Some(error) = fitted.errors.first() {
            let at = if error.schema_pointer.is_empty() { &error.message } else { &error.schema_pointer };
            self.log_once(&format!("a result of `{tool}` does not match its outputSchema ({at})"));
        }
        for change in &fitted.changes {
            self.report_line("fitted", &format!("{tool}: {} ({})", change.message, change.rule.as_str()));
        }
        fitted.changed.then(|| fitted.result.into_owned())
    }

    fn cut(&mut self, pending: &Pending, result: &Node<'_>) -> Option<String> {
        let reader = self.catalogue.reader().unwrap_or(READ).to_string();
        let (cut, size) = self.results.cut(result, &reader)?;
        let of = pending.tool.as_deref().unwrap_or(&pending.method);
        self.report_line("cut", &format!("{of}: a result of {size} bytes"));
        Some(cut)
    }
}

#[cfg(test)]
mod tests {
    use super::{ends, is_json, Kept, Results, MAX_KEPT};
    use crate::proxy::settings::Settings;

    fn pieces<'t>(whole: &'t str, ends: &[usize]) -> Vec<&'t str> {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts.zip(ends).map(|(start, end)| whole.get(start..*end).unwrap_or("not a boundary")).collect()
    }

    #[test]
    fn json_is_divided_between_elements() {
        let text = r#"[{"a":"x,y","b":[1,2,3]},{"a":"\",\u00e9","b":[]},{"a":"long","b":[4,5]},{"a":"","b":[]}]"#;
        assert!(is_json(text));
        let found = ends(&[text], 50);
        assert_eq!(
            pieces(text, &found),
            [r#"[{"a":"x,y","b":[1,2,3]},{"a":"\",\u00e9","b":[]},"#, r#"{"a":"long","b":[4,5]},{"a":"","b":[]}]"#]
        );
    }

    #[test]
    fn pieces_are_never_empty_and_never_larger_than_a_character_requires() {
        let texts: [&[&str]; 6] = [
            &["ééééééééé", "漢字漢字漢字 漢字漢字漢字", ""],
            &["[\"ééé\\u00e9\\u00e9\",[[[[[1,2,3,[4,5,6]]]]],{\"a\":\"é\"}]"],
            &["a\nb\nc\nd\n\n\n\n\n\n\n", "\n\n\n", "a"],
            &["", "", "", "", "", "", ""],
            &["[1,2,3,4,5,6,7,8,9]", "{\"a\":[1,2,3,4,5,6]}", "not json, at all"],
            &["{\"a\": not json\nnext\nnext\nnext"],
        ];
        for (texts, size) in texts.iter().flat_map(|texts| (1..40).map(move |size| (texts, size))) {
            let whole = texts.join("\n");
            let found = ends(texts, size);
            let pieces = pieces(&whole, &found);
            assert_eq!(pieces.concat(), whole, "{size}");
            assert!(pieces.iter().all(|piece| piece.len() <= size.max(6)), "{size}: {pieces:?}");
            assert!(whole.is_empty() || pieces.iter().all(|piece| !piece.is_empty()), "{size}: {pieces:?}");
        }
    }

    #[test]
    fn lines_stay_whole() {
        let text = "first line\nsecond line\nthird line";
        assert_eq!(pieces(text, &ends(&[text], 25)), ["first line\nsecond line\n", "third line"]);
    }
    fn kept(results: &mut Results, size: usize) -> String {
        let text = "x".repeat(size);
        results.keep(text, Vec::from([size]), size + 1)
    }

    #[test]
    fn the_memory_of_a_session_is_bounded() {
        let mut results = Results::new(&Settings::default());
        let first = kept(&mut results, 1_000);
        for _ in 0..100 {
            kept(&mut results, MAX_KEPT / 10);
        }
        let sizes = results.kept.iter().map(Kept::size).sum::<usize>();
        assert!(sizes <= MAX_KEPT && sizes == results.kept_bytes, "{sizes}");
        let found = results.read(Some(&format!("{{\"id\":\"{first}\",\"from\":0}}")), "read_result");
        assert!(found.contains("call the tool again") && found.contains("isError"), "{found}");
        for _ in 0..500_000 {
            results.keep(String::new(), Vec::new(), 1);
        }
        assert!(results.kept_bytes <= MAX_KEPT, "{}", results.kept_bytes);
    }

    #[test]
    fn the_end_of_a_text_that_is_not_kept_is_told() {
        let mut results = Results::new(&Settings::default());
        let id = kept(&mut results, 10);
        let read = |from: usize| results.read(Some(&format!("{{\"id\":\"{id}\",\"from\":{from}}}")), "read_result");
        assert!(read(3).contains("1 of 11 bytes are left"), "{}", read(3));
        assert!(read(10).contains("only the first 10 of 11 bytes were kept"), "{}", read(10));
        assert!(read(11).contains("from 0 to 10"), "{}", read(11));
    }

    #[test]
    fn ids_of_sessions_differ() {
        let ids: Vec<String> = (0..100).map(|_| kept(&mut Results::new(&Settings::default()), 1)).collect();
        assert!(ids.iter().enumerate().all(|(at, id)| id.len() == 16 && !ids[..at].contains(id)), "{ids:?}");
    }
}
