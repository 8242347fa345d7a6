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
    json::{self, plain_length, Data, Member, Node, Object, Step},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        encode::{
            layout::{self, AdditionalProperties, Members, Shape, Typed},
            lower,
        },
    },
    schema::{
        keyword::{Keyword, Keywords},
        visit::{self, Polarity, SchemaPath, Visit, VisitorMut},
    },
};

const ENUM: ChangeKind = ChangeKind::of(Rule::DropLongEnum);
const CUT: ChangeKind = ChangeKind::of(Rule::FitCutSchema);

/// An `enum` with at most this many values may have any number of characters.
const MAX_UNLIMITED_VALUES: usize = 250;

#[derive(Clone, Copy, Debug, Default)]
struct PartSize {
    properties: usize,
    nesting: usize,
    values: usize,
    characters: usize,
}

impl PartSize {
    fn add(&mut self, other: PartSize) {
        self.properties += other.properties;
        self.nesting = self.nesting.max(other.nesting);
        self.values += other.values;
        self.characters += other.characters;
    }
}

/// The first limit that the schema exceeds. `List` is the limit on the characters of a single `enum`; `Values` counts
/// the values of all `enum` lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excess {
    List,
    Values { size: usize, limit: usize },
    Characters { size: usize, limit: usize },
    Properties { size: usize, limit: usize },
    Nesting { size: usize, limit: usize },
    Bytes { size: usize, limit: usize },
}

pub(crate) fn fit(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    // In a later round, the schema may be unchanged since it was measured.
    if !context.effects.is_fitted {
        cut_to_fit(root, context)?;
        context.effects.is_fitted = true;
    }
    Ok(())
}

fn cut_to_fit(root: &mut Node<'_>, context: &mut PassContext) -> Result<(), Error> {
    let dialect = context.dialect;
    let limits = ["propertiesPerPart", "depthPerPart", "enumValuesPerPart", "longEnumCharacters", "charactersPerPart"];
    let max_bytes = context.max_bytes.filter(|_| context.grammar.encodes()).unwrap_or(usize::MAX);
    if max_bytes == usize::MAX && !limits.iter().any(|name| dialect.limit(name).is_some()) {
        return Ok(());
    }
    if max_bytes == usize::MAX && Bounds::are_within(root, dialect) {
        return Ok(());
    }
    loop {
        context.budget.check(String::new)?;
        let estimate = estimate(root, context, max_bytes)?;
        #[cfg(test)]
        if matches!(estimate, Estimate::Within) {
            let found = excess_when_lowered(root, context, max_bytes)?;
            assert_eq!(found, None, "the estimate is an upper bound, in {}", json::write(root));
        }
        let was_cut = match estimate {
            Estimate::Within => return Ok(()),
            Estimate::Nesting(limit) => cut_below(root, context, limit)?,
            Estimate::Properties => cut_deepest(root, context)?,
            Estimate::Unknown => false,
        };
        if was_cut {
            continue;
        }
        let excess = excess_when_lowered(root, context, max_bytes)?;
        let Some(excess) = excess else { return Ok(()) };
        let was_cut = match excess {
            Excess::List => {
                let max_list = longest_list(dialect);
                drop_lists(root, context, |list| is_long(list, max_list))?
            }
            Excess::Values { .. } => drop_longest(root, context, |values| values.len())?,
            Excess::Characters { .. } => drop_longest(root, context, characters)? || cut_deepest(root, context)?,
            Excess::Properties { .. } => cut_deepest(root, context)?,
            Excess::Nesting { limit, .. } => cut_below(root, context, limit)?,
            Excess::Bytes { size, limit } => shorten(root, context, size, limit)?,
        };
        if !was_cut {
            return Err(Error::new(Code::LimitExceeded, "", message(excess)));
        }
    }
}

fn longest_list(dialect: &Dialect) -> usize {
    dialect.limit("longEnumCharacters").unwrap_or(usize::MAX)
}

