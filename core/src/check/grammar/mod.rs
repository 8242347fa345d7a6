//! Checks a document against a grammar: walks over the document and passes each keyword to the file that checks it.
//!
//! This module does not depend on the dialect's name; every fact comes from the grammar and the dialect's limits.

mod containers;
mod keywords;
mod limits;
mod reference_positions;
mod references;
mod types;

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{Extent, Found, Violation};
use crate::{
    budget::Budget,
    dialect::{
        grammar::{Grammar, Trail},
        Dialect,
    },
    error::Error,
    json::{Node, Object, Pointer, Step, Text},
    options::SanitizeOptions,
    rules::Constraint,
    schema::{
        self,
        keyword::{Draft, Keyword, Keywords},
        misplaced::{self, Misplaced},
        references::Form,
        visit::{self, SchemaPath, Visit},
    },
};
use references::{Nesting, References};

pub(super) fn check(
    root: &Node<'_>,
    form: Form,
    (grammar, dialect): (&Grammar, &Dialect),
    options: &SanitizeOptions,
    extent: Extent,
    budget: &Budget,
) -> Result<Vec<Violation>, Error> {
    let mut report = Report {
        budget,
        grammar,
        dialect,
        extent,
        max_bytes: options.max_bytes.or(dialect.limit("maxBytes")),
        max_depth: dialect.limit("propertyDepth").unwrap_or(usize::MAX),
        max_properties: dialect.limit("properties").unwrap_or(usize::MAX),
        properties: 0,
        document_counts: DocumentCounts::default(),
        found: Found::new(extent),
    };
    limits::check_document(root, &mut report);
    if root.as_object().is_none() && !(grammar.boolean_root && is_schema_value(root, grammar)) {
        report.add(root, Constraint::RootNotSchema, String::new(), "a schema (an object)", &seen(root));
        return Ok(report.found.finish());
    }
    let is_object =
        |schema: &Node<'_>| schema.get(Keyword::Type).is_some_and(|value| types::is_name(value, "object", grammar));
    let mut is_object_root = is_object(root);
    if grammar.root_reference && root.get(Keyword::Ref).is_some() {
        let references = schema::references::of(root, form, Draft::of(root), budget)?;
        let target = references.target_of(root).and_then(|target| references.target_node(root, target));
        is_object_root |= target.is_some_and(is_object);
    }
    let is_empty_root = grammar.empty_root && root.as_object().is_some_and(Object::is_empty);
    if grammar.object_root && !is_object_root && !is_empty_root {
        let absent = || misplaced::find_misplaced(root).map_or_else(|| "none".to_string(), Misplaced::in_words);
        let found = root.get(Keyword::Type).map_or_else(absent, seen);
        report.add(root, Constraint::RootObject, String::new(), "`type: \"object\"` at the root", &found);
    }
    if report.is_decided() {
        return Ok(report.found.finish());
    }
    let resolves = grammar.refs.resolves() && schema::references::mentions_references(root);
    let resolved =
        if resolves { schema::references::of(root, form, Draft::of(root), budget)? } else { Default::default() };
    let mut references = References::new(root, &resolved);
    let mut nesting = Nesting::default();
    let mut trail = Trail::new(grammar.walked);
    visit::walk(budget, root, grammar.through, &mut |node, path| {
        let Some(object) = node.as_object().filter(|_| !is_misplaced(path, grammar) && !report.is_decided()) else {
            return Ok(Visit::Skip);
        };
        let is_walked = trail.reaches(path.depth, path.keyword);
        let is_zod = misplaced::zod_definition(node).is_some();
        let schema = Schema { object, pointer: path.pointer, present: Keywords::in_object(object), is_walked, is_zod };
        // The number of enclosing `properties` is at most the number of enclosing schemas.
        let may_be_too_deep = path.keyword == Some(Keyword::Properties) && path.depth > report.max_depth;
        if may_be_too_deep && containers::depth(path) == report.max_depth.saturating_add(1) {
            let depth = containers::depth(path);
            let (expected, found) =
                (format!("`properties` nested at most {} levels deep", report.max_depth), format!("level {depth}"));
            report.add(node, Constraint::TooDeep, path.pointer.render(), &expected, &found);
        }
        if schema.present.contains(Keyword::Ref)
            && grammar.refs.only_under.is_none()
            && path.keyword.is_some_and(|keyword| grammar.refs.not_directly_under.contains(keyword))
        {
            if let Some(reference) = object.get(Keyword::Ref) {
                let expected = format!("no reference directly in `{}`", path.keyword.map_or("", Keyword::name));
                report.add(reference, Constraint::RefPlace, schema.at("$ref"), &expected, "one");
            }
        }
        check_keywords(&schema, &mut report);
        containers::check(node, &schema, &mut report);
        if schema.present.contains(Keyword::Ref) && !grammar.refuses.contains(Keyword::Ref) {
            if let Some(reference) = object.get(Keyword::Ref) {
                references::check_reference(
                    &schema,
                    reference,
                    containers::depth(path),
                    &mut references,
                    &mut nesting,
                    &mut report,
                );
            }
        }
        Ok(Visit::Descend)
    })?;
    if !report.is_decided() {
        reference_positions::check(root, &mut references, &mut report);
        references::check_recursion(root, &resolved, &mut report, budget)?;
        references::check_left_recursion(root, &resolved, &mut report, budget)?;
        limits::check_parts(root, dialect, &mut report, budget)?;
        limits::check_complexity(root, dialect, &mut report, budget)?;
    }
    Ok(report.found.finish())
}

