//! Size limits of strict modes: measures the lowered schema, and cuts the plain one until the lowered one is within the
//! limits.
//!
//! Each limit has a name that a dialect may list: `propertiesPerPart`, `depthPerPart` (levels of `properties`),
//! `enumValuesPerPart`, `charactersPerPart` (of names, values and constants), and `longEnumCharacters`. The root and
//! every definition are parts; references are not followed. `maxBytes` counts the whole schema.

use alloc::{format, string::String};

use crate::{
    budget::Budget,
    collections::Map,
    dialect::Dialect,
    error::{Code, Error},
    json::{plain_length, Node, Object, Step},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        encode::{layout, lower},
    },
    schema::{
        keyword::{Keyword, Keywords},
        visit::{self, Polarity, SchemaPath, Visit, VisitorMut},
    },
};

const ENUM: ChangeKind = ChangeKind::of(Rule::DropLongEnum);
const CUT: ChangeKind = ChangeKind::of(Rule::FitCutSchema);

/// Up to this many values, an `enum` may have any number of characters.
const SHORT: usize = 250;

/// Measured size of one part.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    properties: usize,
    nesting: usize,
    values: usize,
    characters: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excess {
    /// One `enum` has too many characters.
    List,
    /// All `enum` lists together have too many values.
    Values { found: usize, limit: usize },
    /// Names, values and constants have too many characters.
    Characters { found: usize, limit: usize },
    /// Too many properties.
    Properties { found: usize, limit: usize },
    /// Properties nest too deep.
    Nesting { found: usize, limit: usize },
    /// The compact text of the whole schema is too long.
    Bytes { found: usize, limit: usize },
}

/// Cuts a plain schema until its lowered form is within the dialect's limits.
pub(in crate::sanitize) fn fit(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    let dialect = context.dialect;
    let limits = ["propertiesPerPart", "depthPerPart", "enumValuesPerPart", "longEnumCharacters", "charactersPerPart"];
    let max_bytes = context.max_bytes.filter(|_| context.grammar.encodes()).unwrap_or(usize::MAX);
    if max_bytes == usize::MAX && !limits.iter().any(|name| dialect.limit(name).is_some()) {
        return Ok(());
    }
    if is_small(root, dialect, max_bytes, &context.budget)? {
        return Ok(());
    }
    let max_list = dialect.limit("longEnumCharacters").unwrap_or(usize::MAX);
    loop {
        let mut written = root.copy(&context.budget);
        let noted = context.diagnostics.mute();
        let result = lower::write(&mut written, context);
        context.diagnostics.unmute(noted);
        result?;
        let bytes = plain_length(&written);
        let too_long = (bytes > max_bytes).then_some(Excess::Bytes { found: bytes, limit: max_bytes });
        let excess = excess(&written, dialect, max_list, &context.budget)?.or(too_long);
        let Some(excess) = excess else { return Ok(()) };
        let done = match excess {
            Excess::List => drop_lists(root, context, |list| is_long(list, max_list))?,
            Excess::Values { .. } => drop_longest(root, context, |values| values.len())?,
            Excess::Characters { .. } => drop_longest(root, context, characters)? || cut_deepest(root, context)?,
            Excess::Properties { .. } => cut_deepest(root, context)?,
            Excess::Nesting { limit, .. } => cut_below(root, context, limit)?,
            Excess::Bytes { found, limit } => shorten(root, context, found, limit)?,
        };
        if !done {
            return Err(Error::new(Code::LimitExceeded, "", message(excess)));
        }
    }
}

/// Shortens a plain schema in proportion to the excess of its lowered form. Returns true if it became shorter.
fn shorten(root: &mut Node<'_>, context: &mut PassContext, found: usize, limit: usize) -> Result<bool, Error> {
    let before = plain_length(root);
    // In 64 bits, because the product may overflow `usize` on WebAssembly.
    let share = before as u64 * limit as u64 / found as u64;
    let bytes = usize::try_from(share).unwrap_or(usize::MAX).min(before.saturating_sub(1));
    match super::to_bytes(root, bytes, context) {
        // The schema cannot get shorter; the caller measures the lowered form again.
        Err(error) if error.code() == Code::LimitExceeded => {}
        result => result?,
    }
    Ok(plain_length(root) < before)
}

