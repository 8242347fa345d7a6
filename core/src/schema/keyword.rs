//! The only table of keywords: the content, the purpose and the instance type of each keyword of JSON Schema (draft 4
//! to 2020-12). Also finds the draft of a schema, and its annotations.
//!
//! Sources: JSON Schema Core and Validation, drafts 4, 6, 7, 2019-09 and 2020-12; OpenAPI for `nullable` (3.0) and
//! `discriminator`.

use crate::json::{Member, Name, Node, Object, Text};

/// The subschemas that the value of a keyword contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subschemas {
    /// No schema.
    Value,
    Schema,
    Schemas,
    /// One schema, or (before 2020-12) a list of them by position.
    SchemaOrSchemas,
    /// An object whose members are schemas.
    Named,
    /// An object whose members are schemas, or (in `dependencies`) lists of names.
    NamedOrNames,
}

/// Purpose of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Constrains instances, by itself or through its subschemas: `minimum`, `properties`.
    Assertion,
    /// Informs the reader and constrains nothing: `description`.
    Annotation,
    /// Declares the language of the schema, or addresses its authors; models need not read it: `$schema`.
    Meta,
    /// Names a location that references resolve against: `$id`.
    Identifier,
    /// Holds schemas that apply only where they are referenced: `$defs`.
    Definitions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstanceType {
    Object,
    Array,
    String,
    Number,
}

impl InstanceType {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            InstanceType::Object => "object",
            InstanceType::Array => "array",
            InstanceType::String => "string",
            InstanceType::Number => "number",
        }
    }
}

macro_rules! keywords {
    ($($variant:ident $name:literal $holds:ident $role:ident $kind:expr;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub(crate) enum Keyword { $($variant,)* }

        impl Keyword {
            const ALL: &'static [Keyword] = &[$(Keyword::$variant,)*];

            /// A `match`, because the compiler compares lengths first.
            #[inline(always)]
            pub(crate) fn spelled(name: &str) -> Option<Keyword> {
                match name {
                    $($name => Some(Keyword::$variant),)*
                    _ => None,
                }
            }

            pub(crate) const fn name(self) -> &'static str {
                match self { $(Keyword::$variant => $name,)* }
            }

            pub(crate) const fn subschemas(self) -> Subschemas {
                match self { $(Keyword::$variant => Subschemas::$holds,)* }
            }

            pub(crate) const fn role(self) -> Role {
                match self { $(Keyword::$variant => Role::$role,)* }
            }

            /// Returns `None` if the keyword applies to several types.
            pub(crate) const fn applies_to(self) -> Option<InstanceType> {
                match self { $(Keyword::$variant => $kind,)* }
            }
        }
    };
}

