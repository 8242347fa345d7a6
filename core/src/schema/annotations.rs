//! Annotations: members of a schema that constrain nothing.

use super::keyword::{Keyword, Role};
use crate::json::Member;

/// Returns true for an annotation, unless it applies to one type only.
pub(crate) fn is_annotation(member: &Member<'_>) -> bool {
    Keyword::named(&member.key).is_some_and(|keyword| {
        matches!(keyword.role(), Role::Annotation | Role::Meta) && keyword.applies_to().is_none()
    })
}
