//! Where boxes stand: paths in rows from left to right, sources and destinations beside what leads to and
//! from them.

use super::model::{Graph, Kind, is_in_rows};

pub const BOX_WIDTH: f64 = 216.0;
pub const BOX_HEIGHT: f64 = 46.0;
const COLUMN_GAP: f64 = 64.0;
const ROW_GAP: f64 = 22.0;
pub const MARGIN: f64 = 24.0;

/// The upper left corners of all boxes, and the size of the whole.
pub struct Layout {
    pub places: Vec<(f64, f64)>,
    pub width: f64,
    pub height: f64,
    /// For each arrow, the height at which it runs; `None`: straight from box to box.
    pub lanes: Vec<Option<f64>>,
}

pub fn of(graph: &Graph) -> Layout {
    let step = BOX_HEIGHT + ROW_GAP;
    let last = graph.items.iter().map(|item| item.column).max().unwrap_or(0) + 1;
    let x = |column: usize| MARGIN + column as f64 * (BOX_WIDTH + COLUMN_GAP);
    let y = |row: usize| MARGIN + row as f64 * step;
    let mut places: Vec<(f64, f64)> = graph.items.iter().map(|item| (x(item.column), y(item.row))).collect();
    for kind in [Kind::Source, Kind::Destination] {
        let column = if kind == Kind::Source { 0 } else { last };
        for (at, top) in beside(graph, &places, kind) {
            if let Some(place) = places.get_mut(at) {
                *place = (x(column), top);
            }
        }
    }
    let bottom = places.iter().map(|(_, top)| top + BOX_HEIGHT).fold(0.0, f64::max);
    let lanes = graph.arrows.iter().map(|arrow| lane(graph, arrow.from, arrow.to, last, step)).collect();
    Layout { places, width: x(last) + BOX_WIDTH + MARGIN, height: bottom + MARGIN, lanes }
}

/// Items of a kind in the middle of what they are joined to, none over another.
fn beside(graph: &Graph, places: &[(f64, f64)], kind: Kind) -> Vec<(usize, f64)> {
    let of_kind = |at: usize| graph.items.get(at).is_some_and(|item| item.kind == kind);
    let mut sums: Vec<(f64, f64)> = vec![(0.0, 0.0); graph.items.len()];
    for arrow in &graph.arrows {
        for (own, other) in [(arrow.from, arrow.to), (arrow.to, arrow.from)] {
            let top = places.get(other).filter(|_| of_kind(own)).map(|(_, top)| *top);
            if let (Some(top), Some(sum)) = (top, sums.get_mut(own)) {
                *sum = (sum.0 + top, sum.1 + 1.0);
            }
        }
    }
    let wanted = sums.iter().enumerate().filter(|(at, _)| of_kind(*at));
    let mut wanted: Vec<(usize, f64)> =
        wanted.map(|(at, (sum, count))| (at, if *count > 0.0 { sum / count } else { MARGIN })).collect();
    wanted.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    without_overlap(wanted)
}

/// Pushes down what would stand over another, and the whole up again by the mean of that.
fn without_overlap(mut wanted: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    let step = BOX_HEIGHT + ROW_GAP;
    let mut groups: Vec<(Vec<(usize, f64)>, f64)> = Vec::new();
    for (at, top) in wanted.drain(..) {
        groups.push((vec![(at, top)], top));
        // A group that stands over the one before becomes one with it, in the middle of what all want.
        while let [.., (before, begin), (these, own)] = groups.as_slice() {
            if *own >= begin + before.len() as f64 * step {
                break;
            }
            let all: Vec<(usize, f64)> = before.iter().chain(these).copied().collect();
            let ideal = all.iter().enumerate().map(|(n, (_, top))| top - n as f64 * step).sum::<f64>();
            let begin = (ideal / all.len() as f64).max(MARGIN);
            groups.truncate(groups.len() - 2);
            groups.push((all, begin));
        }
    }
    let spread = groups.into_iter().flat_map(|(all, begin)| {
        all.into_iter().enumerate().map(move |(n, (at, _))| (at, begin + n as f64 * step))
    });
    spread.collect()
}

/// An arrow over more than one column stays in the row of its beginning, or runs below it where boxes stand
/// in its way.
fn lane(graph: &Graph, from: usize, to: usize, last: usize, step: f64) -> Option<f64> {
    let (from, to) = (graph.items.get(from)?, graph.items.get(to)?);
    let end = if to.kind == Kind::Destination { last } else { to.column };
    if !is_in_rows(from.kind) || end <= from.column + 1 {
        return None;
    }
    let is_between = graph.items.iter().any(|item| {
        is_in_rows(item.kind) && item.row == from.row && item.column > from.column && item.column < end
    });
    let middle = MARGIN + from.row as f64 * step + BOX_HEIGHT / 2.0;
    Some(if is_between { middle + (BOX_HEIGHT + ROW_GAP) / 2.0 } else { middle })
}
