//! Members of a schema that only tell the reader something.

use super::keyword::{Keyword, Role};
use crate::json::Member;

/// Whether a member only tells the reader something.
pub(crate) fn is_annotation(member: &Member<'_>) -> bool {
    Keyword::named(&member.key).is_some_and(|keyword| {
        matches!(keyword.role(), Role::Annotation | Role::Meta) && keyword.applies_to().is_none()
    })
}