keywords! {
    Anchor "$anchor" Value Identifier None;
    Comment "$comment" Value Meta None;
    Defs "$defs" Named Definitions None;
    DynamicAnchor "$dynamicAnchor" Value Identifier None;
    DynamicRef "$dynamicRef" Value Assertion None;
    Id "$id" Value Identifier None;
    RecursiveAnchor "$recursiveAnchor" Value Identifier None;
    RecursiveRef "$recursiveRef" Value Assertion None;
    Ref "$ref" Value Assertion None;
    Schema "$schema" Value Meta None;
    Vocabulary "$vocabulary" Value Meta None;
    AdditionalItems "additionalItems" Schema Assertion Some(InstanceType::Array);
    AdditionalProperties "additionalProperties" Schema Assertion Some(InstanceType::Object);
    AllOf "allOf" Schemas Assertion None;
    AnyOf "anyOf" Schemas Assertion None;
    Const "const" Value Assertion None;
    Contains "contains" Schema Assertion Some(InstanceType::Array);
    ContentEncoding "contentEncoding" Value Annotation Some(InstanceType::String);
    ContentMediaType "contentMediaType" Value Annotation Some(InstanceType::String);
    ContentSchema "contentSchema" Schema Annotation Some(InstanceType::String);
    Default "default" Value Annotation None;
    Definitions "definitions" Named Definitions None;
    Dependencies "dependencies" NamedOrNames Assertion Some(InstanceType::Object);
    DependentRequired "dependentRequired" Value Assertion Some(InstanceType::Object);
    DependentSchemas "dependentSchemas" Named Assertion Some(InstanceType::Object);
    Deprecated "deprecated" Value Annotation None;
    Description "description" Value Annotation None;
    Discriminator "discriminator" Value Annotation None;
    Else "else" Schema Assertion None;
    Enum "enum" Value Assertion None;
    Examples "examples" Value Annotation None;
    ExclusiveMaximum "exclusiveMaximum" Value Assertion Some(InstanceType::Number);
    ExclusiveMinimum "exclusiveMinimum" Value Assertion Some(InstanceType::Number);
    Format "format" Value Annotation Some(InstanceType::String);
    If "if" Schema Assertion None;
    Items "items" SchemaOrSchemas Assertion Some(InstanceType::Array);
    MaxContains "maxContains" Value Assertion Some(InstanceType::Array);
    MaxItems "maxItems" Value Assertion Some(InstanceType::Array);
    MaxLength "maxLength" Value Assertion Some(InstanceType::String);
    MaxProperties "maxProperties" Value Assertion Some(InstanceType::Object);
    Maximum "maximum" Value Assertion Some(InstanceType::Number);
    MinContains "minContains" Value Assertion Some(InstanceType::Array);
    MinItems "minItems" Value Assertion Some(InstanceType::Array);
    MinLength "minLength" Value Assertion Some(InstanceType::String);
    MinProperties "minProperties" Value Assertion Some(InstanceType::Object);
    Minimum "minimum" Value Assertion Some(InstanceType::Number);
    MultipleOf "multipleOf" Value Assertion Some(InstanceType::Number);
    Not "not" Schema Assertion None;
    Nullable "nullable" Value Assertion None;
    OneOf "oneOf" Schemas Assertion None;
    Pattern "pattern" Value Assertion Some(InstanceType::String);
    PatternProperties "patternProperties" Named Assertion Some(InstanceType::Object);
    PrefixItems "prefixItems" Schemas Assertion Some(InstanceType::Array);
    Properties "properties" Named Assertion Some(InstanceType::Object);
    PropertyNames "propertyNames" Schema Assertion Some(InstanceType::Object);
    ReadOnly "readOnly" Value Annotation None;
    Required "required" Value Assertion Some(InstanceType::Object);
    Then "then" Schema Assertion None;
    Title "title" Value Annotation None;
    Type "type" Value Assertion None;
    UnevaluatedItems "unevaluatedItems" Schema Assertion Some(InstanceType::Array);
    UnevaluatedProperties "unevaluatedProperties" Schema Assertion Some(InstanceType::Object);
    UniqueItems "uniqueItems" Value Assertion Some(InstanceType::Array);
    WriteOnly "writeOnly" Value Annotation None;
}

impl Keyword {
    /// Returns the keyword with this name. The result is cached in the key, because every rule looks up every key.
    #[inline(always)]
    pub(crate) fn named(name: &Text<'_>) -> Option<Keyword> {
        match name.cached_lookup() {
            0 => Keyword::looked_up(name),
            // Keys that are not keywords have a number above all keywords.
            cached => Keyword::ALL.get(usize::from(cached) - 1).copied(),
        }
    }

    #[inline(never)]
    fn looked_up(name: &Text<'_>) -> Option<Keyword> {
        let keyword = match name.as_plain() {
            Some(plain) => Keyword::spelled(plain),
            None => name.value().and_then(|value| Keyword::spelled(&value)),
        };
        name.cache_lookup(keyword.map_or(u8::MAX, |keyword| keyword as u8 + 1));
        keyword
    }
}