fn excess_when_lowered(root: &Node<'_>, context: &mut PassContext, max_bytes: usize) -> Result<Option<Excess>, Error> {
    let mut lowered = root.copy(&context.budget);
    let paused = context.diagnostics.pause();
    let result = lower::lower_schema(&mut lowered, context);
    context.diagnostics.resume(paused);
    result?;
    let excess = excess(&lowered, context.dialect, longest_list(context.dialect), &context.budget)?;
    let bytes = if excess.is_some() || max_bytes == usize::MAX { 0 } else { plain_length(&lowered) };
    let too_long = (bytes > max_bytes).then_some(Excess::Bytes { size: bytes, limit: max_bytes });
    Ok(excess.or(too_long))
}

/// Shortens the schema in proportion to the excess of its lowered form. Returns true if the schema became shorter.
fn shorten(root: &mut Node<'_>, context: &mut PassContext, size: usize, limit: usize) -> Result<bool, Error> {
    let before = plain_length(root);
    // In 64 bits, because the product may overflow `usize` on WebAssembly.
    let share = before as u64 * limit as u64 / size as u64;
    let bytes = usize::try_from(share).unwrap_or(usize::MAX).min(before.saturating_sub(1));
    match super::fit_bytes(root, bytes, context) {
        // The schema cannot get shorter; the caller measures the lowered form again.
        Err(error) if error.code() == Code::LimitExceeded => {}
        result => result?,
    }
    Ok(plain_length(root) < before)
}

enum Estimate {
    Within,
    /// The first exceeded limit is the limit on nested properties, with this value.
    Nesting(usize),
    Properties,
    Unknown,
}

