//! The passes, in the order of their runs.

use alloc::rc::Rc;

use crate::{
    dialect::{
        features::COUNTS,
        grammar::{AnyEncoding, RequiredRule},
    },
    error::Error,
    json::Node,
    options::Untyped,
    rules::{Phase, Rule},
    sanitize::{
        canonicalize::{never, repair, scalars, upgrade_draft},
        context::PassContext,
        encode::{json_string, normalize, require_one},
        fit::{self, strict},
        legalize::{
            all_of, any_of, containers, enums, nullable, patterns, refused_keys, required, root, types,
            unsupported_keywords,
        },
        pass::{Flow, Pass, Run, VisitedSchema, Wakes},
        resolve::{break_cycles, definitions, inline, spelling, unroll},
    },
    schema::{
        keyword::{Keyword, Keywords},
        references::References,
    },
};

/// Every pass but the last, which lowers the normalized schema (see [`encode`](super::super::encode)).
pub(crate) const PASSES: &[Pass] = &[
    Pass {
        name: "repair",
        phase: Phase::Canonicalize,
        rules: &[
            Rule::ReplaceNonSchema,
            Rule::TypeNameToSchema,
            Rule::UnnestProperties,
            Rule::RepairType,
            Rule::RepairKeyword,
            Rule::RemoveNullKeyword,
            Rule::RemoveMalformedKeyword,
        ],
        needs: Keywords::NONE,
        applies: always,
        wakes: Wakes::Always,
        run: Run::Enter(|node, visited, context| {
            repair::repair(node, visited.path, context);
            Ok(Flow::Continue)
        }),
        why: "All other passes expect schemas, so other values are replaced first.",
    },
    Pass {
        name: "counts",
        phase: Phase::Canonicalize,
        rules: &[Rule::RepairKeyword, Rule::RemoveMalformedKeyword],
        needs: COUNTS,
        applies: |context| context.grammar.plain_counts,
        wakes: Wakes::Never,
        run: Run::Enter(|node, visited, context| {
            scalars::spell_counts(node, visited.path, context);
            Ok(Flow::Continue)
        }),
        why: "After repair, which turns other values into counts.",
    },
    Pass {
        name: "never",
        phase: Phase::Canonicalize,
        rules: &[Rule::DropImpossibleBranch, Rule::UnwrapSingleBranch, Rule::DropNeverProperty],
        needs: never::KEYWORDS,
        applies: always,
        wakes: Wakes::Always,
        run: Run::Enter(|node, visited, context| {
            never::drop_never(node, visited.path, context);
            Ok(Flow::Continue)
        }),
        why: "Schemas that accept nothing are removed before anything is built from them; an empty `enum` \
            still counts as such a schema.",
    },
    Pass {
        name: "drop-tables",
        phase: Phase::Canonicalize,
        rules: &[Rule::PruneDefinition],
        needs: definitions::TABLE_KEYWORDS,
        applies: |context| context.survey.no_references,
        wakes: Wakes::Never,
        run: Run::Enter(|node, visited, context| {
            definitions::drop_tables(node, visited.path.polarity, context);
            Ok(Flow::Continue)
        }),
        why: "Without references every definition is unused, and need not be rewritten first.",
    },
    Pass {
        name: "upgrade-draft",
        phase: Phase::Canonicalize,
        rules: &[
            Rule::SplitDependencies,
            Rule::UpgradeExclusiveBound,
            Rule::NullableToNull,
            Rule::TupleToPrefixItems,
            Rule::DropIdentifier,
            Rule::ConstToEnum,
            Rule::RepairKeyword,
        ],
        needs: upgrade_draft::RESPELLED_KEYWORDS.insert(Keyword::PatternProperties).insert(Keyword::Items),
        applies: always,
        wakes: Wakes::If("if it changed more than `const-to-enum` does", |context| context.effects.upgraded),
        run: Run::Enter(|node, visited, context| {
            let is_tuple = || node.get(Keyword::Items).is_some_and(|items| items.as_array().is_some());
            if visited.keywords.intersects(upgrade_draft::RESPELLED_KEYWORDS.insert(Keyword::PatternProperties))
                || is_tuple()
            {
                upgrade_draft::respell(node, visited.path, context);
            }
            Ok(Flow::Continue)
        }),
        why: "Later passes handle the keywords of only one draft.",
    },
    Pass {
        name: "pattern-properties",
        phase: Phase::Legalize,
        rules: &[Rule::PatternsToAdditional],
        needs: Keywords::of(&[Keyword::PatternProperties]),
        applies: |context| context.grammar.encodes(),
        wakes: Wakes::Always,
        run: Run::Enter(|node, visited, context| {
            patterns::to_additional_properties(node, visited.path, context);
            Ok(Flow::Continue)
        }),
        why: "Before the children are visited, so that the schema that replaces all patterns is rewritten like any \
            other.",
    },
    Pass {
        name: "break-cycles",
        phase: Phase::Resolve,
        rules: &[Rule::CutRecursion, Rule::DropRefSibling],
        needs: Keywords::NONE,
        applies: has_references,
        wakes: Wakes::Always,
        run: Run::Document(|root, context| with_references(root, context, break_cycles::cut)),
        why: "A schema that applies to itself endlessly cannot be expanded.",
    },
    Pass {
        name: "keep-as-written",
        phase: Phase::Resolve,
        rules: &[],
        needs: Keywords::NONE,
        applies: has_references,
        wakes: Wakes::Never,
        run: Run::Document(|root, context| {
            with_references(root, context, |root, references, context| {
                context.keeps_definitions = spelling::as_written(root, references, context)?;
                Ok(())
            })
        }),
        why: "If the API accepts every reference, nothing is resolved, which changes the least.",
    },
    Pass {
        name: "inline",
        phase: Phase::Resolve,
        rules: &[
            Rule::InlineRef,
            Rule::DynamicRefToRef,
            Rule::DropIdentifier,
            Rule::RewriteRef,
            Rule::UnresolvedRef,
            Rule::CutRecursion,
            Rule::DropRefSibling,
            Rule::DropSharedAnnotation,
            Rule::TruncateDefinition,
            Rule::PruneDefinition,
            Rule::MergeAllOf,
            Rule::MergeConflict,
            Rule::MergeInexact,
            Rule::MergeAnnotations,
        ],
        needs: Keywords::NONE,
        applies: resolves,
        wakes: Wakes::If("if it did more than copy definitions", |context| context.effects.inlined_more),
        run: Run::Document(|root, context| with_references(root, context, inline::resolve_references)),
        why:
            "This leaves one kind of reference. Later passes find schemas where they are used, and the target of every \
                remaining reference in the root's `$defs`.",
    },
    Pass {
        name: "survey-again",
        phase: Phase::Resolve,
        rules: &[],
        needs: Keywords::NONE,
        applies: has_references,
        wakes: Wakes::Never,
        run: Run::Document(|root, context| {
            context.survey.keywords = Keywords::ALL;
            context.survey.no_slash =
                context.grammar.refs.no_slash_in_definitions && refused_keys::slash_occurs_in_definitions(root);
            Ok(())
        }),
        why: "Inlined schemas bring their own keywords.",
    },
    Pass {
        name: "unroll",
        phase: Phase::Resolve,
        rules: &[Rule::UnrollRecursion, Rule::InlineRef],
        needs: Keywords::NONE,
        applies: always,
        wakes: Wakes::If("if it did more than copy definitions", |context| context.effects.unrolled_more),
        run: Run::Document(unroll::unroll),
        why: "If the API accepts no references, only recursive ones remain.",
    },
    Pass {
        name: "all-of",
        phase: Phase::Legalize,
        rules: &[Rule::MergeAllOf, Rule::OneOfToAnyOf, Rule::MergeConflict, Rule::MergeInexact, Rule::MergeAnnotations],
        needs: Keywords::NONE,
        applies: always,
        wakes: Wakes::Always,
        run: Run::Document(all_of::join),
        why: "Merging brings together keywords that later passes expect in one schema.",
    },
    Pass {
        name: "any-of-siblings",
        phase: Phase::Legalize,
        rules: &[
            Rule::DistributeIntoAnyOf,
            Rule::UnwrapSingleBranch,
            Rule::DropImpossibleBranch,
            Rule::FlattenRootUnion,
            Rule::DeclareObject,
            Rule::AddProperties,
            Rule::MergeConflict,
            Rule::MergeInexact,
            Rule::MergeAnnotations,
        ],
        needs: Keywords::NONE,
        applies: any_of::concerns,
        wakes: Wakes::Always,
        run: Run::Document(|root, context| {
            if context.grammar.object_root && root.get(Keyword::AnyOf).is_some() {
                root::declare_object(root, context);
                root::merge_root_union(root, context, false)?;
            }
            any_of::join_siblings(root, context)
        }),
        why: "If nothing is allowed next to `anyOf`, branches must be complete before anything is inferred from them.",
    },
    Pass {
        name: "unsupported-keywords",
        phase: Phase::Legalize,
        rules: UNSUPPORTED,
        needs: Keywords::NONE,
        applies: always,
        wakes: Wakes::If("with tuples; with references, if a keyword that may contain some was removed", |context| {
            context.survey.original_keywords.contains(Keyword::PrefixItems)
                || (!context.survey.no_references && context.effects.removed_schemas)
        }),
        run: Run::Enter(unsupported),
        why: "Keywords that are removed need not be rewritten first.",
    },
    Pass {
        name: "booleans",
        phase: Phase::Legalize,
        rules: &[Rule::BooleanToAny, Rule::BooleanToNot],
        needs: Keywords::NONE,
        applies: always,
        wakes: Wakes::Always,
        run: Run::Leave(|node, visited, context| {
            // The next pass makes the root an object, even if it is `true`.
            let is_open_root = visited.is_root() && context.grammar.object_root && node.as_bool() == Some(true);
            let stops = node.as_bool().is_some()
                && !is_open_root
                && !types::replace_boolean(node, visited.path, visited.inferred, context);
            Ok(if stops { Flow::Stop } else { Flow::Continue })
        }),
        why: "All later passes handle objects.",
    },
    Pass {
        name: "declare-object",
        phase: Phase::Legalize,
        rules: &[Rule::DeclareObject, Rule::AddProperties],
        needs: Keywords::NONE,
        applies: |context| context.grammar.object_root,
        wakes: Wakes::Always,
        run: Run::Leave(|node, visited, context| {
            if visited.is_root() {
                root::declare_object(node, context);
            }
            Ok(Flow::Continue)
        }),
        why: "The root's type is given, not inferred.",
    },
    Pass {
        name: "property-names",
        phase: Phase::Legalize,
        rules: &[Rule::RenameProperty],
        needs: refused_keys::PROPERTY_NAME_KEYWORDS,
        applies: always,
        wakes: Wakes::Always,
        run: Run::Leave(|node, visited, context| {
            refused_keys::rename_properties(node, visited.path, context);
            Ok(Flow::Continue)
        }),
        why: "Before anything copies or joins properties.",
    },
    Pass {
        name: "ref-like-keys",
        phase: Phase::Legalize,
        rules: &[Rule::DropRefLikeKey, Rule::RewritePattern],
        needs: Keywords::NONE,
        applies: |context| context.survey.mentions_references,
        wakes: Wakes::Always,
        run: Run::Leave(|node, visited, context| {
            refused_keys::handle_ref_keys(node, visited.path, context);
            Ok(Flow::Continue)
        }),
        why: "Before anything looks for references again.",
    },
    Pass {
        name: "slash-keys",
        phase: Phase::Legalize,
        rules: &[Rule::DropSlashKey, Rule::RewritePattern],
        needs: Keywords::NONE,
        applies: |context| context.survey.no_slash,
        wakes: Wakes::Always,
        run: Run::Leave(|node, visited, context| {
            refused_keys::handle_slash_keys(node, visited.path, context);
            Ok(Flow::Continue)
        }),
        why: "Before anything looks for references again: none can lead past a key with `/`.",
    },
    Pass {
        name: "enum",
        phase: Phase::Legalize,
        rules: &[
            Rule::DropEnumOfType,
            Rule::DropEnumValue,
            Rule::DropLongEnum,
            Rule::SplitEnum,
            Rule::MoveNullFirst,
            Rule::ScalarsToStrings,
            Rule::NullToNullable,
            Rule::InferType,
            Rule::RepairType,
            Rule::ValuesToJson,
        ],
        needs: Keywords::of(&[Keyword::Enum, Keyword::Const]),
        applies: always,
        wakes: Wakes::Always,
        run: Run::Leave(|node, visited, context| {
            let is_constant = visited.keywords.contains(Keyword::Const)
                && visited.keywords.contains(Keyword::Type)
                && context.grammar.encodes();
            // Numbers that were listed as strings already have the right type.
            let is_spelled = json_string::Holds::of_schema(node).is_some_and(json_string::Holds::is_from_enum);
            if (visited.keywords.contains(Keyword::Enum) || is_constant) && !is_spelled {
                enums::apply(node, visited.path, context)?;
            }
            Ok(Flow::Continue)
        }),
        why: "Values prove a type; keywords only hint at one.",
    },
    Pass {
        name: "infer-type",
        phase: Phase::Legalize,
        rules: &[Rule::InferType, Rule::AssumeString, Rule::ExpandAny, Rule::AnyToJson, Rule::OpenMap],
        needs: Keywords::NONE,
        applies: |context| context.requires_types,
        wakes: Wakes::If("if the option `untyped` asks for types in a dialect that needs none", |context| {
            context.grammar.anything == AnyEncoding::Empty && context.untyped != Untyped::Keep
        }),
        run: Run::Leave(|node, visited, context| {
            if !visited.keywords.contains(Keyword::Type) {
                types::infer(node, visited.path, visited.inferred, context);
            }
            Ok(Flow::Continue)
        }),
        why: "Before a list of types is distributed anywhere.",
    },
    Pass {
        name: "null",
        phase: Phase::Legalize,
        rules: &[Rule::NullToNullable],
        needs: Keywords::of(&[Keyword::Type, Keyword::AnyOf]),
        applies: always,
        wakes: Wakes::Always,
        run: Run::Leave(|node, visited, context| {
            if !visited.inferred.opaque {
                nullable::apply(node, visited.path, context);
            }
            Ok(Flow::Continue)
        }),
        why: "Before lists of types and unions are distinguished.",
    },
    Pass {
        name: "containers",
        phase: Phase::Legalize,
        rules: &[
            Rule::ObjectToJson,
            Rule::AddProperties,
            Rule::AddItems,
            Rule::DeclareOpen,
            Rule::ExpandAny,
            Rule::AnyToJson,
            Rule::DropKeyword,
        ],
        needs: Keywords::NONE,
        applies: always,
        wakes: Wakes::Always,
        run: Run::Leave(|node, visited, context| {
            if visited.inferred.opaque {
                return Ok(Flow::Continue);
            }
            if visited.is_root() {
                containers::apply(node, visited.path, context);
            } else if visited.keywords.contains(Keyword::Type) {
                json_string::encode_object(node, visited.path, context);
                containers::apply(node, visited.path, context);
            }
            Ok(Flow::Continue)
        }),
        why: "Adds what an object or an array lacks, once the type is known.",
    },
    Pass {
        name: "any-of",
        phase: Phase::Legalize,
        rules: &[
            Rule::DistributeIntoAnyOf,
            Rule::DropSharedAnnotation,
            Rule::DropLongUnion,
            Rule::DropImpossibleBranch,
            Rule::SplitTypeList,
            Rule::DropUnknownRequired,
            Rule::InferType,
            Rule::AssumeString,
            Rule::MergeConflict,
            Rule::MergeInexact,
            Rule::MergeAnnotations,
            Rule::ObjectToJson,
            Rule::AddProperties,
            Rule::AddItems,
            Rule::DeclareOpen,
            Rule::ExpandAny,
            Rule::AnyToJson,
            Rule::DropKeyword,
        ],
        needs: Keywords::of(&[Keyword::AnyOf]),
        applies: always,
        wakes: Wakes::Always,
        run: Run::Leave(|node, visited, context| {
            if node.get(Keyword::AnyOf).is_some() && is_finished_here(visited, context) {
                any_of::apply(node, visited.path, context)?;
                if node.get(Keyword::AnyOf).is_none() {
                    // The union was too long and is gone, so the type must be inferred again.
                    types::infer(node, visited.path, visited.inferred, context);
                }
            }
            Ok(Flow::Continue)
        }),
        why: "Keywords next to `anyOf` move into its branches, which may again be lists of types.",
    },
    Pass {
        name: "type-array",
        phase: Phase::Legalize,
        rules: &[
            Rule::SplitTypeList,
            Rule::DropUnknownRequired,
            Rule::MergeConflict,
            Rule::MergeInexact,
            Rule::MergeAnnotations,
            Rule::ObjectToJson,
            Rule::AddProperties,
            Rule::AddItems,
            Rule::DeclareOpen,
            Rule::ExpandAny,
            Rule::AnyToJson,
            Rule::DropKeyword,
        ],
        needs: Keywords::of(&[Keyword::Type]),
        applies: always,
        wakes: Wakes::Always,
        run: Run::Leave(|node, visited, context| {
            if is_finished_here(visited, context) {
                types::split(node, visited.path, context);
            }
            Ok(Flow::Continue)
        }),
        why: "After null, which a list of types may contain, and after unions.",
    },
    Pass {
        name: "required",
        phase: Phase::Legalize,
        rules: &[Rule::DropUnknownRequired],
        needs: Keywords::of(&[Keyword::Required]),
        applies: always,
        wakes: Wakes::Never,
        run: Run::Leave(|node, visited, context| {
            // A branch is handled with the siblings of its union.
            if is_finished_here(visited, context) && visited.path.keyword != Some(Keyword::AnyOf) {
                required::apply(node, visited.path, context);
            }
            Ok(Flow::Continue)
        }),
        why: "Merging adds the properties that `required` names.",
    },
    Pass {
        name: "required-beside-properties",
        phase: Phase::Legalize,
        rules: &[Rule::DropUnknownRequired, Rule::DeclareRequiredProperty],
        needs: Keywords::of(&[Keyword::Required]),
        applies: |context| context.grammar.required_beside_properties,
        wakes: Wakes::Always,
        run: Run::Leave(|node, visited, context| {
            required::beside_properties(node, visited.path, context);
            Ok(Flow::Continue)
        }),
        why: "Merging adds the properties that `required` names.",
    },
    Pass {
        name: "any-of-texts",
        phase: Phase::Legalize,
        rules: &[Rule::DistributeAnnotations, Rule::UnwrapSingleBranch],
        needs: Keywords::of(&[Keyword::AnyOf]),
        applies: always,
        wakes: Wakes::Always,
        run: Run::Leave(|node, visited, context| {
            if is_finished_here(visited, context) {
                any_of::annotations(node, visited.path, context);
            }
            Ok(Flow::Continue)
        }),
        why: "No later pass adds annotations to a union.",
    },
    Pass {
        name: "root",
        phase: Phase::Legalize,
        rules: &[
            Rule::FlattenRootUnion,
            Rule::DropUnknownRequired,
            Rule::MergeConflict,
            Rule::MergeInexact,
            Rule::MergeAnnotations,
        ],
        needs: Keywords::NONE,
        applies: always,
        wakes: Wakes::Always,
        run: Run::Document(|root, context| {
            root::root(root, context)?;
            required::at_root(root, context);
            Ok(())
        }),
        why: "The branches are now what the grammar can express, and become one object.",
    },
    Pass {
        name: "declare-draft",
        phase: Phase::Canonicalize,
        rules: &[Rule::UpdateSchemaUri, Rule::TupleToPrefixItems],
        needs: Keywords::NONE,
        applies: always,
        wakes: Wakes::Always,
        run: Run::Document(upgrade_draft::declare_draft),
        why: "Merged keywords may now be next to references.",
    },
    Pass {
        name: "end-recursion",
        phase: Phase::Resolve,
        rules: &[Rule::CutRecursion, Rule::ExpandAny],
        needs: Keywords::NONE,
        applies: always,
        wakes: Wakes::Always,
        run: Run::Document(break_cycles::cut_unending),
        why: "Legalization may make a recursion endless.",
    },
    Pass {
        name: "prune",
        phase: Phase::Resolve,
        rules: &[],
        needs: Keywords::NONE,
        applies: prunes,
        wakes: Wakes::If("with references", |context| !context.survey.no_references),
        run: Run::Document(|root, context| {
            context.effects.pruned = Some(context.effects.changed);
            definitions::prune(root, &context.budget)
        }),
        why: "Unused definitions do not count towards any limit.",
    },
    Pass {
        name: "fit",
        phase: Phase::Fit,
        rules: &[
            Rule::FitShortenDescription,
            Rule::FitDropKeyword,
            Rule::FitDropConstraint,
            Rule::FitCutSchema,
            Rule::FitCutReference,
            Rule::ExpandAny,
        ],
        needs: Keywords::NONE,
        applies: always,
        wakes: Wakes::If(
            "except if it only changes properties and items, removes no reference, and types stay optional",
            |context| context.effects.cut_more || context.untyped != Untyped::Keep,
        ),
        run: Run::Document(fit::fit),
        why: "Only a finished schema has its final size.",
    },
    Pass {
        name: "normalize",
        phase: Phase::Encode,
        rules: &[
            Rule::DeclareRequiredProperty,
            Rule::DropUnknownRequired,
            Rule::SplitTypeList,
            Rule::CollapseAny,
            Rule::DropImpossibleBranch,
            Rule::CutRecursion,
            Rule::ReorderProperties,
            Rule::MergeBranches,
            Rule::FlattenUnion,
            Rule::DistributeAnnotations,
        ],
        needs: Keywords::NONE,
        applies: |context| context.grammar.encodes(),
        wakes: Wakes::Always,
        run: Run::Document(normalize::make_plain),
        why: "Lowering requires that each schema has one unambiguous kind.",
    },
    Pass {
        name: "fit-strict",
        phase: Phase::Fit,
        rules: &[
            Rule::DropLongEnum,
            Rule::FitShortenDescription,
            Rule::FitDropKeyword,
            Rule::FitDropConstraint,
            Rule::FitCutSchema,
            Rule::ExpandAny,
        ],
        needs: Keywords::NONE,
        applies: |context| context.grammar.encodes(),
        wakes: Wakes::If(
            "except if it only changes properties and items, removes no reference, and types stay optional",
            |context| context.effects.cut_more || context.untyped != Untyped::Keep,
        ),
        run: Run::Document(strict::fit),
        why: "It measures what lowering will write, without writing it.",
    },
    Pass {
        name: "require-one",
        phase: Phase::Encode,
        rules: &[Rule::RequireOptional, Rule::DeclareOpen, Rule::DropKeyword],
        needs: Keywords::NONE,
        applies: |context| context.grammar.objects.required == RequiredRule::One,
        wakes: Wakes::Always,
        run: Run::Document(require_one::require_one_property),
        why: "Last, so that nothing merges objects or removes a required property afterwards.",
    },
    Pass {
        name: "prune-again",
        phase: Phase::Resolve,
        rules: &[],
        needs: Keywords::NONE,
        applies: |context| prunes(context) && context.effects.pruned != Some(context.effects.changed),
        wakes: Wakes::If("with references", |context| !context.survey.no_references),
        run: Run::Document(|root, context| definitions::prune(root, &context.budget)),
        why: "Fitting removes references.",
    },
];

