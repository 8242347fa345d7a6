//! The index: the number of occurrences of each word in each tool, and the ranking that is based on it. Reads the tools
//! of a list in any format: Anthropic, OpenAI Chat Completions, OpenAI Responses with namespaces, Gemini with groups,
//! Bedrock Converse, MCP.
//!
//! The ranking is BM25F: BM25 over a weighted sum of fields. The counts of each field are normalized by its average
//! length. This crate has its own implementation because the `bm25` crate needs the standard library and supports only
//! one field. Weights per field rank a tool's own name above the arguments of another tool.
//!
//! The weights were chosen by measurement (core/tests/it/search.rs): 105 queries for tuning and 105 for validation,
//! over 1,513 real tools. The results for the validation queries are three numbers: the fraction of queries with their
//! tool ranked first, the fraction with their tool among the first five, and the mean reciprocal rank. They are 0.72,
//! 0.91 and 0.81 with these weights, 0.64, 0.91 and 0.76 with equal weights, and 0.40, 0.63 and 0.48 if common words
//! are counted as well. Only the order of the weights matters.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use super::tokenizer;
use crate::{
    budget::Budget,
    collections::{self, Map},
    dialect, envelope,
    error::{Code, Error},
    json::{self, Data, Node, Step, Text},
    names::{self, Names},
    options::{SearchMode, SearchOptions},
    pattern::{Flaw, Spelling},
    report::Recorder,
    request::tool::{self, has_type, type_of, Kind},
    schema::{
        keyword::{Keyword, Keywords},
        visit::{self, Visit},
    },
    wire::{tool_list::locations, GROUPS},
};

/// Weight of each field and strength of its length normalization, in the order of [`Field`].
const WEIGHTS: [(f64, f64); Field::COUNT] = [(4.0, 0.5), (1.0, 0.4), (0.6, 0.75), (0.3, 0.75)];
/// `k1` of BM25. With a lower number, repeated occurrences of a word add less to the score.
const SATURATION: f64 = 1.5;

#[derive(Clone, Debug)]
pub(crate) struct Index {
    tools: Vec<Tool>,
    /// Indices in `tools`, sorted by name.
    by_name: Vec<u32>,
    /// Range in `hits` for each word.
    terms: Map<Box<str>, (u32, u32)>,
    hits: Vec<Hit>,
    has_deferred: bool,
    /// Names in the index, by the names that are sent to APIs. They are looked up before the names in the index.
    sent: Map<Text<'static>, Text<'static>>,
    /// Names in the index, by other names of the tools.
    other_names: Map<Text<'static>, Text<'static>>,
}

#[derive(Clone, Debug)]
struct Tool {
    name: Text<'static>,
    deferred: bool,
    description: Option<Box<str>>,
    /// The definition as JSON text, which takes a fifth of the memory of a tree; empty if definitions are not kept.
    definition: Box<str>,
}

/// A tool that contains a word, and the contribution of the word to the tool's score.
#[derive(Clone, Copy, Debug)]
struct Hit {
    tool: u32,
    gain: f32,
}

/// Names that are sent to APIs in place of names in the index. An index serves any API, and each API has its own
/// pattern for names.
#[derive(Default)]
pub(crate) struct SentNames(Map<Text<'static>, Option<Text<'static>>>);

impl SentNames {
    /// Records a name that an API receives; `None` if the API receives the name in the index.
    pub(crate) fn add(&mut self, sent: Option<&str>, name: &Text<'static>) {
        let Some(sent) = sent else { return };
        let known = self.0.entry(Text::new(String::from(sent))).or_insert_with(|| Some(name.clone()));
        if known.as_ref() != Some(name) {
            *known = None;
        }
    }

