//! One kind of plot: a bar for each row, consisting of consecutive segments, as SVG.
//!
//! The plot has its own background, so that it is readable on light and dark pages, and colors that remain
//! distinguishable with red-green color blindness.

use std::{error::Error, ops::Range};

use plotters::prelude::*;

/// Colors of outcomes, from best to worst.
pub(crate) const COLORS: [RGBColor; 8] = [
    RGBColor(8, 81, 156),
    RGBColor(66, 146, 198),
    RGBColor(158, 202, 225),
    RGBColor(204, 204, 220),
    RGBColor(254, 217, 118),
    RGBColor(253, 141, 60),
    RGBColor(203, 24, 29),
    RGBColor(60, 60, 60),
];

/// Colors of plots with two kinds of segments.
pub(crate) const TAKEN: RGBColor = RGBColor(8, 81, 156);
pub(crate) const NOT_YET: RGBColor = RGBColor(158, 202, 225);

const FONT: &str = "sans-serif";
/// Height of letters as the library measures it, a quarter more than the font size in SVG.
const LETTERS: u32 = 17;
const INK: RGBColor = RGBColor(34, 34, 34);
const WIDTH: u32 = 960;
const ROW: u32 = 26;
/// Space above the first row of the legend.
const TITLE: u32 = 44;
const LEGEND_ROW: u32 = 24;
const LEGEND_COLUMNS: usize = 4;
/// Space for the axis and its label.
const BELOW: u32 = 60;
const LEFT: u32 = 220;

pub(crate) struct Bars<'a> {
    pub(crate) title: &'a str,
    /// For screen readers.
    pub(crate) description: &'a str,
    pub(crate) x_label: &'a str,
    pub(crate) y_label: &'a str,
    /// The end of the axis.
    pub(crate) longest: usize,
    /// The unit after the numbers on the axis.
    pub(crate) unit: &'a str,
    pub(crate) segments: &'a [(&'a str, RGBColor)],
    /// From top to bottom, each with one number per segment.
    pub(crate) rows: Vec<(&'a str, Vec<f64>)>,
}

impl Bars<'_> {
    pub(crate) fn draw(&self) -> Result<String, Box<dyn Error>> {
        let count = u32::try_from(self.rows.len())?;
        let columns = self.segments.len().clamp(1, LEGEND_COLUMNS);
        let legend_rows = u32::try_from(self.segments.len().div_ceil(columns))?;
        let step = (WIDTH - LEFT) / u32::try_from(columns)?;
        let above = TITLE + legend_rows * LEGEND_ROW;
        let mut svg = String::new();
        {
            let size = (WIDTH, above + count * ROW + BELOW);
            let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            root.fill(&WHITE)?;
            let (head, body) = root.split_vertically(above);
            head.draw(&Text::new(self.title.to_owned(), (16, 14), (FONT, LETTERS + 5).into_font().color(&INK)))?;
            for (index, (word, color)) in self.segments.iter().enumerate() {
                let (row, column) = (index / columns, index % columns);
                let x = i32::try_from(LEFT + u32::try_from(column)? * step)?;
                let y = i32::try_from(TITLE + u32::try_from(row)? * LEGEND_ROW)?;
                head.draw(&Rectangle::new([(x, y), (x + 14, y + 14)], color.filled()))?;
                head.draw(&Text::new((*word).to_owned(), (x + 20, y), (FONT, LETTERS).into_font().color(&INK)))?;
            }
            self.bars(&body)?;
            root.present()?;
        }
        Ok(self.with_title(&svg))
    }

    fn bars(&self, body: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>) -> Result<(), Box<dyn Error>> {
        let last = self.rows.len().saturating_sub(1);
        // Axis ranges of this library include their end.
        let rows: Range<usize> = 0..last;
        let mut chart = ChartBuilder::on(body)
            .margin_left(8)
            .margin_right(34)
            .x_label_area_size(BELOW)
            .y_label_area_size(LEFT)
            .build_cartesian_2d(0.0..self.longest as f64, rows.into_segmented())?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .light_line_style(TRANSPARENT)
            .axis_desc_style((FONT, LETTERS).into_font().color(&INK))
            .label_style((FONT, LETTERS).into_font().color(&INK))
            .x_desc(self.x_label)
            .y_desc(self.y_label)
            .y_labels(self.rows.len() + 1)
            .x_label_formatter(&|number| format!("{number:.0}{}", self.unit))
            .y_label_formatter(&|row| match row {
                // The axis points upwards, but the rows are listed from top to bottom.
                SegmentValue::CenterOf(row) => last
                    .checked_sub(*row)
                    .and_then(|row| self.rows.get(row))
                    .map_or(String::new(), |(name, _)| (*name).to_owned()),
                _ => String::new(),
            })
            .draw()?;
        for (row, (_, numbers)) in self.rows.iter().rev().enumerate() {
            let mut begin = 0.0;
            for (number, (_, color)) in numbers.iter().zip(self.segments) {
                let end = begin + number;
                if end > begin {
                    let corners = [(begin, SegmentValue::Exact(row)), (end, SegmentValue::Exact(row + 1))];
                    let mut bar = Rectangle::new(corners, color.filled());
                    bar.set_margin(3, 3, 0, 0);
                    chart.draw_series([bar])?;
                }
                begin = end;
            }
        }
        Ok(())
    }

    /// Adds a title for screen readers, because the library writes no title.
    fn with_title(&self, svg: &str) -> String {
        let escaped = self.description.replace('&', "&amp;").replace('<', "&lt;");
        svg.replacen("<svg ", "<svg role=\"img\" ", 1).replacen(">\n", &format!(">\n<title>{escaped}</title>\n"), 1)
    }
}
