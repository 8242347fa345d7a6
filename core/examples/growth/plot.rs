//! Draws two line plots side by side, time and memory per unit over a logarithmic axis, as SVG. A horizontal line means
//! linear growth.

use std::error::Error;

use plotters::prelude::*;

use crate::Point;

/// Colors that remain distinguishable with red-green color blindness.
const COLORS: [RGBColor; 4] =
    [RGBColor(8, 81, 156), RGBColor(217, 95, 2), RGBColor(60, 60, 60), RGBColor(117, 112, 179)];
const FONT: &str = "sans-serif";
const LETTERS: u32 = 16;
const INK: RGBColor = RGBColor(34, 34, 34);
const SIZE: (u32, u32) = (960, 380);
const HEAD: u32 = 70;

pub(crate) fn draw(title: &str, unit: &str, lines: &[(&str, Vec<Point>)]) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let (head, body) = root.split_vertically(HEAD);
        let letters = (FONT, LETTERS).into_font().color(&INK);
        head.draw(&Text::new(title.to_owned(), (16, 12), (FONT, LETTERS + 5).into_font().color(&INK)))?;
        for (place, ((name, _), color)) in lines.iter().zip(COLORS).enumerate() {
            let x = 16 + i32::try_from(place)? * 200;
            head.draw(&Rectangle::new([(x, 44), (x + 14, 58)], color.filled()))?;
            head.draw(&Text::new((*name).to_owned(), (x + 20, 43), letters.clone()))?;
        }
        let (left, right) = body.split_horizontally(SIZE.0 / 2);
        let per = |value: f64, point: &Point| value / point.size as f64;
        chart(&left, &format!("µs per {unit}"), unit, lines, &|point| per(point.time, point))?;
        chart(&right, &format!("KB per {unit}"), unit, lines, &|point| per(point.memory / 1e3, point))?;
        root.present()?;
    }
    let title = format!("<title>{title}: time and memory per {unit}; the table below has the numbers</title>");
    Ok(svg.replacen("<svg ", "<svg role=\"img\" ", 1).replacen(">\n", &format!(">\n{title}\n"), 1))
}

fn chart(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    label: &str,
    unit: &str,
    lines: &[(&str, Vec<Point>)],
    of: &dyn Fn(&Point) -> f64,
) -> Result<(), Box<dyn Error>> {
    let points = lines.iter().flat_map(|(_, points)| points);
    let highest = points.map(of).fold(0.0, f64::max) * 1.1;
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d((10.0..10_000.0_f64).log_scale(), 0.0..highest)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .axis_desc_style((FONT, LETTERS).into_font().color(&INK))
        .label_style((FONT, LETTERS - 2).into_font().color(&INK))
        .x_desc(plural(unit))
        .y_desc(label)
        .x_label_formatter(&|size| format!("{size:.0}"))
        .draw()?;
    for ((_, points), color) in lines.iter().zip(COLORS) {
        let places = points.iter().map(|point| (point.size as f64, of(point)));
        chart.draw_series(LineSeries::new(places.clone(), color.stroke_width(2)))?;
        chart.draw_series(places.map(|place| Circle::new(place, 3, color.filled())))?;
    }
    Ok(())
}

fn plural(unit: &str) -> String {
    unit.strip_suffix('y').map_or_else(|| format!("{unit}s"), |stem| format!("{stem}ies"))
}