    /// Returns the sent names that identify the same tool in every dialect.
    fn unique(self) -> Map<Text<'static>, Text<'static>> {
        self.0.into_iter().filter_map(|(sent, name)| Some((sent, name?))).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    /// All tools except the search itself.
    All,
    /// The tools that a hosted search returns: the deferred tools, or all tools if none is deferred.
    Deferred,
}

impl Index {
    /// Indexes a tool list. If several tools share a name, only the first is indexed. `with_definitions` is needed only
    /// for answers that contain definitions.
    pub(crate) fn new(list: &Node<'_>, with_definitions: bool) -> Result<Self, Error> {
        let index = Self::without_sent_names(list, with_definitions)?;
        let mut sent = SentNames::default();
        for shape in dialect::name_patterns() {
            let names = || index.tools.iter().map(|tool| &tool.name);
            if names().all(|name| names::is_legal(shape, name)) && shape.rules.is_none() {
                continue;
            }
            let mut planned = Names::default();
            planned.plan(shape, names(), &[]);
            names().for_each(|name| sent.add(planned.new_name(name), name));
        }
        // A name in the index takes precedence over an equal name that an API receives for another tool.
        let sent = sent.unique().into_iter().filter(|(sent, _)| index.index_of(sent).is_none()).collect();
        Ok(Index { sent, ..index })
    }

    /// Indexes a tool list. The caller adds the names that APIs receive, with [`Self::with_sent_names`].
    pub(crate) fn without_sent_names(list: &Node<'_>, with_definitions: bool) -> Result<Self, Error> {
        let mut builder = Builder { with_definitions, ..Builder::default() };
        visit_tools(entries(list)?, &mut |listed| builder.add(listed));
        Ok(builder.finish())
    }

    pub(crate) fn with_sent_names(self, names: SentNames) -> Self {
        Index { sent: names.unique(), ..self }
    }

    /// Adds other names of tools. Each pair contains another name and the tool's name in the list.
    pub(crate) fn with_other_names(mut self, names: Vec<(Text<'static>, Text<'static>)>) -> Self {
        self.other_names.extend(names);
        self
    }

    pub(crate) fn len(&self) -> usize {
        self.tools.len()
    }

    /// Returns the names of matching tools, best match first.
    pub(crate) fn search(
        &self,
        query: &str,
        options: &SearchOptions,
        among: Among,
    ) -> Result<Vec<&Text<'static>>, Error> {
        let wanted = |tool: &Tool| {
            (among == Among::All || tool.deferred || !self.has_deferred) && !tool.name.is(&options.tool_search_name)
        };
        let numbers = match options.mode {
            SearchMode::Bm25 => self.rank(query, &wanted)?,
            SearchMode::Regex => self.matches(query, &wanted)?,
        };
        let named = numbers.into_iter().filter_map(|number| self.tools.get(number as usize)).map(|tool| &tool.name);
        Ok(named.take(options.limit).collect())
    }