/// Returns true if a list is in place of a schema, or a schema in place of a list. The parent's keyword is reported
/// instead, and the content is not checked.
fn is_misplaced(path: &SchemaPath<'_, '_>, grammar: &Grammar) -> bool {
    let is_item = matches!(path.pointer.steps().last(), Some(Step::Index(_)));
    match path.keyword {
        Some(Keyword::AnyOf) => !is_item,
        Some(Keyword::Items) => is_item && !grammar.array_items,
        _ => false,
    }
}

fn check_keywords(schema: &Schema<'_, '_>, report: &mut Report<'_>) {
    for member in schema.object {
        if report.is_decided() {
            return;
        }
        let keyword = Keyword::named(&member.key);
        if !keywords::check_key(schema, member, keyword, report) {
            continue;
        }
        let Some(keyword) = keyword else { continue };
        let value = &member.value;
        match keyword {
            Keyword::Type => types::check_type(schema, value, report),
            Keyword::Enum => {
                report.document_counts.add_enum(value);
                types::check_enum(schema, value, report);
            }
            Keyword::Properties => {
                report.document_counts.add_level(schema.pointer);
                containers::check_properties(schema, value, report);
            }
            Keyword::Required => containers::check_required(schema, value, report),
            Keyword::AdditionalProperties => containers::check_additional_properties(schema, value, report),
            Keyword::Items => containers::check_items(schema, value, report),
            Keyword::AnyOf => keywords::check_any_of(schema, value, report),
            Keyword::AllOf | Keyword::OneOf
                if !report.grammar.metaschema && !report.grammar.opaque.contains(keyword) =>
            {
                keywords::check_all_of_or_one_of(schema, keyword, value, report);
            }
            Keyword::Defs => references::check_definitions(schema, value, report),
            Keyword::Ref => {}
            _ if report.grammar.strings.contains(keyword) => {
                let may_be_null = report.grammar.nullable_strings.contains(keyword);
                if value.as_text().is_none() && !(may_be_null && value.is_null()) {
                    report.add(value, Constraint::NotAString, schema.at(keyword.name()), "a string", value.kind());
                }
            }
            _ if report.grammar.fields.contains(keyword) => types::check_field(schema, keyword, value, report),
            _ if report.grammar.metaschema || is_value_read(schema, keyword, report.grammar) => {
                keywords::check_value(schema, keyword, value, report)
            }
            _ => {}
        }
        match keyword {
            Keyword::Pattern => types::check_pattern(schema, value, report),
            Keyword::PatternProperties => types::check_pattern_properties(schema, value, report),
            Keyword::Format => types::check_format(schema, value, report),
            _ => {}
        }
    }
}

/// Returns true if the API validates the value of this keyword, for APIs that validate only some keywords. A keyword
/// that does not apply to the sibling `type` is not validated.
fn is_value_read(schema: &Schema<'_, '_>, keyword: Keyword, grammar: &Grammar) -> bool {
    let required_type = match keyword {
        Keyword::MultipleOf => {
            let is_number = |types: &Node<'_>| {
                types::contains_type(types, "number", grammar) || types::contains_type(types, "integer", grammar)
            };
            return grammar.checked_values.contains(keyword) && schema.get(Keyword::Type).is_some_and(is_number);
        }
        // The API does not validate the bounds of other numbers.
        Keyword::Minimum | Keyword::Maximum | Keyword::ExclusiveMinimum | Keyword::ExclusiveMaximum => "integer",
        _ => "string",
    };
    let types = schema.get(Keyword::Type);
    grammar.checked_values.contains(keyword)
        && types.map_or(required_type == "string", |types| types::contains_type(types, required_type, grammar))
        && !schema.present.intersects(Keywords::of(&[Keyword::Ref, Keyword::AnyOf, Keyword::OneOf]))
}

/// A schema and its position.
struct Schema<'s, 'a> {
    object: &'s Object<'a>,
    pointer: &'s Pointer<'a>,
    present: Keywords,
    /// True if the rules about types apply to the schema: see [`Grammar::walked`].
    is_walked: bool,
    /// True for a serialized Zod validator.
    is_zod: bool,
}