const UNSUPPORTED: &[Rule] = &[
    Rule::DropKeyword,
    Rule::DropPattern,
    Rule::RespellPattern,
    Rule::DropFormat,
    Rule::ExclusiveToInclusive,
    Rule::ClampBound,
    Rule::LoosenUniqueItems,
    Rule::PrefixItemsToItems,
    Rule::MergeConflict,
];

const fn always(_: &PassContext) -> bool {
    true
}

fn has_references(context: &PassContext) -> bool {
    context.references.is_some()
}

fn resolves(context: &PassContext) -> bool {
    context.references.is_some() && !context.keeps_definitions
}

const fn prunes(context: &PassContext) -> bool {
    !context.keeps_definitions
}

/// Returns false for schemas that the validator does not check, and for an object root, because the `root` pass
/// flattens its union.
const fn is_finished_here(visited: &VisitedSchema<'_, '_>, context: &PassContext) -> bool {
    !(visited.inferred.opaque || visited.is_root() && context.grammar.object_root)
}

fn unsupported<'a>(
    node: &mut Node<'a>,
    visited: &VisitedSchema<'_, 'a>,
    context: &mut PassContext,
) -> Result<Flow, Error> {
    if !visited.inferred.opaque {
        unsupported_keywords::apply(node, visited.path, visited.keywords, context);
    }
    Ok(Flow::Continue)
}

fn with_references<'a>(
    root: &mut Node<'a>,
    context: &mut PassContext,
    run: impl FnOnce(&mut Node<'a>, &References, &mut PassContext) -> Result<(), Error>,
) -> Result<(), Error> {
    match context.references.clone() {
        Some(references) => {
            let references: Rc<References> = references;
            run(root, &references, context)
        }
        None => Ok(()),
    }
}
