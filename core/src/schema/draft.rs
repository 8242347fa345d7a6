//! The draft of JSON Schema that a schema is written in, and the differences between drafts.

use crate::{json::Node, schema::keyword::Keyword};

/// A draft of JSON Schema. MCP's default, and ours, is 2020-12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Draft {
    Four,
    Six,
    Seven,
    Y2019,
    Y2020,
}

impl Draft {
    /// Returns the draft that the root's `$schema` declares.
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

    /// Returns true if siblings of `$ref` are ignored (draft 7 and older).
    pub(crate) fn ignores_ref_siblings(self) -> bool {
        self <= Draft::Seven
    }

    /// Returns true if `$id` with a fragment defines an anchor, as `$anchor` does later (drafts 6 and 7; `id` in draft
    /// 4).
    pub(crate) fn id_may_be_anchor(self) -> bool {
        self <= Draft::Seven
    }

    /// Returns true if the draft has this keyword. Keywords of later drafts count as unknown. Keywords that were
    /// dropped count as known, because real schemas still use them.
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
