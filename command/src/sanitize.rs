//! `toolwire sanitize`: a schema, a tool list or a request in one dialect.

use toolwire::{
    adapt_request_json,
    internal::{self, describe},
    json::{self, Member, Node, Object, Text},
    lossless, AdaptOptions, Change, Quarantined, ToolsOptions,
};

use super::{
    arguments::{meant, SanitizeArguments},
    defer,
    error::{place, Fault, FINE, FOUND},
    input::{Input, Places, Subject},
    task::{Given, Outcome, Task},
    terminal::{counted, shown, Terminal},
};

/// The command at work.
pub(crate) struct Sanitize {
    pub(crate) arguments: SanitizeArguments,
    pub(crate) given: Given,
}

impl Task for Sanitize {
    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Outcome, Fault> {
        let Input { subject, places } = Input::read(&self.given.text)?;
        match subject {
            Subject::Tools(tools) => self.tools(tools, &places, terminal),
            Subject::Schemas(schemas) => self.schemas(schemas, &places, terminal),
            Subject::Request(_) => self.request(&places, terminal),
        }
    }
}

impl Sanitize {
    fn options(&self) -> ToolsOptions {
        let mut options = ToolsOptions::new(self.arguments.dialect.as_str());
        options.sanitize = self.arguments.rewriting.options(&self.arguments.dialect);
        options.format = meant(self.arguments.format.as_deref());
        options.fallback = self.arguments.fallback.clone();
        options
    }

    fn tools(&self, tools: Node<'_>, places: &Places, terminal: &Terminal) -> Result<Outcome, Fault> {
        let result = internal::sanitize_tools(tools, &self.options()).map_err(|error| places.fault(&error))?;
        let mut outcome = if self.arguments.machine.json {
            Outcome::json(&beside("tools", result.tools.clone(), describe::tools(&result)))
        } else {
            Outcome::text(&json::write(&result.tools), self.arguments.layout.compact)
        };
        self.refusals(&mut outcome, &result.quarantined, places, terminal);
        let losing = result.changes.iter().filter(|about| !lossless(std::slice::from_ref(&about.change))).count();
        self.losses(&mut outcome, losing, terminal);
        Ok(outcome.ends(if result.quarantined.is_empty() { FINE } else { FOUND }))
    }

    fn request(&self, places: &Places, terminal: &Terminal) -> Result<Outcome, Fault> {
        let mut options = AdaptOptions::new(self.arguments.dialect.as_str());
        options.tools = self.options();
        let adapted = adapt_request_json(&self.given.text, &options).map_err(|error| places.fault(&error))?;
        let mut outcome = if self.arguments.machine.json {
            let request = json::read(&adapted.request).map_err(|error| places.fault(&error))?;
            Outcome::json(&beside("request", request, describe::adapted(&adapted.report, &adapted.restore)))
        } else {
            Outcome::text(&adapted.request, self.arguments.layout.compact)
        };
        if let Some(report) = adapted.report.deferred.as_ref().filter(|report| !report.hidden.is_empty() || !report.loaded.is_empty()) {
            defer::tell(report, &mut outcome, terminal);
        }
        self.refusals(&mut outcome, &adapted.report.quarantined, places, terminal);
        let losing = adapted.report.changes.iter().filter(|about| !lossless(std::slice::from_ref(&about.change))).count();
        self.losses(&mut outcome, losing, terminal);
        Ok(outcome.ends(if adapted.report.quarantined.is_empty() { FINE } else { FOUND }))
    }

    /// One alone gives one; several come as they came, as a list or by lines.
    fn schemas(&self, schemas: Vec<Node<'_>>, places: &Places, terminal: &Terminal) -> Result<Outcome, Fault> {
        let options = self.options().sanitize;
        let (mut done, mut losing) = (Vec::with_capacity(schemas.len()), 0);
        for (at, mut schema) in schemas.into_iter().enumerate() {
            let changes: Vec<Change> = internal::sanitize(&mut schema, &options, true).map_err(|error| {
                let (line, pointer) = places.of(&format!("/{at}{}", error.pointer()));
                Fault { line, pointer, ..Fault::of(&error, "") }
            })?;
            losing += changes.iter().filter(|change| !lossless(std::slice::from_ref(*change))).count();
            done.push(if self.arguments.machine.json { beside("schema", schema, describe::rewrite(&changes)) } else { schema });
        }
        let compact = self.arguments.layout.compact || self.arguments.machine.json;
        let mut outcome = match places {
            Places::Alone(_) => Outcome::text(&done.first().map(json::write).unwrap_or_default(), compact),
            Places::Below(_) => Outcome::text(&json::write(&Node::array(done)), compact),
            Places::Lines(_) => Outcome::new(done.iter().map(|one| json::write(one) + "\n").collect()),
        };
        self.losses(&mut outcome, losing, terminal);
        Ok(outcome)
    }

    fn refusals(&self, outcome: &mut Outcome, refused: &[Quarantined], places: &Places, terminal: &Terminal) {
        for tool in refused {
            let (line, pointer) = places.of(&tool.pointer);
            let name = tool.name.as_ref().map(|name| format!(" `{}` left out:", shown(name))).unwrap_or_default();
            let place = place(&self.given.source, line, &pointer);
            let (said, rule, message) = (terminal.err.bad("toolwire:"), tool.rule, shown(&tool.message));
            outcome.says(&format!("{said} {place}:{name} {rule}: {message}"));
        }
    }

    fn losses(&self, outcome: &mut Outcome, losing: usize, terminal: &Terminal) {
        if losing > 0 && !self.arguments.machine.json {
            let verb = if losing == 1 { "loses" } else { "lose" };
            let said =
                format!("{} for {} {verb} something; `toolwire explain` says what", counted(losing, "change"), self.arguments.dialect);
            outcome.says(&format!("{} {said}", terminal.err.doubtful("toolwire:")));
        }
    }
}

/// What the `WithReport` forms return: the result under its name, and what stands beside it.
pub(crate) fn beside<'a>(name: &'static str, result: Node<'a>, report: Node<'static>) -> Node<'a> {
    let mut members = Vec::from([Member { key: Text::new(name), value: result }]);
    if let json::Data::Object(object) = report.into_data() {
        members.extend(object.into_members());
    }
    Node::object(Object::from_members(members))
}