/// Estimates the size of the lowered schema. The schema need not be lowered to be measured if it is within all limits,
/// or clearly beyond one.
///
/// Upper bounds: `additionalProperties` becomes at most two levels of properties (a property with pairs in it). A map
/// that is wrapped as a branch also becomes two levels. Objects that accept other members, and maps, add at most three
/// names, of at most 21 characters plus underscores that keep them distinct. Null is one more value of an `enum`;
/// `const` becomes at most two values, and an empty object one. The definition of "anything" is counted as well. The
/// lower bounds count the properties that lowering does not move.
///
/// Without lower bounds, and with three names for every schema, a third of the tools had to be lowered to measure them
/// for the 100 properties of `azure-strict`. Lowering, often repeated for a tool, took 45 % of the time.
fn estimate(root: &Node<'_>, context: &PassContext, max_bytes: usize) -> Result<Estimate, Error> {
    // The definition of "anything" nests two levels.
    let (mut schemas, mut names, mut max_depth) = (DEFINED, NAMES, 2);
    let (mut properties, mut values, mut longest_list) = (0, 0, 0);
    let mut wraps_items = false;
    let (mut added_bytes, mut may_define) = (0, false);
    // Lower bounds, and the depth of the enclosing schema that lowering replaces, if any.
    let (mut min_properties, mut min_depth, mut replaced_depth) = (0, 0, usize::MAX);
    visit::walk(&context.budget, root, Keywords::ALL, &mut |node, path| {
        schemas += 1;
        if path.depth <= replaced_depth {
            let is_elsewhere =
                matches!(path.keyword, Some(Keyword::AdditionalProperties | Keyword::Defs | Keyword::Definitions));
            replaced_depth = if is_elsewhere { path.depth } else { usize::MAX };
        }
        let shape = layout::of(node, path.keyword.is_none(), context.grammar);
        if replaced_depth == usize::MAX {
            match shape {
                Shape::Typed(Typed { object: Some(Members::Record { .. }), .. }) => {
                    let count = node.object_at(Keyword::Properties).map_or(0, Object::len);
                    min_properties += count;
                    if count > 0 && path.depth >= min_depth {
                        min_depth = min_depth.max(level(path) + 1);
                    }
                }
                Shape::Anything | Shape::Values(_) | Shape::Reference => replaced_depth = path.depth,
                Shape::Union(_) | Shape::Typed(_) => {}
            }
        }
        if !(path.keyword == Some(Keyword::AdditionalProperties) && node.as_bool() == Some(false)) {
            added_bytes += added_at_most(node, &shape, &context.budget);
            may_define |= may_accept_anything(&shape);
        }
        // Levels of properties in the schema itself.
        let own_levels = match shape {
            Shape::Typed(Typed { object: Some(Members::Map(_)), accepts_arrays: array, .. }) => {
                wraps_items |= array;
                // Only a branch is wrapped.
                1 + usize::from(path.keyword == Some(Keyword::AnyOf))
            }
            Shape::Typed(Typed { object: Some(Members::Record { others: AdditionalProperties::Open(_) }), .. }) => 2,
            Shape::Typed(Typed { object: Some(Members::Nothing), .. }) => {
                values += 1;
                0
            }
            _ => 0,
        };
        names += if own_levels > 0 { NAMES } else { 0 };
        // A shallower schema cannot exceed the maximum, so its steps are not counted.
        if 2 * path.depth + own_levels > max_depth {
            max_depth = max_depth.max(own_levels + path.pointer.steps().iter().map(levels).sum::<usize>());
        }
        for member in node.as_object().into_iter().flatten() {
            match Keyword::named(&member.key) {
                Some(Keyword::Properties) => properties += member.value.as_object().map_or(0, Object::len),
                Some(Keyword::Enum) => {
                    let count = member.value.as_array().map_or(0, <[_]>::len) + 1;
                    values += count;
                    longest_list = longest_list.max(count);
                }
                Some(Keyword::Const) => values += 2,
                _ => {}
            }
        }
        Ok(Visit::Descend)
    })?;
    let dialect = context.dialect;
    let is_within_limit = |size: usize, name: &str| dialect.limit(name).is_none_or(|limit| size <= limit);
    let length = json::length(root);
    // The limit holds for numbers without exponents.
    let plain_length = if max_bytes == usize::MAX { 0 } else { plain_length(root) };
    let defined_bytes = if may_define { ENCODED * DEFINED } else { 0 };
    let lists_are_within = is_within_limit(values, "enumValuesPerPart")
        && (longest_list <= MAX_UNLIMITED_VALUES || dialect.limit("longEnumCharacters").is_none());
    let nesting_is_within = !wraps_items && is_within_limit(max_depth, "depthPerPart");
    let is_within = lists_are_within
        && nesting_is_within
        && plain_length + added_bytes + defined_bytes <= max_bytes
        && is_within_limit(properties + names, "propertiesPerPart")
        && is_within_limit(length + names * NAME + schemas * VALUES + properties, "charactersPerPart");
    // In the order of the checks in `excess`.
    Ok(match dialect.limit("depthPerPart") {
        _ if is_within => Estimate::Within,
        Some(limit) if lists_are_within && min_depth > limit => Estimate::Nesting(limit),
        _ if lists_are_within && nesting_is_within && !is_within_limit(min_properties, "propertiesPerPart") => {
            Estimate::Properties
        }
        _ => Estimate::Unknown,
    })
}

/// Number of schemas in the definition of "anything".
const DEFINED: usize = 8;
/// Length of an encoded schema without keywords: its members and its description.
const ENCODED: usize = 256;
/// Maximum length that null adds to a schema: as a branch, `{"anyOf":[` and `,{"type":"null"}]}`.
const NULL: usize = 32;
/// Maximum length of `"additionalProperties":false`, `"properties":{}` and `"required":[]`.
const CLOSED: usize = 64;

/// Upper bound of the bytes that lowering adds to a schema, without its subschemas.
fn added_at_most(node: &Node<'_>, shape: &Shape<'_, '_>, budget: &Budget) -> usize {
    let required = || {
        let properties = node.object_at(Keyword::Properties).into_iter().flatten();
        budget.each(properties).map(|member| 1 + json::plain_text_length_at_most(&member.key)).sum::<usize>()
    };
    let encoded = match shape {
        Shape::Reference => 0,
        Shape::Union(branches) => ENCODED * branches.len(),
        Shape::Anything => ENCODED,
        // In text that contains JSON, each quotation mark needs an escape.
        Shape::Values(values) => {
            ENCODED + budget.each(*values).map(|value| 2 + json::plain_length(value)).sum::<usize>()
        }
        Shape::Typed(Typed { object, accepts_arrays: array, items }) => {
            let any_items = if *array && items.is_none() { ENCODED } else { 0 };
            any_items
                + match object {
                    None => 0,
                    Some(Members::Record { others }) => {
                        let pairs = if matches!(others, AdditionalProperties::Open(_)) { ENCODED } else { 0 };
                        CLOSED + pairs + required()
                    }
                    Some(Members::Map(_) | Members::Nothing) => ENCODED,
                }
        }
    };
    NULL + encoded
}