    pub(super) fn resolve_name(&self, name: &str) -> Option<&Text<'static>> {
        let name = Text::new(name).into_owned();
        let sent = self.sent.get(&name).and_then(|name| self.index_of(name));
        let number = sent.or_else(|| self.index_of(&name)).or_else(|| self.index_of(self.other_names.get(&name)?))?;
        self.tools.get(number as usize).map(|tool| &tool.name)
    }

    /// The definition is in the form of OpenAI Responses; `None` if definitions are not kept. Never fails for a
    /// definition that this index has written.
    pub(super) fn definition(&self, name: &Text<'_>) -> Result<Option<Node<'static>>, Error> {
        let tool = self.index_of(name).and_then(|number| self.tools.get(number as usize));
        let kept = tool.map(|tool| &*tool.definition).filter(|text| !text.is_empty());
        kept.map(|text| json::read(text).map(|node| node.detached())).transpose()
    }

    fn index_of(&self, name: &Text<'_>) -> Option<u32> {
        let found = self.by_name.binary_search_by(|number| match self.tools.get(*number as usize) {
            Some(tool) => {
                let tool_name: &Text<'_> = &tool.name;
                tool_name.cmp(name)
            }
            None => core::cmp::Ordering::Greater,
        });
        found.ok().and_then(|at| self.by_name.get(at)).copied()
    }

    /// Returns the numbers of matching tools, best match first. Tools with equal scores keep their order in the list.
    /// If the query is a tool's whole name, this tool comes first.
    fn rank(&self, query: &str, wanted: &dyn Fn(&Tool) -> bool) -> Result<Vec<u32>, Error> {
        let terms = terms(query);
        if terms.is_empty() {
            let message = alloc::format!("expected a query with at least one word, found `{query}`");
            return Err(Error::new(Code::EmptyQuery, "/query", message));
        }
        let mut scores = alloc::vec![0_f32; self.tools.len()];
        let mut matching = Vec::new();
        for term in &terms {
            let Some((start, end)) = self.terms.get(&**term) else { continue };
            for hit in self.hits.get(*start as usize..*end as usize).unwrap_or_default() {
                let Some(score) = scores.get_mut(hit.tool as usize) else { continue };
                if *score == 0.0 {
                    matching.push(hit.tool);
                }
                *score += hit.gain;
            }
        }
        if let Some(score) = self.index_of(&Text::new(query.trim())).and_then(|number| scores.get_mut(number as usize))
        {
            *score = f32::INFINITY;
        }
        matching.retain(|number| self.tools.get(*number as usize).is_some_and(wanted));
        let score = |number: &u32| scores.get(*number as usize).copied().unwrap_or_default();
        matching.sort_unstable_by(|left, right| score(right).total_cmp(&score(left)).then(left.cmp(right)));
        Ok(matching)
    }

    fn matches(&self, pattern: &str, wanted: &dyn Fn(&Tool) -> bool) -> Result<Vec<u32>, Error> {
        let pattern = Pattern::new(pattern)?;
        let (mut named, mut described) = (Vec::new(), Vec::new());
        for (number, tool) in (0_u32..).zip(&self.tools).filter(|(_, tool)| wanted(tool)) {
            if pattern.is_in(&tool.name.display())? {
                named.push(number);
            } else if let Some(description) = &tool.description {
                if pattern.is_in(description)? {
                    described.push(number);
                }
            }
        }
        named.append(&mut described);
        Ok(named)
    }
}

fn terms(query: &str) -> Vec<Box<str>> {
    let (mut terms, mut seen) = (Vec::new(), crate::collections::Set::new());
    tokenizer::split_with_identifiers(query, &mut |word| {
        if seen.insert(Box::<str>::from(word)) {
            terms.push(Box::from(word));
        }
    });
    if terms.iter().any(|term| !tokenizer::is_filler(term)) {
        terms.retain(|term| !tokenizer::is_filler(term));
    }
    terms
}

/// Number of occurrences of a word in each field of a tool.
type Counts = [u16; Field::COUNT];

/// Counts the words of tools. `finish` computes the ranking, which needs the number of tools and the average lengths of
/// fields.
#[derive(Default)]
struct Builder {
    tools: Vec<Tool>,
    names: crate::collections::Set<Text<'static>>,
    terms: Map<Box<str>, Vec<(u32, Counts)>>,
    lengths: Vec<[u32; Field::COUNT]>,
    has_deferred: bool,
    with_definitions: bool,
    /// The words of the current tool, concatenated, and the position and field of each word.
    letters: String,
    spans: Vec<(u32, u32, Field)>,
}