/// True if the schema is so small that lowering cannot exceed a limit, so it need not be lowered to be measured.
///
/// Upper bounds: `additionalProperties` becomes at most two levels of properties (a property with pairs in it), a
/// branch may be wrapped in an object, and the deepest schema may become two levels. Each schema may add three names,
/// of at most 21 characters plus underscores that keep them distinct. Null is one more value of an `enum`, and a schema
/// without `enum` may get two values. The definition of "anything" is counted as well.
fn is_small(root: &Node<'_>, dialect: &Dialect, max_bytes: usize, budget: &Budget) -> Result<bool, Error> {
    const NAMES: usize = 3;
    const NAME: usize = 32;
    // Length of an encoded schema without keywords: its members and its description.
    const SCHEMA: usize = 256;
    let (mut schemas, mut properties, mut deepest, mut values, mut longest) = (8, 0, 2, 0, 0);
    // Maximum number of levels of properties that a step becomes.
    let levels = |step: &Step<'_>| match step {
        Step::Name("additionalProperties") => 2,
        Step::Name("properties" | "anyOf") => 1,
        _ => 0,
    };
    visit::walk(budget, root, Keywords::ALL, &mut |node, place| {
        schemas += 1;
        // A shallower schema cannot exceed the maximum, so its steps are not counted.
        if 2 * place.depth > deepest {
            deepest = deepest.max(place.pointer.steps().iter().map(levels).sum());
        }
        for member in node.as_object().into_iter().flatten() {
            match Keyword::named(&member.key) {
                Some(Keyword::Properties) => properties += member.value.as_object().map_or(0, Object::len),
                Some(Keyword::Enum) => {
                    let count = member.value.as_array().map_or(0, <[_]>::len) + 1;
                    values += count;
                    longest = longest.max(count);
                }
                _ => {}
            }
        }
        Ok(Visit::Descend)
    })?;
    let within = |found: usize, name: &str| dialect.limit(name).is_none_or(|limit| found <= limit);
    let names = NAMES * schemas;
    let length = crate::json::length(root);
    Ok(length + schemas * SCHEMA <= max_bytes
        && within(deepest + 2, "depthPerPart")
        && within(properties + names, "propertiesPerPart")
        && within(values + 2 * schemas, "enumValuesPerPart")
        && (longest <= SHORT || dialect.limit("longEnumCharacters").is_none())
        && within(length + names * NAME + properties, "charactersPerPart"))
}

fn message(excess: Excess) -> String {
    let (what, found, limit) = match excess {
        Excess::List => {
            return String::from(
                "expected fewer characters in an `enum` after removing everything that can be removed",
            );
        }
        Excess::Values { found, limit } => ("values in `enum`", found, limit),
        Excess::Characters { found, limit } => ("characters of names and values", found, limit),
        Excess::Properties { found, limit } => ("properties", found, limit),
        Excess::Nesting { found, limit } => ("levels of properties", found, limit),
        Excess::Bytes { found, limit } => ("bytes", found, limit),
    };
    format!("expected at most {limit} {what} after removing everything that can be removed, found {found}")
}

/// Returns the name of the definition that a schema is in, or `None` for the root.
fn part(place: &SchemaPath<'_, '_>) -> Option<String> {
    match place.pointer.steps() {
        [Step::Name("$defs" | "definitions"), Step::Member(name), ..] => Some(name.display().into_owned()),
        _ => None,
    }
}

/// Returns the number of `properties` above a schema.
fn level(place: &SchemaPath<'_, '_>) -> usize {
    place.pointer.steps().iter().filter(|step| **step == Step::Name("properties")).count()
}

fn excess(root: &Node<'_>, dialect: &Dialect, max_list: usize, budget: &Budget) -> Result<Option<Excess>, Error> {
    let mut parts: Map<Option<String>, Amount> = Map::new();
    let mut long = false;
    visit::walk(budget, root, Keywords::ALL, &mut |node, place| {
        let Some(object) = node.as_object() else { return Ok(Visit::Skip) };
        let amount = parts.entry(part(place)).or_default();
        let table = object.get(Keyword::Properties).and_then(Node::as_object);
        let names = table.into_iter().flatten().map(|member| member.key.code_points().count());
        amount.properties += table.map_or(0, Object::len);
        amount.characters += names.sum::<usize>();
        if table.is_some_and(|table| !table.is_empty()) {
            amount.nesting = amount.nesting.max(level(place) + 1);
        }
        if let Some(values) = object.get(Keyword::Enum).and_then(Node::as_array) {
            amount.values += values.len();
            amount.characters += characters(values);
            long |= is_long(values, max_list);
        }
        amount.characters += object.get(Keyword::Const).map_or(0, |value| characters(core::slice::from_ref(value)));
        Ok(Visit::Descend)
    })?;
    for name in root.get(Keyword::Defs).and_then(Node::as_object).into_iter().flatten() {
        parts.entry(Some(name.key.display().into_owned())).or_default().characters += name.key.code_points().count();
    }
    if long {
        return Ok(Some(Excess::List));
    }
    let limit = |name: &str| dialect.limit(name).unwrap_or(usize::MAX);
    let largest = |of: fn(&Amount) -> usize| parts.iter().map(|(_, amount)| of(amount)).fold(0, usize::max);
    let (values, properties) = (largest(|amount| amount.values), largest(|amount| amount.properties));
    let (nesting, characters) = (largest(|amount| amount.nesting), largest(|amount| amount.characters));
    if values > limit("enumValuesPerPart") {
        return Ok(Some(Excess::Values { found: values, limit: limit("enumValuesPerPart") }));
    }
    if nesting > limit("depthPerPart") {
        return Ok(Some(Excess::Nesting { found: nesting, limit: limit("depthPerPart") }));
    }
    if properties > limit("propertiesPerPart") {
        return Ok(Some(Excess::Properties { found: properties, limit: limit("propertiesPerPart") }));
    }
    Ok((characters > limit("charactersPerPart"))
        .then(|| Excess::Characters { found: characters, limit: limit("charactersPerPart") }))
}

