//! `sanitize`: the entry points. A schema that the dialect accepts is returned unchanged; any other is processed by the
//! pipeline, and the result is verified.

mod analysis;
mod anything;
mod canonicalize;
mod codex;
mod context;
pub(crate) mod decode;
mod description;
mod diagnostics;
mod discriminators;
mod encode;
mod fit;
mod legalize;
mod pass;
mod pipeline;
mod resolve;
#[cfg(test)]
mod tests;
mod wrap_root;

pub use pipeline::Rounds;
pub(crate) use wrap_root::declares_object;

use alloc::{format, rc::Rc, string::ToString, vec::Vec};

use crate::{
    budget::Budget,
    check,
    dialect::{
        self,
        grammar::{Grammar, PropertiesRule},
        Dialect, Method,
    },
    error::{Code, Error},
    json::{Data, Member, Node, Object},
    limits::REPORT_FACTOR,
    options::{Refs, SanitizeOptions, Untyped, Use},
    report::{Allow, Change, Detail, Recorder},
    sanitize::{
        decode::{Plan, PlanBuilder},
        legalize::{root, types},
    },
    schema::{
        graph::Graph,
        instance_types::type_of_number,
        keyword::{Draft, Keyword, Keywords},
        protocol,
        references::{self, Form},
        visit::{self, Visit},
    },
};

/// Rewrites a schema in place. Returns the changes if `with_report` is true (or `allow` needs them).
///
/// # Errors
/// The errors of `toolwire::sanitize`.
pub fn sanitize(node: &mut Node<'_>, options: &SanitizeOptions, with_report: bool) -> Result<Vec<Change>, Error> {
    let detail = with_report.then_some(Detail::Whole);
    run(node, options, detail, None, &Rc::new(options.budget(node)))
}

pub(crate) fn sanitize_with_plan(
    node: &mut Node<'_>,
    options: &SanitizeOptions,
    detail: Detail,
) -> Result<(Vec<Change>, Plan), Error> {
    with_plan(node, options, detail, options.budget(node))
}

/// Reports on a schema that [`sanitize`] has already rewritten. Recording needs more steps than rewriting, but the
/// report must not fail for lack of budget.
pub(crate) fn report(node: &mut Node<'_>, options: &SanitizeOptions) -> Result<(Vec<Change>, Plan), Error> {
    with_plan(node, options, Detail::Whole, options.budget(node).times(REPORT_FACTOR))
}

fn with_plan(
    node: &mut Node<'_>,
    options: &SanitizeOptions,
    detail: Detail,
    budget: Budget,
) -> Result<(Vec<Change>, Plan), Error> {
    let mut plan = Plan::default();
    let changes = run(node, options, Some(detail), Some(&mut plan), &Rc::new(budget))?;
    Ok((changes, plan))
}

fn run(
    node: &mut Node<'_>,
    options: &SanitizeOptions,
    detail: Option<Detail>,
    plan: Option<&mut Plan>,
    budget: &Rc<Budget>,
) -> Result<Vec<Change>, Error> {
    let dialect = dialect::of(options)?;
    // A `too-lossy` error contains all changes in full.
    let mut recorder = match detail {
        _ if options.allow != Allow::Any => Recorder::on(),
        Some(detail) => Recorder::of(detail),
        None => Recorder::off(),
    };
    let (is_reported, mut wrapped) = (recorder.is_on(), false);
    match dialect.method {
        Method::Codex { wire } => {
            let default = dialect.limit("maxBytes");
            let wire = wire.then(|| codex::Wire { max_bytes: options.max_bytes.or(default) });
            codex::sanitize(node, wire.as_ref(), &mut recorder, budget)?;
            decode::within_limit(node)?;
        }
        Method::Rules(grammar) => {
            // An option that the grammar cannot honor is an error for every schema.
            pipeline::refuse_options(grammar, options)?;
            // A schema that is accepted unchanged loses nothing, and is rewritten only if an option asks for more. A
            // grammar for tools may accept any root, because arguments are always objects. Structured output that is
            // requested as a call must still be wrapped (`wraps_root`).
            if options.wraps_root {
                wrapped = wrap_root::wrap(node, &options.wrapper, grammar, budget)?;
            }
            if wrapped || !is_already_accepted(node, Form::Read, grammar, options, budget)? {
                if options.used_as == Use::Response && grammar.object_root {
                    wrapped = wrap_root::wrap(node, &options.wrapper, grammar, budget)?;
                }
                let rewritten = rewrite(node, (dialect, grammar), options, plan, &mut recorder, budget, wrapped);
                rewritten.map_err(|error| match wrapped {
                    true => wrap_root::error_in_input(error, &options.wrapper),
                    false => error,
                })?;
            }
        }
    }
    let mut changes = recorder.finish();
    if wrapped && is_reported {
        wrap_root::report(&mut changes, &options.wrapper, dialect);
    }
    enforce_allow(options.allow, changes)
}

fn rewrite<'a>(
    node: &mut Node<'a>,
    dialect_and_grammar: (&'static Dialect, &'static Grammar),
    options: &SanitizeOptions,
    plan: Option<&mut Plan>,
    recorder: &mut Recorder,
    budget: &Rc<Budget>,
    is_wrapped: bool,
) -> Result<(), Error> {
    let (_, grammar) = dialect_and_grammar;
    let mut builder = plan.is_some().then(PlanBuilder::default);
    let wrapper = is_wrapped.then_some(options.wrapper.as_str());
    // Wrapping may suffice, unless references have to be moved.
    let is_done = is_wrapped
        && !references::mentions_references(node)
        && is_already_accepted(node, Form::Read, grammar, options, budget)?;
    match is_done || run_pipeline(node, dialect_and_grammar, options, (builder.as_mut(), wrapper), recorder, budget)? {
        true => decode::within_limit(node)?,
        false => verify_output(node, grammar, options, budget)?,
    }
    if let (Some(plan), Some(builder)) = (plan, builder) {
        *plan = builder.finish(node, grammar, budget)?;
        plan.wrapper = is_wrapped.then(|| options.wrapper.clone());
    }
    Ok(())
}

