//! The drawing as SVG: one file, nothing from elsewhere, light and dark.

use super::layout::{BOX_HEIGHT, BOX_WIDTH, Layout, MARGIN};
use super::live;
use super::model::{Graph, Shape};
use std::fmt::Write;

/// Sizes of letters, as in the style.
const TITLE_SIZE: f64 = 13.0;
const DETAIL_SIZE: f64 = 11.0;
/// What is left of a box for a text.
const ROOM: f64 = BOX_WIDTH - 24.0;
const LEGEND_HEIGHT: f64 = 34.0;
/// How far an arrow bends.
const BEND: f64 = 36.0;

/// How wide the arrow is along which most runs.
const WIDEST: f64 = 7.0;
/// Where the number stands on an arrow that runs over several columns.
const FLOW_AT: f64 = 60.0;

const STYLE: &str = "\
svg { background: #fff; font-family: system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; }
.box { fill: #fff; stroke: #9aa3ad; stroke-width: 1.2; }
.bar { fill: #9aa3ad; }
.source .bar { fill: #2f6fb3; } .source .box { stroke: #2f6fb3; }
.destination .bar { fill: #2e8555; } .destination .box { stroke: #2e8555; }
.path .box, .group .box { fill: #f3f5f7; }
.case .box { fill: #fff8e6; stroke: #c9a13b; } .case .bar { fill: #c9a13b; }
.title { font-size: 13px; font-weight: 600; fill: #1d2329; }
.detail { font-size: 11px; fill: #58626c; }
.rate { font-size: 12px; font-weight: 600; fill: #1d2329; text-anchor: end; }
.arrow { fill: none; stroke: #7b858f; stroke-width: 1.3; }
.thick { stroke-width: 3.4; }
.dead { opacity: .6; } .dead .box, .arrow.dead { stroke-dasharray: 5 4; }
.head { fill: #7b858f; }
.flow { font-size: 11px; font-weight: 600; fill: #58626c; text-anchor: middle; paint-order: stroke; stroke: #fff; stroke-width: 4px; }
.legend { font-size: 11px; fill: #58626c; }
@media (prefers-color-scheme: dark) {
svg { background: #15191d; }
.box { fill: #1d2329; } .path .box, .group .box { fill: #262d35; } .case .box { fill: #2e2a1d; }
.title, .rate { fill: #e8ecf0; } .detail, .legend, .flow { fill: #a3adb8; } .flow { stroke: #15191d; }
}
";

pub fn render(graph: &Graph, layout: &Layout) -> String {
    let width = layout.width.max(560.0);
    let height = layout.height + LEGEND_HEIGHT;
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} \
         {height:.0}\">\n<style>\n{STYLE}</style>\n\
         <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"head\" d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n"
    );
    arrows(&mut out, graph, layout);
    for (item, place) in graph.items.iter().zip(&layout.places) {
        draw(&mut out, item, *place);
    }
    legend(&mut out, height);
    out.push_str("</svg>\n");
    out
}

fn arrows(out: &mut String, graph: &Graph, layout: &Layout) {
    let most = graph.arrows.iter().filter_map(|arrow| arrow.rate).fold(1.0, f64::max);
    for (arrow, lane) in graph.arrows.iter().zip(&layout.lanes) {
        let (Some(from), Some(to)) = (layout.places.get(arrow.from), layout.places.get(arrow.to)) else {
            continue;
        };
        let (x, y) = (from.0 + BOX_WIDTH, from.1 + BOX_HEIGHT / 2.0);
        let (end_x, end_y) = (to.0 - 1.0, to.1 + BOX_HEIGHT / 2.0);
        let class = match (arrow.is_thick, arrow.is_dead) {
            (true, true) => "arrow thick dead",
            (true, false) => "arrow thick",
            (false, true) => "arrow dead",
            (false, false) => "arrow",
        };
        // As wide as what runs along it; grey where nothing does.
        let width = arrow
            .rate
            .map(|rate| format!(" style=\"stroke-width:{:.1}\"", 1.0 + WIDEST * (rate / most).sqrt()));
        let _ = write!(
            out,
            "<path class=\"{class}\"{} marker-end=\"url(#head)\" d=\"M{x:.0},{y:.1} ",
            width.unwrap_or_default()
        );
        match lane {
            None => {
                let _ = write!(out, "C{:.0},{y:.1} {:.0},{end_y:.1} ", x + BEND, end_x - BEND);
            }
            Some(lane) => {
                if (lane - y).abs() > 0.5 {
                    let _ = write!(
                        out,
                        "C{:.0},{y:.1} {:.0},{lane:.1} {:.0},{lane:.1} ",
                        x + 16.0,
                        x + 8.0,
                        x + 28.0
                    );
                }
                let turn = end_x - 2.0 * BEND + 16.0;
                let _ =
                    write!(out, "H{turn:.0} C{:.0},{lane:.1} {:.0},{end_y:.1} ", turn + BEND, end_x - BEND);
            }
        }
        let _ = writeln!(out, "{end_x:.0},{end_y:.1}\"/>");
        if let Some(rate) = arrow.rate {
            let (at_x, at_y) = match lane {
                None => ((x + end_x) / 2.0, (y + end_y) / 2.0),
                Some(lane) => (x + FLOW_AT, *lane),
            };
            let rate = live::shown(rate);
            let _ =
                writeln!(out, "<text class=\"flow\" x=\"{at_x:.0}\" y=\"{:.1}\">{rate}</text>", at_y - 5.0);
        }
    }
}

fn draw(out: &mut String, item: &Shape, (x, y): (f64, f64)) {
    let class = item.kind.name();
    let dead = if item.is_dead { " dead" } else { "" };
    let _ = writeln!(out, "<g class=\"{class}{dead}\" transform=\"translate({x:.0},{y:.1})\">");
    let about = [item.title.as_str(), &item.detail, &item.at];
    let about: Vec<&str> = about.into_iter().filter(|text| !text.is_empty()).collect();
    let _ = writeln!(out, "<title>{}</title>", escaped(&about.join("\n")));
    let _ = writeln!(out, "<rect class=\"box\" width=\"{BOX_WIDTH}\" height=\"{BOX_HEIGHT}\" rx=\"6\"/>");
    let _ = writeln!(
        out,
        "<rect class=\"bar\" x=\"1\" y=\"6\" width=\"4\" height=\"{}\" rx=\"2\"/>",
        BOX_HEIGHT - 12.0
    );
    let rate = &item.rate.map(live::shown).unwrap_or_default();
    let room = ROOM - if rate.is_empty() { 0.0 } else { width(rate, TITLE_SIZE) + TITLE_SIZE };
    // Without a text, the title stands in the middle.
    let title_y = if item.detail.is_empty() { 28 } else { 20 };
    let _ = writeln!(
        out,
        "<text class=\"title\" x=\"14\" y=\"{title_y}\">{}</text>",
        escaped(&cut(&item.title, TITLE_SIZE, room))
    );
    if !item.detail.is_empty() {
        let detail = escaped(&cut(&item.detail, DETAIL_SIZE, ROOM));
        let _ = writeln!(out, "<text class=\"detail\" x=\"14\" y=\"36\">{detail}</text>");
    }
    if !rate.is_empty() {
        let _ = writeln!(
            out,
            "<text class=\"rate\" x=\"{}\" y=\"{title_y}\">{}</text>",
            BOX_WIDTH - 10.0,
            escaped(rate)
        );
    }
    out.push_str("</g>\n");
}

fn legend(out: &mut String, height: f64) {
    let y = height - 16.0;
    let signs = [
        ("arrow", "goes on"),
        ("arrow thick", "with flow-control"),
        ("arrow dead", "leads to no destination"),
    ];
    let mut x = MARGIN;
    for (class, text) in signs {
        let _ = writeln!(
            out,
            "<path class=\"{class}\" d=\"M{x:.0},{:.1} h34\"/><text class=\"legend\" x=\"{:.0}\" y=\"{y:.1}\">{text}</text>",
            y - 4.0,
            x + 42.0
        );
        x += 62.0 + text.len() as f64 * 6.2;
    }
}

/// How wide a text about is, in a font as wide as any of those in the style.
fn width(text: &str, size: f64) -> f64 {
    let letter = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' | '!' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' | '"' => 0.45,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.0,
        c if c.is_ascii_uppercase() => 0.74,
        c if c.is_ascii() => 0.64,
        _ => 1.0,
    };
    text.chars().map(letter).sum::<f64>() * size
}

fn cut(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width(&kept, size) > room - size {
            kept.pop();
            break;
        }
    }
    format!("{}…", kept.trim_end())
}

/// As text of XML; what XML cannot have is left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\n' => out.push('\n'),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}