fn characters(values: &[Node<'_>]) -> usize {
    values
        .iter()
        .map(|value| value.as_text().map_or_else(|| plain_length(value), |text| text.code_points().count()))
        .sum()
}

fn is_long(values: &[Node<'_>], limit: usize) -> bool {
    values.len() > SHORT && characters(values) > limit
}

/// Removes lists of values for which `goes` returns true. Returns true if there were any.
fn drop_lists<'a>(
    root: &mut Node<'a>,
    context: &mut PassContext,
    goes: impl Fn(&[Node<'a>]) -> bool,
) -> Result<bool, Error> {
    struct Drop<'d, 'r, 'a> {
        goes: &'d dyn Fn(&[Node<'a>]) -> bool,
        context: &'r mut PassContext,
        done: bool,
    }
    impl<'a> VisitorMut<'a> for Drop<'_, '_, 'a> {
        fn enter(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
            let count =
                node.get(Keyword::Enum).and_then(Node::as_array).filter(|values| (self.goes)(values)).map(<[_]>::len);
            if let Some(count) = count {
                self.done = true;
                self.context.diagnostics.report(
                    place.polarity,
                    Location::under(node, "enum"),
                    Location::Nowhere,
                    ENUM,
                    || format!("removed an `enum` of {count} values: they exceed the maximum number or length"),
                );
                if let Some(object) = node.as_object_mut() {
                    object.remove(Keyword::Enum);
                }
            }
            Ok(Visit::Descend)
        }
    }
    let budget = context.budget.clone();
    let mut drop = Drop { goes: &goes, context, done: false };
    visit::walk_mut(&budget, root, Keywords::ALL, &mut drop)?;
    Ok(drop.done)
}

/// Removes the longest lists of values, by some measure.
fn drop_longest(
    root: &mut Node<'_>,
    context: &mut PassContext,
    measure: fn(&[Node<'_>]) -> usize,
) -> Result<bool, Error> {
    let mut longest = 1;
    visit::walk(&context.budget, root, Keywords::ALL, &mut |node, _| {
        longest = longest.max(node.get(Keyword::Enum).and_then(Node::as_array).map_or(0, measure));
        Ok(Visit::Descend)
    })?;
    Ok(longest > 1 && drop_lists(root, context, |values| measure(values) >= longest)?)
}

/// Cuts objects nested deeper than `limit` levels.
///
/// The lowered schema nests deeper than the plain one. If no plain object is too deep, the deepest level is cut.
fn cut_below(root: &mut Node<'_>, context: &mut PassContext, limit: usize) -> Result<bool, Error> {
    let mut deepest = 0;
    visit::walk(&context.budget, root, Keywords::ALL, &mut |node, place| {
        if node.as_object().is_some_and(|object| layout::declares(object, "object")) {
            deepest = deepest.max(level(place) + 1);
        }
        Ok(Visit::Descend)
    })?;
    cut(root, context, deepest.min(limit.saturating_add(1)))
}

fn cut_deepest(root: &mut Node<'_>, context: &mut PassContext) -> Result<bool, Error> {
    cut_below(root, context, usize::MAX)
}

/// Replaces objects whose properties are at this level by "anything". Returns true if there were any.
fn cut(root: &mut Node<'_>, context: &mut PassContext, at: usize) -> Result<bool, Error> {
    struct Cut<'r> {
        context: &'r mut PassContext,
        above: usize,
        done: bool,
    }
    impl<'a> VisitorMut<'a> for Cut<'_> {
        fn enter(&mut self, node: &mut Node<'a>, place: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
            let holds = node.as_object().is_some_and(|object| layout::declares(object, "object"));
            if level(place) != self.above || !holds || place.keyword.is_none() || place.polarity != Polarity::Positive {
                return Ok(Visit::Descend);
            }
            let location = Location::of(node);
            self.context.diagnostics.report(place.polarity, location.clone(), location, CUT, || {
                String::from("replaced an object with a schema that accepts anything, to fit the limits")
            });
            if let Some(object) = node.as_object_mut() {
                object.retain(|member| ["description", "title"].iter().any(|name| member.key.is(name)));
            }
            self.done = true;
            Ok(Visit::Skip)
        }
    }
    let Some(above) = at.checked_sub(1) else { return Ok(false) };
    let budget = context.budget.clone();
    let mut cut = Cut { context, above, done: false };
    visit::walk_mut(&budget, root, Keywords::ALL, &mut cut)?;
    Ok(cut.done)
}
