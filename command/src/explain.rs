//! `toolwire explain`: shows every change of one tool, with its reason and with excerpts before and after.

use toolwire::{
    internal::{
        self, describe,
        json::{self, Node, Object, Text},
    },
    options::Use,
    reports::{lossless, Accepts, Change, Guidance, ToolChange},
    Dialect,
};

use super::{
    arguments::{not_a_schema, ExplainArguments},
    document::{header, located, record},
    error::{CommandError, EXIT_FOUND, EXIT_SUCCESS},
    input::{pick, Input, Named, Subject},
    position::{value_at, InputPointers},
    profile::dialects_named,
    task::{Output, SourceText, Task},
    terminal::{counted, cut, shown, Paint, Terminal},
};

/// Maximum length of an excerpt without `--full`.
const EXCERPT: usize = 200;

pub(crate) struct Explain {
    pub(crate) arguments: ExplainArguments,
    pub(crate) input: SourceText,
}

struct Explanation {
    dialect: &'static Dialect,
    /// Changes with input pointers into the list, each with its excerpts.
    changes: Vec<(Change, Option<String>, Option<String>)>,
    /// Why the tool was refused: rule, pointer into the list, message.
    refused: Option<(&'static str, String, String)>,
}

impl Task for Explain {
    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError> {
        let Input { subject, pointers } = Input::read(&self.input.text)?.require_checkable()?;
        let entries = subject.entries().map_err(|error| pointers.locate(&error))?;
        let is_schema = matches!(subject, Subject::Schemas(_));
        if !is_schema && self.arguments.rewriting.used_as() != Use::Tool {
            return Err(not_a_schema());
        }
        let entry = pick(&subject, &entries, self.arguments.tool.as_deref(), "explain")?;
        let dialects = dialects_named(&self.arguments.dialects);
        let mut explained = Vec::with_capacity(dialects.len());
        for dialect in dialects {
            explained.push(self.explain_tool(&entry, dialect, &pointers)?);
        }
        let code =
            if explained.iter().any(|explanation| explanation.refused.is_some()) { EXIT_FOUND } else { EXIT_SUCCESS };
        if self.arguments.machine.json {
            return Ok(Output::json(&self.document(&entry, &pointers, &explained)).with_exit_code(code));
        }
        let name = entry.name.clone().unwrap_or_else(|| subject.noun().to_string());
        let mut out = String::new();
        for explanation in &explained {
            if !out.is_empty() {
                out.push('\n');
            }
            self.render(&name, explanation, &pointers, terminal.out, &mut out);
        }
        Ok(Output::new(out).with_exit_code(code))
    }
}

impl Explain {
    fn explain_tool(
        &self,
        entry: &Named,
        dialect: &'static Dialect,
        pointers: &InputPointers,
    ) -> Result<Explanation, CommandError> {
        let before = Input::read(&self.input.text)?.require_checkable()?.subject;
        let after = Input::read(&self.input.text)?.require_checkable()?.subject;
        let options = self.arguments.rewriting.options(dialect.id());
        let failed = |error: toolwire::Error| pointers.locate(&error);
        let excerpt = |node: Option<&Node<'_>>| node.map(json::write);
        match (before, after) {
            (Subject::Schemas(before), Subject::Schemas(mut after)) => {
                let at: usize = entry.pointer.trim_start_matches('/').parse().unwrap_or_default();
                let (Some(before), Some(schema)) = (before.get(at), after.get_mut(at)) else {
                    return Ok(Explanation::new(dialect));
                };
                let mut explained = Explanation::new(dialect);
                match internal::sanitize(schema, &options, true) {
                    Ok(changes) => explained.changes.extend(changes.into_iter().map(|mut change| {
                        let was = excerpt(value_at(before, &change.pointer));
                        let is =
                            excerpt(change.output_pointer.as_deref().and_then(|pointer| value_at(schema, pointer)));
                        change.pointer.insert_str(0, &entry.pointer);
                        (change, was, is)
                    })),
                    // An option that the dialect does not have is an error of the command line; other errors are
                    // findings.
                    Err(error) if CommandError::from_core(&error, "").exit_code() == EXIT_FOUND => {
                        let pointer = format!("{}{}", entry.pointer, error.pointer());
                        explained.refused = Some((error.code().as_str(), pointer, error.message().into()));
                    }
                    Err(error) => return Err(failed(error)),
                }
                Ok(explained)
            }
            (Subject::Tools(before) | Subject::Request(before), Subject::Tools(after) | Subject::Request(after)) => {
                // The whole list is rewritten, because names and the limits of a request depend on all tools.
                let mut whole = internal::tools_options(dialect.id());
                whole.sanitize = options;
                let (tools, outcome) = internal::sanitize_tools(after, &whole, true).map_err(failed)?;
                let mut explained = Explanation::new(dialect);
                let ours = |pointer: &str| {
                    pointer
                        .strip_prefix(entry.pointer.as_str())
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                };
                for ToolChange { change, .. } in outcome.changes.into_iter().filter(|about| ours(&about.change.pointer))
                {
                    let was = excerpt(value_at(&before, &change.pointer));
                    let is = excerpt(change.output_pointer.as_deref().and_then(|pointer| value_at(&tools, pointer)));
                    explained.changes.push((change, was, is));
                }
                let refused = outcome.quarantined.into_iter().find(|refused| ours(&refused.pointer));
                explained.refused = refused.map(|refused| (refused.rule, refused.pointer, refused.message));
                Ok(explained)
            }
            _ => Ok(Explanation::new(dialect)),
        }
    }