/// Looks up members of schemas by keyword: compares one byte.
impl Name for Keyword {
    #[inline(always)]
    fn is_name_of(self, key: &Text<'_>) -> bool {
        match key.cached_lookup() {
            0 => Keyword::looked_up(key) == Some(self),
            cached => cached == self as u8 + 1,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keywords(u128);

impl Keywords {
    pub(crate) const fn of(list: &[Keyword]) -> Self {
        let mut bits = 0;
        let mut rest = list;
        while let [first, tail @ ..] = rest {
            bits |= 1 << (*first as u8);
            rest = tail;
        }
        Keywords(bits)
    }

    pub(crate) const NONE: Keywords = Keywords(0);

    pub(crate) const fn all_but(list: &[Keyword]) -> Self {
        Keywords(!Keywords::of(list).0)
    }

    pub(crate) const ALL: Keywords = Keywords(u128::MAX);

    pub(crate) const fn that_hold_schemas(self) -> Self {
        const WITH_SCHEMAS: Keywords = {
            let mut keywords = Keywords::NONE;
            let mut rest = Keyword::ALL;
            while let [first, tail @ ..] = rest {
                if !matches!(first.subschemas(), Subschemas::Value) {
                    keywords = keywords.insert(*first);
                }
                rest = tail;
            }
            keywords
        };
        Keywords(self.0 & WITH_SCHEMAS.0)
    }

    pub(crate) const fn contains(self, keyword: Keyword) -> bool {
        let bit = keyword as u8;
        // In halves, because WebAssembly calls a function to shift 128 bits by a variable amount.
        #[allow(clippy::cast_possible_truncation, reason = "the cast selects the lower half")]
        let half = if bit < 64 { self.0 as u64 } else { (self.0 >> 64) as u64 };
        (half >> (bit % 64)) & 1 != 0
    }

    pub(crate) const fn insert(self, keyword: Keyword) -> Self {
        let bit = keyword as u8;
        let half = 1_u64 << (bit % 64);
        Keywords(self.0 | if bit < 64 { half as u128 } else { (half as u128) << 64 })
    }

    pub(crate) const fn union(self, others: Keywords) -> Self {
        Keywords(self.0 | others.0)
    }

    pub(crate) const fn difference(self, others: Keywords) -> Self {
        Keywords(self.0 & !others.0)
    }

    pub(crate) const fn intersects(self, others: Keywords) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns the keywords of a schema. They show which rules have nothing to do.
    pub(crate) fn in_object(object: &Object<'_>) -> Self {
        object.iter().fold(Keywords::NONE, |found, member| match Keyword::named(&member.key) {
            Some(keyword) => found.insert(keyword),
            None => found.union(Keywords::UNKNOWN),
        })
    }

    /// Represents all keys that are not keywords: the last bit of the set, which no keyword uses.
    pub(crate) const UNKNOWN: Keywords = Keywords(1 << 127);
}

/// Returns true for an annotation, unless it applies to one type only.
pub(crate) fn is_annotation(member: &Member<'_>) -> bool {
    Keyword::named(&member.key).is_some_and(|keyword| {
        matches!(keyword.role(), Role::Annotation | Role::Meta) && keyword.applies_to().is_none()
    })
}

/// A draft of JSON Schema. The default of MCP and of toolwire is 2020-12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Draft {
    Four,
    Six,
    Seven,
    Y2019,
    Y2020,
}

impl Draft {
    pub(crate) fn of(root: &Node<'_>) -> Draft {
        let declared = root.text_at(Keyword::Schema).and_then(|text| text.value());
        let Some(uri) = declared else { return Draft::Y2020 };
        let known = [
            ("draft-04", Draft::Four),
            ("draft-06", Draft::Six),
            ("draft-07", Draft::Seven),
            ("2019-09", Draft::Y2019),
        ];
        known.into_iter().find(|(mark, _)| uri.contains(mark)).map_or(Draft::Y2020, |(_, draft)| draft)
    }

    pub(crate) fn ignores_ref_siblings(self) -> bool {
        self <= Draft::Seven
    }

    /// Returns true if an identifier with a fragment defines an anchor: `$id` in drafts 6 and 7, `id` in draft 4.
    pub(crate) fn id_may_be_anchor(self) -> bool {
        self <= Draft::Seven
    }

    /// Returns false for keywords of later drafts. Returns true for keywords that were dropped, because real schemas
    /// still use them.
    pub(crate) fn knows(self, keyword: Keyword) -> bool {
        let since = match keyword {
            Keyword::Const | Keyword::Contains | Keyword::PropertyNames => Draft::Six,
            Keyword::If | Keyword::Then | Keyword::Else => Draft::Seven,
            Keyword::DependentRequired
            | Keyword::DependentSchemas
            | Keyword::MinContains
            | Keyword::MaxContains
            | Keyword::UnevaluatedItems
            | Keyword::UnevaluatedProperties
            | Keyword::RecursiveRef => Draft::Y2019,
            Keyword::PrefixItems | Keyword::DynamicRef => Draft::Y2020,
            _ => Draft::Four,
        };
        self >= since
    }
}

#[cfg(test)]
mod tests {
    use super::Keyword;

    #[test]
    fn keywords_fit_into_a_set() {
        assert!(Keyword::ALL.len() < 128, "the last place is for keys that are not keywords");
    }
}