impl<'s, 'a> Schema<'s, 'a> {
    fn get(&self, keyword: Keyword) -> Option<&'s Node<'a>> {
        if self.present.contains(keyword) {
            self.object.get(keyword)
        } else {
            None
        }
    }

    fn is_root(&self) -> bool {
        self.pointer.steps().is_empty()
    }

    /// Returns false for a schema inside a keyword that is ignored, removed or reinterpreted. Also returns false inside
    /// `propertyNames`: its subschemas apply to strings only, even without `type`.
    fn is_read(&self, grammar: &Grammar) -> bool {
        let is_not_read = |step: &Step<'_>| {
            let Step::Name(name) = step else { return false };
            Keyword::named(&Text::literal(name)).is_some_and(|keyword| {
                grammar.ignores.contains(keyword)
                    || grammar.refuses.contains(keyword)
                    || keyword == Keyword::PropertyNames
            })
        };
        !self.pointer.steps().iter().any(is_not_read)
    }

    fn at(&self, keyword: &str) -> String {
        self.pointer.render_with(keyword)
    }

    /// Reports `keyword` below a property or definition whose name contains `{` and `}`. A validator that constructs
    /// paths from such names interprets the braces as an index. (It does not check `patternProperties` and conditions.)
    fn not_below_braces(&self, keyword: Keyword, value: &Node<'_>, report: &mut Report<'_>) {
        if !report.grammar.names.no_braces {
            return;
        }
        let name_with_braces = self.pointer.steps().windows(2).rev().find_map(|steps| match steps {
            [Step::Name("properties" | "$defs" | "definitions"), Step::Member(name)] if has_braces(name) => Some(name),
            _ => None,
        });
        if let Some(name) = name_with_braces {
            let expected = format!("no `{}` below a name with `{{` and `}}`", keyword.name());
            report.add(value, Constraint::BracesInName, self.at(keyword.name()), &expected, &quoted(name));
        }
    }
}

fn has_braces(name: &Text<'_>) -> bool {
    let name = name.display();
    name.contains('{') && name.contains('}')
}

struct Report<'g> {
    budget: &'g Budget,
    grammar: &'g Grammar,
    dialect: &'g Dialect,
    extent: Extent,
    max_bytes: Option<usize>,
    max_depth: usize,
    max_properties: usize,
    /// Number of properties counted so far.
    properties: usize,
    document_counts: DocumentCounts,
    found: Found,
}

/// Further counts over the whole document.
#[derive(Default)]
struct DocumentCounts {
    /// Depth of nested `properties`.
    levels: usize,
    /// Number of values in all `enum` lists; `longest` is the length of the longest list.
    values: usize,
    longest: usize,
}

impl DocumentCounts {
    fn add_level(&mut self, pointer: &Pointer<'_>) {
        let steps = pointer.steps();
        // Each level takes two steps of the pointer, so usually no counting is necessary.
        if steps.len() / 2 >= self.levels {
            let enclosing = steps.iter().filter(|step| matches!(step, Step::Name("properties"))).count();
            self.levels = self.levels.max(enclosing + 1);
        }
    }

    fn add_enum(&mut self, values: &Node<'_>) {
        let count = values.as_array().map_or(0, <[_]>::len);
        self.values += count;
        self.longest = self.longest.max(count);
    }
}

impl Report<'_> {
    fn is_decided(&self) -> bool {
        self.extent == Extent::First && !self.found.is_empty()
    }

    fn add(&mut self, value: &Node<'_>, rule: Constraint, pointer: String, expected: &str, found: &str) {
        if self.is_decided() {
            return;
        }
        let severity = self.dialect.severity_of(rule, &pointer);
        let message = format!("expected {expected}, found {found}");
        self.found.add(value, (rule, severity), (pointer, message), self.budget);
    }
}

fn is_schema_value(value: &Node<'_>, grammar: &Grammar) -> bool {
    value.as_object().is_some()
        || (grammar.boolean_schemas && value.as_bool().is_some_and(|value| value || grammar.false_schemas))
}

/// Describes a value for a message: scalars literally, other values by their kind.
fn seen(value: &Node<'_>) -> String {
    match (value.as_text(), value.as_number()) {
        (Some(text), _) => quoted(text),
        (_, Some(number)) => format!("`{}`", shortened(number)),
        _ => match value.as_bool() {
            Some(value) => format!("`{value}`"),
            None => value.kind().to_string(),
        },
    }
}

fn quoted(text: &Text<'_>) -> String {
    format!("`{}`", shortened(&text.display()))
}

/// Truncates a long name or value, so that a message remains readable.
fn shortened(text: &str) -> String {
    const MAX_CHARACTERS: usize = 80;
    match text.char_indices().nth(MAX_CHARACTERS) {
        None => text.to_string(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
