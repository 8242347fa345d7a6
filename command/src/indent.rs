//! Indents JSON text. It works on the text, so that the spelling of numbers and strings does not change.

/// Maximum depth that is indented further, so that the indentation cannot outgrow the content.
const LEVELS: usize = 40;

/// Indents by two spaces for each level, regardless of the layout of the input. The text must be JSON.
pub(crate) fn indented(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let (mut in_string, mut escaped) = (false, false);
    let mut characters = text.chars().filter(Significant::default().test()).peekable();
    let broken = |out: &mut String, depth: usize| {
        out.push('\n');
        (0..depth.min(LEVELS)).for_each(|_| out.push_str("  "));
    };
    while let Some(one) = characters.next() {
        if in_string {
            out.push(one);
            in_string = escaped || one != '"';
            escaped = one == '\\' && !escaped;
            continue;
        }
        match one {
            '{' | '[' => {
                out.push(one);
                let closes = characters.next_if(|next| matches!(next, '}' | ']'));
                match closes {
                    Some(close) => out.push(close),
                    None => {
                        depth += 1;
                        broken(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                broken(&mut out, depth);
                out.push(one);
            }
            ',' => {
                out.push(one);
                broken(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                in_string = one == '"';
                out.push(one);
            }
        }
    }
    out
}

/// Distinguishes the significant characters of JSON text from whitespace.
#[derive(Default)]
struct Significant {
    in_string: bool,
    escaped: bool,
}

impl Significant {
    fn test(mut self) -> impl FnMut(&char) -> bool {
        move |one| {
            if self.in_string {
                self.in_string = self.escaped || *one != '"';
                self.escaped = *one == '\\' && !self.escaped;
                return true;
            }
            self.in_string = *one == '"';
            !matches!(one, ' ' | '\t' | '\n' | '\r')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::indented;

    #[test]
    fn only_the_layout_changes() {
        assert_eq!(
            indented(" {\"a\" :[1.0, {} ,[ ]],\n\"b{\\\"\":\"x, y: [\\\\\"}"),
            "{\n  \"a\": [\n    1.0,\n    {},\n    []\n  ],\n  \"b{\\\"\": \"x, y: [\\\\\"\n}"
        );
    }
}