    fn render(&self, name: &str, explanation: &Explanation, pointers: &InputPointers, paint: Paint, out: &mut String) {
        let title = format!("{} in {}", shown(name), explanation.dialect.name);
        if let Some((rule, pointer, message)) = &explanation.refused {
            out.push_str(&format!("{}: {}\n", paint.bold(&title), paint.bad("refused")));
            out.push_str(&format!("  at {}\n  {rule}: {}\n", place_of(pointers, pointer), shown(message)));
            return;
        }
        let changes: Vec<Change> = explanation.changes.iter().map(|(change, _, _)| change.clone()).collect();
        let verdict = match (changes.is_empty(), lossless(&changes)) {
            (true, _) => paint.good("unchanged"),
            (_, true) => format!("{}, {}", counted(changes.len(), "change"), paint.good("lossless")),
            _ => format!("{}, {}", counted(changes.len(), "change"), paint.doubtful("something is lost")),
        };
        out.push_str(&format!("{}: {verdict}\n", paint.bold(&title)));
        let excerpt = |text: &Option<String>| match text {
            Some(text) if self.arguments.full => shown(text).into_owned(),
            Some(text) => cut(&shown(text), EXCERPT).into_owned(),
            None => "(nothing)".into(),
        };
        for (number, (change, was, is)) in explanation.changes.iter().enumerate() {
            out.push_str(&format!(
                "\n{}. {}  {}\n",
                number + 1,
                paint.bold(&place_of(pointers, &change.pointer)),
                paint.dim(change.rule.id())
            ));
            out.push_str(&format!("   {}\n", shown(&change.message)));
            out.push_str(&format!("   effect   {}\n", effect(change, paint)));
            out.push_str(&format!("   before   {}\n", paint.bad(&excerpt(was))));
            let at = change
                .output_pointer
                .as_deref()
                .map(|pointer| paint.dim(&format!("  at {}", shown_pointer(pointer))))
                .unwrap_or_default();
            out.push_str(&format!("   after    {}{at}\n", paint.good(&excerpt(is))));
            out.push_str(&format!("   because  {}\n", shown(&change.reason.to_string())));
        }
    }

    fn document<'e>(&self, entry: &Named, pointers: &InputPointers, explained: &'e [Explanation]) -> Node<'e> {
        let excerpt =
            |text: &'e Option<String>| text.as_deref().and_then(|text| json::read(text).ok()).unwrap_or_default();
        let dialects = explained.iter().map(|explanation| {
            let all: Vec<Change> = explanation.changes.iter().map(|(change, _, _)| change.clone()).collect();
            let changes = explanation.changes.iter().map(|(change, was, is)| {
                let mut members = located(pointers, &change.pointer);
                if let json::Data::Object(object) = describe::change(change).into_data() {
                    members.extend(
                        object
                            .into_members()
                            .into_iter()
                            .filter(|member| !member.key.is("pointer"))
                            .map(|member| (member.key, member.value)),
                    );
                }
                members.extend([(Text::new("before"), excerpt(was)), (Text::new("after"), excerpt(is))]);
                Node::object(Object::from_iter(members))
            });
            let changes = Node::array(changes.collect());
            let refused = explanation.refused.as_ref().map_or_else(Node::default, |(rule, pointer, message)| {
                let mut members = Vec::from([(Text::new("rule"), Node::string(*rule))]);
                members.extend(located(pointers, pointer));
                members.push((Text::new("message"), Node::string(message.as_str())));
                Node::object(Object::from_iter(members))
            });
            record([
                ("dialect", Node::string(explanation.dialect.name)),
                ("lossless", Node::bool(refused.is_null() && lossless(&all))),
                ("changes", changes),
                ("refused", refused),
            ])
        });
        let mut members = header("explain", &self.input.source);
        members.push((Text::new("tool"), entry.name.clone().map_or_else(Node::default, Node::string)));
        members.extend(located(pointers, &entry.pointer));
        members.push((Text::new("dialects"), Node::array(dialects.collect())));
        Node::object(Object::from_iter(members))
    }
}

impl Explanation {
    const fn new(dialect: &'static Dialect) -> Explanation {
        Explanation { dialect, changes: Vec::new(), refused: None }
    }
}

fn effect(change: &Change, paint: Paint) -> String {
    let arguments = match change.accepts {
        Accepts::Same if change.encoded => "accepts the same arguments once they are restored".to_string(),
        Accepts::Same => "accepts the same arguments".to_string(),
        Accepts::Closed => "accepts no undeclared properties (closed)".to_string(),
        Accepts::Wider => paint.doubtful("accepts more arguments (wider)"),
        Accepts::Narrower => paint.bad("accepts fewer arguments (narrower)"),
        Accepts::Mixed => paint.bad("accepts other arguments (mixed)"),
    };
    let guidance = match change.guidance {
        Guidance::Same => "the model reads the same".to_string(),
        Guidance::Moved => "the model reads it elsewhere (moved)".to_string(),
        Guidance::Lost => paint.doubtful("the model no longer reads it (lost)"),
    };
    format!("{arguments}; {guidance}")
}

fn place_of(pointers: &InputPointers, pointer: &str) -> String {
    match pointers.of(pointer) {
        (Some(line), pointer) => format!("line {line} {}", shown_pointer(&pointer)),
        (None, pointer) => shown_pointer(&pointer),
    }
}

fn shown_pointer(pointer: &str) -> String {
    if pointer.is_empty() {
        "(root)".into()
    } else {
        shown(pointer).into_owned()
    }
}