impl Builder {
    fn add(&mut self, listed: &Listed<'_, '_>) {
        let name = listed.name.clone().into_owned();
        let Ok(number) = u32::try_from(self.tools.len()) else { return };
        if !self.names.insert(name.clone()) {
            return;
        }
        self.has_deferred |= listed.deferred;
        self.tools.push(Tool {
            name,
            deferred: listed.deferred,
            description: listed.description().map(|text| Box::from(&*text.display())),
            definition: if self.with_definitions { json::write(&listed.definition()).into() } else { Box::default() },
        });
        let (mut letters, mut spans) = (core::mem::take(&mut self.letters), core::mem::take(&mut self.spans));
        letters.clear();
        spans.clear();
        listed.texts(&mut |field, text| {
            let mut keep = |word: &str| {
                // Words beyond 4 GB in one tool are not counted.
                let start = u32::try_from(letters.len());
                letters.push_str(word);
                if let (Ok(start), Ok(end)) = (start, u32::try_from(letters.len())) {
                    spans.push((start, end, field));
                }
            };
            match field {
                Field::Name => tokenizer::split_with_identifiers(&text.display(), &mut keep),
                _ => tokenizer::split(&text.display(), &mut keep),
            }
        });
        self.count(number, &letters, &mut spans);
        (self.letters, self.spans) = (letters, spans);
    }

    /// Counts the words of a tool. Sorts them first, so that each distinct word is looked up once.
    fn count(&mut self, number: u32, letters: &str, spans: &mut [(u32, u32, Field)]) {
        let word = |span: &(u32, u32, Field)| letters.get(span.0 as usize..span.1 as usize).unwrap_or_default();
        spans.sort_unstable_by(|left, right| word(left).cmp(word(right)));
        let mut lengths = [0; Field::COUNT];
        for same in spans.chunk_by(|left, right| word(left) == word(right)) {
            let mut counts: Counts = [0; Field::COUNT];
            for (_, _, field) in same {
                if let (Some(count), Some(length)) = (counts.get_mut(*field as usize), lengths.get_mut(*field as usize))
                {
                    *count = count.saturating_add(1);
                    *length = u32::saturating_add(*length, 1);
                }
            }
            let word = same.first().map(word).unwrap_or_default();
            match self.terms.get_mut(word) {
                Some(found) => found.push((number, counts)),
                None => {
                    self.terms.insert(word.into(), alloc::vec![(number, counts)]);
                }
            }
        }
        self.lengths.push(lengths);
    }

    fn finish(self) -> Index {
        let total = self.tools.len() as f64;
        let mut average = [0_f64; Field::COUNT];
        for (field, average) in average.iter_mut().enumerate() {
            let sum: f64 =
                self.lengths.iter().filter_map(|lengths| lengths.get(field)).map(|length| f64::from(*length)).sum();
            *average = (sum / total.max(1.0)).max(1.0);
        }
        let mut hits = Vec::with_capacity(self.terms.values().map(Vec::len).sum());
        let mut terms = Map::new();
        for (term, found) in self.terms {
            let start = hits.len();
            let containing = found.len() as f64;
            let rarity = libm::log(1.0 + (total - containing + 0.5) / (containing + 0.5));
            for (number, counts) in found {
                let lengths = self.lengths.get(number as usize).copied().unwrap_or_default();
                let weight: f64 = (counts.iter().zip(lengths).zip(average).zip(WEIGHTS))
                    .map(|(((count, length), average), (weight, normalization))| {
                        weight * f64::from(*count) / (1.0 - normalization + normalization * f64::from(length) / average)
                    })
                    .sum();
                hits.push(Hit { tool: number, gain: (rarity * weight / (SATURATION + weight)) as f32 });
            }
            if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(hits.len())) {
                terms.insert(term, (start, end));
            }
        }
        let name = |number: &u32| self.tools.get(*number as usize).map(|tool| &tool.name);
        let by_name =
            collections::sorted_by((0..).take(self.tools.len()).collect(), |left, right| name(left).cmp(&name(right)));
        Index {
            tools: self.tools,
            by_name,
            terms,
            hits,
            has_deferred: self.has_deferred,
            sent: Map::new(),
            other_names: Map::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Name,
    /// Title and description of the tool, and descriptions of its namespaces.
    Description,
    ArgumentName,
    ArgumentDescription,
}

impl Field {
    pub(super) const COUNT: usize = 4;
}

pub(super) struct Listed<'n, 'a> {
    /// A reference identifies the tool by this name. It includes the namespace, if there is one.
    pub(super) name: Text<'a>,
    pub(super) deferred: bool,
    tool: &'n Node<'a>,
    namespace: Option<&'n Text<'a>>,
    /// Descriptions of the enclosing namespaces.
    descriptions: &'n [&'n Text<'a>],
}

/// Accepts a tool list, an object with a list in `tools` (a request, or the result of MCP's `tools/list`), or a request
/// with the list in another member (such as Bedrock Converse).
fn entries<'n, 'a>(list: &'n Node<'a>) -> Result<&'n [Node<'a>], Error> {
    let found = locations().find_map(|(config, pointer)| {
        let tools = config.map_or(Some(list), |config| list.get(config))?.get("tools")?;
        Some((tools, pointer))
    });
    let (tools, pointer) = found.unwrap_or((list, ""));
    match tools.data() {
        Data::Array(entries) => Ok(entries),
        // Gemini's `tools` may be a single entry.
        Data::Object(_) if GROUPS.iter().any(|group| tools.get(group).is_some()) => Ok(core::slice::from_ref(tools)),
        Data::Null => Ok(&[]),
        _ => {
            let found = alloc::format!(
                "expected a list of tools, or an object with one in `tools` or `toolConfig.tools`, found {}",
                tools.kind()
            );
            Err(Error::new(Code::InvalidRequest, pointer, found))
        }
    }
}