/// Returns true if the lowered schema may refer to the definition of "anything".
fn may_accept_anything(shape: &Shape<'_, '_>) -> bool {
    match shape {
        Shape::Anything => true,
        Shape::Reference | Shape::Union(_) | Shape::Values(_) => false,
        Shape::Typed(Typed { object, accepts_arrays: array, items }) => {
            let members = match object {
                Some(Members::Record { others: AdditionalProperties::Open(value) }) => value.is_none(),
                Some(Members::Map(value)) => value.is_none(),
                Some(Members::Record { .. } | Members::Nothing) | None => false,
            };
            members || (*array && items.is_none())
        }
    }
}

/// Maximum number of names that lowering adds to a schema.
const NAMES: usize = 3;
/// Maximum number of characters of such a name.
const NAME: usize = 32;
/// Maximum number of characters of the values that lowering adds to a schema.
const VALUES: usize = 16;

const fn levels_of(keyword: Keyword) -> usize {
    match keyword {
        Keyword::AdditionalProperties => 2,
        Keyword::Properties => 1,
        _ => 0,
    }
}

fn levels(step: &Step<'_>) -> usize {
    match step {
        Step::Name("additionalProperties") => levels_of(Keyword::AdditionalProperties),
        Step::Name("properties") => levels_of(Keyword::Properties),
        _ => 0,
    }
}

/// These sizes bound the sizes of the lowered schema, regardless of what its members mean.
#[derive(Default)]
struct Bounds {
    levels: usize,
    /// Values that may be schemas.
    schemas: usize,
    members: usize,
    items: usize,
    /// Length of the compact text.
    length: usize,
}

impl Bounds {
    fn add(&mut self, node: &Node<'_>, level: usize) {
        // At least the length of a boolean, of two brackets, and of the characters that the plain spelling adds to a
        // number.
        const PUNCTUATION: usize = 24;
        let text_length = json::plain_text_length_at_most;
        self.levels = self.levels.max(level);
        self.length += PUNCTUATION;
        match node.data() {
            Data::Null => {}
            Data::Bool(_) => self.schemas += 1,
            Data::Number(text) => self.length += text.len(),
            Data::String(text) => self.length += text_length(text),
            Data::Verbatim(text) => self.length += text.len(),
            Data::Array(items) => {
                self.items += items.len();
                items.iter().for_each(|item| self.add(item, level));
            }
            Data::Object(object) => {
                self.schemas += 1;
                self.members += object.len();
                for Member { key, value } in object {
                    self.length += text_length(key);
                    self.add(value, level + Keyword::named(key).map_or(0, levels_of));
                }
            }
        }
    }

    /// Returns true if no limit of the dialect can be exceeded. This takes a third of the time of [`estimate`], and
    /// decides for nearly all tools unless the limits are as low as in `azure-strict`.
    fn are_within(root: &Node<'_>, dialect: &Dialect) -> bool {
        // The definition of "anything" is counted as well.
        let mut bounds = Bounds { schemas: 8, ..Bounds::default() };
        bounds.add(root, 2);
        let within = |size: usize, name: &str| dialect.limit(name).is_none_or(|limit| size <= limit);
        let names = NAMES * bounds.schemas;
        within(bounds.levels + 2, "depthPerPart")
            && within(bounds.members + names, "propertiesPerPart")
            && within(bounds.items + 3 * bounds.schemas, "enumValuesPerPart")
            && (bounds.items < MAX_UNLIMITED_VALUES || dialect.limit("longEnumCharacters").is_none())
            && within(bounds.length + names * NAME + bounds.schemas * VALUES, "charactersPerPart")
    }
}

