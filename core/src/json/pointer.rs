//! JSON Pointers (RFC 6901), which are built while walking and rendered only if needed.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::fmt::Write as _;

use super::Text;

/// One step down a tree. The list is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// A member whose name is known to the program, such as a keyword.
    Name(&'static str),
    /// A member.
    Member(Text<'a>),
    /// An item.
    Index(usize),
}

/// A path from the root, which is rendered as a JSON Pointer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pointer<'a> {
    steps: Vec<Step<'a>>,
}

impl<'a> Pointer<'a> {
    /// Returns the root, `""`.
    pub const fn root() -> Self {
        Pointer { steps: Vec::new() }
    }

    pub(crate) fn with_room() -> Self {
        const STEPS: usize = 16;
        Pointer { steps: Vec::with_capacity(STEPS) }
    }

    /// Adds a step.
    #[inline(always)]
    pub fn push(&mut self, step: Step<'a>) {
        self.steps.push(step);
    }

    /// Removes the last step.
    #[inline(always)]
    pub fn pop(&mut self) {
        self.steps.pop();
    }

    /// Returns the steps from the root.
    pub fn steps(&self) -> &[Step<'a>] {
        &self.steps
    }

    /// Returns the pointer in the spelling of RFC 6901. A lone surrogate in a name is rendered as its escape.
    pub fn render(&self) -> String {
        let mut out = String::new();
        for step in &self.steps {
            match step {
                Step::Name(name) => push_token(&mut out, name),
                Step::Member(name) => push_token(&mut out, &name.display()),
                Step::Index(index) => {
                    // Writing into a String cannot fail.
                    let _ = write!(out, "/{index}");
                }
            }
        }
        out
    }

    /// Returns the pointer with one more step.
    pub fn render_with(&self, name: &str) -> String {
        let mut out = self.render();
        push_token(&mut out, name);
        out
    }
}

/// Appends `/token`, with `~` and `/` in the token escaped.
pub fn push_token(out: &mut String, token: &str) {
    out.push('/');
    let mut rest = token;
    while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'~' | b'/')) {
        // Both are ASCII, so this never splits a character.
        let (plain, special) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(plain);
        out.push_str(if special.starts_with('~') { "~0" } else { "~1" });
        rest = special.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
}

/// Returns a token of a pointer without escapes.
pub fn unescaped_token(token: &str) -> Cow<'_, str> {
    if token.contains('~') {
        Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(token)
    }
}