/// Visits the tools of a list, except searches, toolsets and tools without a name.
fn visit_tools<'a>(entries: &[Node<'a>], visit: &mut dyn FnMut(&Listed<'_, 'a>)) {
    let mut descriptions = Vec::new();
    for entry in entries {
        let groups = GROUPS.iter().filter_map(|group| entry.get(group)?.as_array());
        groups.flatten().for_each(|function| visit_tool(function, None, false, &mut descriptions, visit));
        visit_tool(entry, None, false, &mut descriptions, visit);
    }
}

fn visit_tool<'n, 'a>(
    entry: &'n Node<'a>,
    outer: Option<&Text<'a>>,
    deferred: bool,
    descriptions: &mut Vec<&'n Text<'a>>,
    visit: &mut dyn FnMut(&Listed<'_, 'a>),
) {
    if has_type(entry, "namespace") {
        // The API supports only one level of namespaces.
        if outer.is_some() {
            return;
        }
        let none = Text::literal("");
        let namespace = entry.text_at("name").unwrap_or(&none);
        let deferred = deferred || entry.bool_at(tool::DEFERRAL_FLAG) == Some(true);
        let depth = descriptions.len();
        descriptions.extend(entry.text_at("description"));
        for member in entry.items_at("tools") {
            visit_tool(member, Some(namespace), deferred, descriptions, visit);
        }
        descriptions.truncate(depth);
        return;
    }
    if tool::kind(entry) != Kind::Tool || tool::is_placeholder(entry) {
        return;
    }
    let Some(name) = tool::name(entry) else { return };
    let name = crate::wire::responses::namespaces::flat(outer, name);
    // A tool in a deferred namespace may override the deferral with its own flag.
    let deferred = tool::deferral(entry).0 || deferred && entry.get(tool::DEFERRAL_FLAG).is_none();
    visit(&Listed { name, deferred, tool: entry, namespace: outer, descriptions });
}

