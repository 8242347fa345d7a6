//! Badges: an image, and the JSON of an endpoint of shields.
//! <https://shields.io/badges/endpoint-badge>

use toolwire::internal::json::{self, Node};

use super::html::Html;
use crate::document::{indented, record};

/// The numbers on a badge.
pub(super) struct Badge {
    /// Number of dialects that accept every tool as it is.
    pub(super) accepted: usize,
    pub(super) dialects: usize,
}

const LABEL: &str = "toolwire";
/// Width of a character, and of the margins, in pixels.
const CHARACTER: usize = 7;
const MARGIN: usize = 10;

impl Badge {
    pub(super) fn message(&self) -> String {
        format!("accepted by {} of {}", self.accepted, self.dialects)
    }

    /// Returns the name of the color for shields, and its code, which has enough contrast with white.
    fn color(&self) -> (&'static str, &'static str) {
        match self.accepted {
            all if all == self.dialects => ("brightgreen", "#2f7d1f"),
            0 => ("red", "#b3261e"),
            _ => ("yellow", "#8a6100"),
        }
    }

    /// Returns the image.
    pub(super) fn svg(&self) -> String {
        let message = self.message();
        let width = |text: &str| text.chars().count() * CHARACTER + MARGIN;
        let (label, all) = (width(LABEL), width(LABEL) + width(&message));
        let (label, all, rest) = (label.to_string(), all.to_string(), width(&message).to_string());
        let mut svg = Html::default();
        let title = format!("{LABEL}: {message}");
        svg.tag(
            "svg",
            &[
                ("xmlns", "http://www.w3.org/2000/svg"),
                ("width", &all),
                ("height", "20"),
                ("role", "img"),
                ("aria-label", &title),
            ],
        );
        svg.element("title", &title);
        svg.tag("rect", &[("width", &label), ("height", "20"), ("fill", "#444")]).raw("</rect>");
        svg.tag("rect", &[("x", &label), ("width", &rest), ("height", "20"), ("fill", self.color().1)]).raw("</rect>");
        svg.raw("<g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">");
        svg.raw("<text x=\"5\" y=\"14\">").text(LABEL).raw("</text>");
        let start = (width(LABEL) + MARGIN / 2).to_string();
        svg.tag("text", &[("x", &start), ("y", "14")]).text(&message).raw("</text></g></svg>\n");
        svg.into_string()
    }

    /// Returns the JSON of the endpoint.
    pub(super) fn endpoint(&self) -> String {
        let document = record([
            ("schemaVersion", Node::count(1)),
            ("label", Node::string(LABEL)),
            ("message", Node::string(self.message())),
            ("color", Node::string(self.color().0)),
        ]);
        indented(&json::write(&document)) + "\n"
    }
}