fn message(excess: Excess) -> String {
    let (what, size, limit) = match excess {
        Excess::List => {
            return String::from(
                "expected fewer characters in an `enum` after removing everything that can be removed",
            );
        }
        Excess::Values { size, limit } => ("values in `enum`", size, limit),
        Excess::Characters { size, limit } => ("characters of names and values", size, limit),
        Excess::Properties { size, limit } => ("properties", size, limit),
        Excess::Nesting { size, limit } => ("levels of properties", size, limit),
        Excess::Bytes { size, limit } => ("bytes", size, limit),
    };
    format!("expected at most {limit} {what} after removing everything that can be removed, found {size}")
}

fn part(path: &SchemaPath<'_, '_>) -> Option<String> {
    match path.pointer.steps() {
        [Step::Name("$defs" | "definitions"), Step::Member(name), ..] => Some(name.display().into_owned()),
        _ => None,
    }
}

fn level(path: &SchemaPath<'_, '_>) -> usize {
    path.pointer.steps().iter().filter(|step| **step == Step::Name("properties")).count()
}

fn excess(root: &Node<'_>, dialect: &Dialect, max_list: usize, budget: &Budget) -> Result<Option<Excess>, Error> {
    let mut parts: Map<Option<String>, PartSize> = Map::new();
    let mut long = false;
    // The part of the current schema, which is counted separately until the next part begins.
    let (mut current, mut part_size) = (None, PartSize::default());
    visit::walk(budget, root, Keywords::ALL, &mut |node, path| {
        let Some(object) = node.as_object() else { return Ok(Visit::Skip) };
        // Deeper schemas are in the same part as the schema around them.
        if path.depth < 2 {
            let next = part(path);
            if next != current {
                parts.entry(core::mem::replace(&mut current, next)).or_default().add(core::mem::take(&mut part_size));
            }
        }
        let table = object.object_at(Keyword::Properties);
        let names = table.into_iter().flatten().map(|member| member.key.code_points().count());
        part_size.properties += table.map_or(0, Object::len);
        part_size.characters += names.sum::<usize>();
        // There are at most as many levels as enclosing schemas.
        if path.depth >= part_size.nesting && table.is_some_and(|table| !table.is_empty()) {
            part_size.nesting = part_size.nesting.max(level(path) + 1);
        }
        if let Some(values) = object.array_at(Keyword::Enum) {
            part_size.values += values.len();
            part_size.characters += characters(values);
            long |= is_long(values, max_list);
        }
        part_size.characters += object.get(Keyword::Const).map_or(0, |value| characters(core::slice::from_ref(value)));
        Ok(Visit::Descend)
    })?;
    parts.entry(current).or_default().add(part_size);
    for name in root.object_at(Keyword::Defs).into_iter().flatten() {
        parts.entry(Some(name.key.display().into_owned())).or_default().characters += name.key.code_points().count();
    }
    if long {
        return Ok(Some(Excess::List));
    }
    let limit = |name: &str| dialect.limit(name).unwrap_or(usize::MAX);
    let largest = |of: fn(&PartSize) -> usize| parts.iter().map(|(_, part_size)| of(part_size)).fold(0, usize::max);
    let (values, properties) = (largest(|part_size| part_size.values), largest(|part_size| part_size.properties));
    let (nesting, characters) = (largest(|part_size| part_size.nesting), largest(|part_size| part_size.characters));
    if values > limit("enumValuesPerPart") {
        return Ok(Some(Excess::Values { size: values, limit: limit("enumValuesPerPart") }));
    }
    if nesting > limit("depthPerPart") {
        return Ok(Some(Excess::Nesting { size: nesting, limit: limit("depthPerPart") }));
    }
    if properties > limit("propertiesPerPart") {
        return Ok(Some(Excess::Properties { size: properties, limit: limit("propertiesPerPart") }));
    }
    Ok((characters > limit("charactersPerPart"))
        .then(|| Excess::Characters { size: characters, limit: limit("charactersPerPart") }))
}