impl<'a> Listed<'_, 'a> {
    pub(super) fn description(&self) -> Option<&Text<'a>> {
        tool::description(self.tool)
    }

    /// Returns the tool in the form of OpenAI Responses: unchanged if it already has this form, otherwise as a
    /// function.
    pub(super) fn definition(&self) -> Node<'a> {
        let has_this_form =
            type_of(self.tool).is_some() && self.tool.get("name").is_some() && self.tool.get("input_schema").is_none();
        let tool = if has_this_form { self.tool.clone() } else { self.function() };
        let Some(namespace) = self.namespace.filter(|name| !name.is_empty()) else { return tool };
        let mut enclosing =
            Node::record([("type", Node::literal("namespace")), ("name", Node::string(namespace.clone()))]);
        if let Some(object) = enclosing.as_object_mut() {
            if let Some(descriptions) = self.descriptions.last() {
                object.set("description", Node::string((*descriptions).clone()));
            }
            object.set("tools", Node::array(alloc::vec![tool]));
        }
        enclosing
    }

    fn function(&self) -> Node<'a> {
        let mut schema = self.schema().cloned().unwrap_or_default();
        envelope::normalize(&mut schema, &mut Recorder::off());
        if schema.get("$schema").is_some() {
            schema.remove("$schema");
        }
        let mut function =
            Node::record([("type", Node::literal("function")), ("name", Node::string(self.name.clone()))]);
        if let Some(object) = function.as_object_mut() {
            if let Some(description) = self.description() {
                object.set("description", Node::string(description.clone()));
            }
            object.set("parameters", schema);
            object.set("strict", Node::bool(false));
            object.set(tool::DEFERRAL_FLAG, Node::bool(true));
        }
        function
    }

    fn schema(&self) -> Option<&Node<'a>> {
        tool::schema(self.tool).or_else(|| self.tool.get("inputSchema"))
    }

    pub(super) fn texts(&self, add: &mut dyn FnMut(Field, &Text<'_>)) {
        add(Field::Name, &self.name);
        let titles = [Some(self.tool), self.tool.get("annotations")]
            .into_iter()
            .flatten()
            .filter_map(|node| node.get("title")?.as_text());
        for text in titles.chain(self.description()).chain(self.descriptions.iter().copied()) {
            add(Field::Description, text);
        }
        let Some(schema) = self.schema() else { return };
        // The visitor never fails, and one walk never exceeds the budget of a call.
        let _ = visit::walk(&Budget::new(schema.values_read(), None), schema, Keywords::ALL, &mut |node, path| {
            if let (Some(Keyword::Properties), Some(Step::Member(name))) = (path.keyword, path.pointer.steps().last()) {
                add(Field::ArgumentName, name);
            }
            if let Some(description) = node.text_at("description") {
                add(Field::ArgumentDescription, description);
            }
            Ok(Visit::Descend)
        });
    }
}

/// Maximum length of a pattern in the hosted search, in characters.
const MAX_PATTERN: usize = 200;
/// Maximum number of steps of one search: about a second of work.
const STEPS: usize = 20_000_000;

struct Pattern {
    pattern: crate::pattern::Pattern,
    budget: Budget,
}

impl Pattern {
    pub(super) fn new(pattern: &str) -> Result<Self, Error> {
        if pattern.trim().is_empty() {
            return Err(Error::new(Code::EmptyQuery, "/query", "expected a pattern, found none"));
        }
        let length = pattern.chars().count();
        if length > MAX_PATTERN {
            let message = format!("expected a pattern of at most {MAX_PATTERN} characters, found {length}");
            return Err(Error::new(Code::PatternTooLong, "/query", message));
        }
        let budget = Budget::new(0, Some(STEPS));
        match crate::pattern::Pattern::new(pattern, Spelling::Python, &budget) {
            Ok(read) => Ok(Pattern { pattern: read, budget }),
            Err(flaw) => Err(invalid_pattern(pattern, flaw)),
        }
    }

    pub(super) fn is_in(&self, text: &str) -> Result<bool, Error> {
        self.pattern.find(text, &self.budget).ok_or_else(|| {
            let message =
                format!("expected a pattern that needs at most {STEPS} steps to search, found one that needs more");
            Error::new(Code::InvalidPattern, "/query", message)
        })
    }
}

fn invalid_pattern(pattern: &str, flaw: Flaw) -> Error {
    let message =
        format!("expected a regular expression without lookaround or backreferences, found `{pattern}`: {flaw}");
    Error::new(Code::InvalidPattern, "/query", message)
}