/// Runs the pipeline. Returns true if the result is known to be accepted.
fn run_pipeline<'a>(
    node: &mut Node<'a>,
    (dialect, grammar): (&'static Dialect, &'static Grammar),
    options: &SanitizeOptions,
    (plan, wrapper): (Option<&mut PlanBuilder<'a>>, Option<&str>),
    recorder: &mut Recorder,
    budget: &Rc<Budget>,
) -> Result<bool, Error> {
    // A second call would return an accepted schema unchanged, so the passes end once the schema is accepted. (Encoded
    // schemas end with `encode`.)
    let ends_when_accepted = grammar.accept_unchanged && !grammar.encodes();
    let is_done = |node: &Node<'_>| {
        ends_when_accepted && is_already_accepted(node, Form::Written, grammar, options, budget).unwrap_or(false)
    };
    pipeline::sanitize(node, (dialect, grammar), options, &is_done, (plan, wrapper), recorder, budget)
}

fn is_already_accepted(
    node: &Node<'_>,
    form: Form,
    grammar: &Grammar,
    options: &SanitizeOptions,
    budget: &Budget,
) -> Result<bool, Error> {
    let is_candidate = grammar.accept_unchanged && has_root_properties(node, grammar, options);
    if !(is_candidate && check::accepts(node, form, options, budget)?) {
        return Ok(false);
    }
    // The API accepts types as numbers, but an SDK of its vendor does not.
    if grammar.protocol_types && has_numbered_types(node, budget)? {
        return Ok(false);
    }
    let inlines = options.refs == Some(Refs::Inline) && has_inlinable(node, form, budget)?;
    let types =
        options.untyped.is_some_and(|untyped| untyped != Untyped::Keep) && types::has_untyped(node, grammar, budget)?;
    Ok(!inlines && !types)
}

fn has_numbered_types(root: &Node<'_>, budget: &Budget) -> Result<bool, Error> {
    if !may_have_numbered_types(root) {
        return Ok(false);
    }
    let mut is_found = false;
    // Keywords in the protocol's spelling contain schemas, too.
    let root = protocol::read(root);
    visit::walk(budget, &root, Keywords::ALL, &mut |node, _| {
        is_found = is_found || node.get(Keyword::Type).is_some_and(|types| type_of_number(types).is_some());
        Ok(if is_found { Visit::Skip } else { Visit::Descend })
    })?;
    Ok(is_found)
}

/// Returns true if a member `type` is a number, even if it is not a keyword. This is faster than a walk.
fn may_have_numbered_types(root: &Node<'_>) -> bool {
    root.has_member(|Member { key, value }| {
        matches!(value.data(), Data::Number(_)) && key.is(Keyword::Type) && type_of_number(value).is_some()
    })
}

fn has_inlinable(root: &Node<'_>, form: Form, budget: &Budget) -> Result<bool, Error> {
    if !references::has_references(root, budget)? {
        return Ok(false);
    }
    let references = references::of(root, form, Draft::of(root), budget)?;
    let graph = Graph::of(root, &references, budget)?;
    let inlinable = graph.target_numbers().any(|target| !graph.is_recursive(target));
    Ok(inlinable)
}

/// Returns true if the root has `properties`, or needs none. Callers of `sanitize` may rely on `properties` even if the
/// API does not require them, and some hosts of a dialect refuse an empty schema.
fn has_root_properties(node: &Node<'_>, grammar: &Grammar, options: &SanitizeOptions) -> bool {
    let is_empty = || node.as_object().is_some_and(Object::is_empty);
    let needs_none = || grammar.objects.properties == PropertiesRule::Unneeded || (grammar.empty_root && is_empty());
    !grammar.object_root
        || (options.is_of_request && needs_none())
        || node.get(Keyword::Properties).is_some()
        || (grammar.root_reference && node.get(Keyword::Ref).is_some())
}

fn verify_output(node: &Node<'_>, grammar: &Grammar, options: &SanitizeOptions, budget: &Budget) -> Result<(), Error> {
    // The checks below recurse, so the depth is limited first.
    decode::within_limit(node)?;
    // A repair may have excluded objects.
    root::refuse_no_object(node, Form::Written, grammar, budget)?;
    match check::first(node, options, budget)? {
        None => Ok(()),
        Some(violation) => {
            let message = format!(
                "expected a schema that `{}` can express, found one that it cannot: {}",
                options.dialect, violation.message
            );
            Err(Error::new(Code::NotRepresentable, violation.pointer, message))
        }
    }
}

fn enforce_allow(allow: Allow, changes: Vec<Change>) -> Result<Vec<Change>, Error> {
    let Some(forbidden) = changes.iter().find(|change| Allow::needed_for(change.accepts, change.encoded) > allow)
    else {
        return Ok(changes);
    };
    let needed = Allow::needed_for(forbidden.accepts, forbidden.encoded).as_str();
    let allowed = allow.as_str();
    let message = format!(
        "expected changes within `allow: \"{allowed}\"`, found one that needs \"{needed}\": {}",
        forbidden.message
    );
    Err(Error::new(Code::TooLossy, forbidden.pointer.to_string(), message).with_changes(changes))
}
