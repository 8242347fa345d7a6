//! Tables: columns with headings, of the minimum width, wrapped at words if the terminal is too narrow. If that is not
//! enough, each row becomes a list. This module does not depend on the content of the tables.

use tabled::{
    builder::Builder,
    grid::util::string::get_line_width,
    settings::{object::Columns, peaker::Peaker, Alignment, Modify, Padding, Style, Width},
};

/// The content of a column determines its alignment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Words,
    Numbers,
}

pub(crate) struct Table {
    columns: Vec<ColumnKind>,
    /// The first row contains the headings.
    rows: Vec<Vec<String>>,
}

/// Text for zero, so that other numbers are easier to see.
pub(crate) const NONE: &str = ".";
/// Space between cells, and left margin.
const GAP: usize = 2;
const INDENT: usize = 2;
/// Maximum length of a word that is never broken.
const WORD: usize = 32;

impl Table {
    pub(crate) fn new(headings: Vec<(ColumnKind, String)>) -> Table {
        let (columns, headings) = headings.into_iter().unzip();
        Table { columns, rows: Vec::from([headings]) }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn write(self, width: Option<usize>, out: &mut String) {
        let longest = |column_index: usize| {
            let words =
                self.rows.iter().filter_map(|row| row.get(column_index)).flat_map(|cell| cell.split_whitespace());
            words.map(|word| get_line_width(word).min(WORD)).max().unwrap_or_default() + GAP
        };
        let min_widths = MinWidths((0..self.columns.len()).map(longest).collect());
        if width.is_some_and(|width| min_widths.0.iter().sum::<usize>() + INDENT > width + GAP) {
            return self.write_list(out);
        }
        let mut builder = Builder::default();
        for row in self.rows {
            builder.push_record(row);
        }
        let mut table = builder.build();
        table.with(Style::empty()).with(Padding::new(0, GAP, 0, 0));
        for (column_index, column) in self.columns.iter().enumerate() {
            let alignment = if *column == ColumnKind::Numbers { Alignment::right() } else { Alignment::left() };
            table.with(Modify::new(Columns::one(column_index)).with(alignment));
        }
        if let Some(width) = width {
            table.with(Width::wrap(width + GAP - INDENT).keep_words(true).priority(min_widths));
        }
        for line in table.to_string().lines() {
            (0..INDENT).for_each(|_| out.push(' '));
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }

    /// Writes each row as a few lines: its first cell with the numbers, or with the second cell, then each other cell
    /// after its heading.
    fn write_list(self, out: &mut String) {
        let mut rows = self.rows.into_iter();
        let headings = rows.next().unwrap_or_default();
        for row in rows {
            let (mut first, mut rest) = (Vec::new(), String::new());
            for (column_index, ((column, heading), cell)) in
                self.columns.iter().zip(&headings).zip(&row).enumerate().skip(1)
            {
                match column {
                    _ if cell.is_empty() => {}
                    ColumnKind::Numbers if get_line_width(cell) == 1 && cell.contains(NONE) => {}
                    ColumnKind::Numbers => first.push(format!("{cell} {heading}")),
                    ColumnKind::Words if column_index == 1 => first.push(cell.clone()),
                    ColumnKind::Words => rest.push_str(&format!("    {heading}: {cell}\n")),
                }
            }
            let name = row.first().map(String::as_str).unwrap_or_default();
            out.push_str(&format!("  {name}: {}\n{rest}", first.join(", ")));
        }
    }
}

/// Breaks a line at spaces, so that only single words are wider than `width`. Parts after the first are indented.
pub(crate) fn wrap_line(line: &str, width: usize, indent: usize) -> String {
    let mut out = String::with_capacity(line.len());
    let mut used = 0;
    let margin = line.len() - line.trim_start_matches(' ').len();
    for (index, word) in line.trim_end_matches('\n').get(margin..).unwrap_or_default().split(' ').enumerate() {
        let length = get_line_width(word);
        if index == 0 {
            out.push_str(&" ".repeat(margin));
            used = margin;
        } else if used + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            used = indent;
        } else {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
    }
    out.push('\n');
    out
}

/// Narrows the widest column first, but no column below its longest word.
#[derive(Clone)]
struct MinWidths(Vec<usize>);

impl Peaker for MinWidths {
    fn peak(&mut self, _mins: &[usize], widths: &[usize]) -> Option<usize> {
        let widest = |(_, width): &(usize, &usize)| **width;
        let has_room = |(column_index, width): &(usize, &usize)| {
            self.0.get(*column_index).is_some_and(|min_width| **width > *min_width)
        };
        let column_index = widths.iter().enumerate().filter(has_room).max_by_key(widest);
        column_index.or_else(|| widths.iter().enumerate().max_by_key(widest)).map(|(column_index, _)| column_index)
    }
}
