//! Messages of repairs: what was found, and what it was changed to. They never contain a value of the arguments.

use alloc::{
    format,
    string::{String, ToString as _},
};

use super::At;
use crate::{
    json::{tolerant::TextRepair, Data, Node, Text},
    report::{Confidence, MovedFrom, Repair, RepairRule},
    schema::validate::words,
};

pub(super) fn type_name(value: &Node<'_>) -> &'static str {
    match value.data() {
        Data::Null => "null",
        Data::Bool(_) => "boolean",
        Data::Number(_) => "number",
        Data::String(_) => "string",
        Data::Array(_) => "array",
        Data::Object(_) => "object",
        Data::Verbatim(_) => "text",
    }
}

pub(super) fn replacement(
    at: At<'_>,
    (rule, confidence): (RepairRule, Confidence),
    from: &str,
    to: &Node<'_>,
) -> Repair {
    let (pointer, output_pointer) = (at.pointer(), Some(at.output_pointer()));
    let (from, to) = (from.into(), type_name(to).into());
    Repair { pointer, output_pointer, rule, confidence, from, to, message: message_of(rule), moved_from: None }
}

pub(super) fn with_moved_from(repair: Repair, inside: At<'_>, is_item: bool) -> Repair {
    let item = if is_item { "/0" } else { "" };
    let (to, from) = (inside.output_pointer() + item, inside.pointer());
    Repair { moved_from: Some(MovedFrom { to, from, is_in_text: inside.is_in_text }), ..repair }
}

pub(super) fn omission(at: At<'_>, (rule, confidence): (RepairRule, Confidence), from: &Node<'_>) -> Repair {
    let (from, to) = (type_name(from).into(), "nothing".into());
    Repair {
        pointer: at.pointer(),
        output_pointer: None,
        rule,
        confidence,
        from,
        to,
        message: message_of(rule),
        moved_from: None,
    }
}

pub(super) fn renaming(at: At<'_>, from: &Text<'_>, to: &Text<'_>) -> Repair {
    Repair {
        pointer: at.pointer(),
        output_pointer: Some(at.output_pointer()),
        rule: RepairRule::PropertyName,
        confidence: Confidence::Likely,
        from: from.display().into_owned(),
        to: to.display().into_owned(),
        message: format!("found {}, another spelling of the declared name {}", words::name(from), words::name(to)),
        moved_from: None,
    }
}

pub(super) fn text_repair(at: At<'_>, text: TextRepair, to: &Node<'_>) -> Repair {
    let TextRepair { rule, confidence, offset } = text;
    let repair = replacement(at, (rule, confidence), "text", to);
    Repair { message: format!("{} (byte {offset})", repair.message), ..repair }
}

fn message_of(rule: RepairRule) -> String {
    match rule {
        RepairRule::ByteOrderMark => "found a byte order mark or a no-break space between tokens; ignored it",
        RepairRule::Fence => "found a Markdown fence around the JSON; ignored it",
        RepairRule::SurroundingText => "found words around the JSON; ignored them",
        RepairRule::ExtraComma => "found a comma without a member; ignored it",
        RepairRule::Comment => "found a comment; ignored it",
        RepairRule::ControlCharacter => "found a raw control character in a string; read as that character",
        RepairRule::SingleQuotes => "found a string in single quotes; read as a string",
        RepairRule::EscapedApostrophe => "found an escaped apostrophe; read as an apostrophe",
        RepairRule::SmartQuotes => "found a string in typographic quotes; read as a string",
        RepairRule::UnquotedKey => "found an unquoted name; read as a name",
        RepairRule::MissingQuote => "found a declared name without one of its quotation marks; read as the name",
        RepairRule::MissingColon => "found a declared name and a value without a colon between them; read as a member",
        RepairRule::UnquotedString => "found a word without quotation marks; read as a string",
        RepairRule::QuoteToken => "found a model's token for quotation marks; read as quotation marks",
        RepairRule::DoubledBraces => "found doubled braces; read as single ones",
        RepairRule::PythonLiteral => "found `True`, `False` or `None`; read as `true`, `false` or `null`",
        RepairRule::Undefined => "found `undefined`; read as `null`",
        RepairRule::MissingComma => "found two members without a comma between them; read as two members",
        RepairRule::ExtraBracket => "found extra closing brackets after the value; ignored them",
        RepairRule::MisnestedBracket => "found mismatched closing brackets; read as the matching ones",
        RepairRule::MissingBracket => "found text that ends between values; closed its brackets",
        RepairRule::InvalidEscape => "found a backslash that does not begin an escape; read as a backslash",
        RepairRule::EscapedText => "found text that was escaped twice; removed one level of escapes",
        RepairRule::RepeatedValue => "found the same value more than once; read once",
        RepairRule::EmptyValue => "found an empty value next to the real one; ignored it",
        RepairRule::EmptyArguments => "found blank text or a word for null; read as no arguments",
        RepairRule::UnwrapArguments => "found the arguments inside another object; unwrapped them",
        RepairRule::PropertyName => "found another spelling of a declared name",
        RepairRule::JsonString => "found a string that contains JSON; parsed it",
        RepairRule::StringToNumber => "found a string that spells a number; read as the number",
        RepairRule::StringToBoolean => "found a string that spells a boolean; read as the boolean",
        RepairRule::StringToNull => "found a string that spells null; read as null",
        RepairRule::EmptyToNull => "found a blank string; read as null",
        RepairRule::NumberToBoolean => "found 0 or 1; read as a boolean",
        RepairRule::NumberToString => "found a number; read as the string that spells it",
        RepairRule::BooleanToString => "found a boolean; read as the string that spells it",
        RepairRule::EnumSpelling => "found another spelling of a listed value; read as the listed one",
        RepairRule::WrapArray => "found one value; read as an array of one",
        RepairRule::UnwrapArray => "found an array of one; read as its item",
        RepairRule::ItemWrapper => "found an object with the one member `item` or `items`; read as the value inside",
        RepairRule::OmitNull => "found null for an optional member that does not accept it; omitted the member",
        RepairRule::OmitEmpty => {
            "found a blank string for an optional member that does not accept it; omitted the member"
        }
        RepairRule::OmitNullString => "found a word for null for an optional member; omitted the member",
        RepairRule::UseDefault => "found no value for a required member; used the schema's default",
        RepairRule::RemoveAdditional => "found an undeclared member of a closed object; removed it",
    }
    .to_string()
}