fn characters(values: &[Node<'_>]) -> usize {
    values
        .iter()
        .map(|value| value.as_text().map_or_else(|| plain_length(value), |text| text.code_points().count()))
        .sum()
}

fn is_long(values: &[Node<'_>], limit: usize) -> bool {
    values.len() > MAX_UNLIMITED_VALUES && characters(values) > limit
}

/// Returns true if any list was removed.
fn drop_lists<'a>(
    root: &mut Node<'a>,
    context: &mut PassContext,
    is_removed: impl Fn(&[Node<'a>]) -> bool,
) -> Result<bool, Error> {
    struct Drop<'d, 'r, 'a> {
        is_removed: &'d dyn Fn(&[Node<'a>]) -> bool,
        context: &'r mut PassContext,
        was_cut: bool,
    }
    impl<'a> VisitorMut<'a> for Drop<'_, '_, 'a> {
        fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
            let count = node.array_at(Keyword::Enum).filter(|values| (self.is_removed)(values)).map(<[_]>::len);
            if let Some(count) = count {
                self.was_cut = true;
                self.context.effects.cut_more = true;
                self.context.diagnostics.report(path, Location::under(node, "enum").removed(), ENUM, || {
                    format!("removed an `enum` of {count} values: they exceed the maximum number or length")
                });
                if let Some(object) = node.as_object_mut() {
                    object.remove(Keyword::Enum);
                }
            }
            Ok(Visit::Descend)
        }
    }
    let budget = context.budget.clone();
    let mut drop = Drop { is_removed: &is_removed, context, was_cut: false };
    visit::walk_mut(&budget, root, Keywords::ALL, &mut drop)?;
    Ok(drop.was_cut)
}

fn drop_longest(
    root: &mut Node<'_>,
    context: &mut PassContext,
    measure: fn(&[Node<'_>]) -> usize,
) -> Result<bool, Error> {
    let mut longest = 1;
    visit::walk(&context.budget, root, Keywords::ALL, &mut |node, _| {
        longest = longest.max(node.array_at(Keyword::Enum).map_or(0, measure));
        Ok(Visit::Descend)
    })?;
    Ok(longest > 1 && drop_lists(root, context, |values| measure(values) >= longest)?)
}

/// Cuts the objects beyond the limit. The lowered schema nests deeper than the plain schema: if no plain object is too
/// deep, the deepest level is cut.
fn cut_below(root: &mut Node<'_>, context: &mut PassContext, limit: usize) -> Result<bool, Error> {
    let mut deepest = 0;
    visit::walk(&context.budget, root, Keywords::ALL, &mut |node, path| {
        if node.as_object().is_some_and(|object| layout::declares(object, "object")) {
            deepest = deepest.max(level(path) + 1);
        }
        Ok(Visit::Descend)
    })?;
    cut(root, context, deepest.min(limit.saturating_add(1)))
}

fn cut_deepest(root: &mut Node<'_>, context: &mut PassContext) -> Result<bool, Error> {
    cut_below(root, context, usize::MAX)
}

/// Cuts all objects with properties at this level. Returns true if there was one.
fn cut(root: &mut Node<'_>, context: &mut PassContext, at: usize) -> Result<bool, Error> {
    struct Cut<'r> {
        context: &'r mut PassContext,
        max_depth: usize,
        was_cut: bool,
    }
    impl<'a> VisitorMut<'a> for Cut<'_> {
        fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
            let holds = node.as_object().is_some_and(|object| layout::declares(object, "object"));
            if level(path) != self.max_depth || !holds || path.keyword.is_none() || path.polarity != Polarity::Positive
            {
                return Ok(Visit::Descend);
            }
            super::record_cut(path, node, &mut self.context.effects);
            let location = Location::of(node);
            self.context.diagnostics.report(path, location.in_place(), CUT, || {
                String::from("replaced an object with a schema that accepts anything, to fit the limits")
            });
            if let Some(object) = node.as_object_mut() {
                object.retain(|member| ["description", "title"].iter().any(|name| member.key.is(name)));
            }
            self.was_cut = true;
            Ok(Visit::Skip)
        }
    }
    let Some(max_depth) = at.checked_sub(1) else { return Ok(false) };
    let budget = context.budget.clone();
    let mut cut = Cut { context, max_depth, was_cut: false };
    visit::walk_mut(&budget, root, Keywords::ALL, &mut cut)?;
    Ok(cut.was_cut)
}
