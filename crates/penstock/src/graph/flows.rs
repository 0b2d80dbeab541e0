//! How much runs along each arrow, from what is counted at the boxes: what goes in comes out, and what only
//! one arrow can have brought has come by that one. An arrow that this does not settle has no number.

use super::model::{Graph, Kind};

/// Messages a second that a box gets and gives on, as far as somebody counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted {
    pub gets: Option<f64>,
    pub gives: Option<f64>,
}

/// Rates of two looks differ by what came between them: so much, in parts and in messages a second.
const TOLERANCE: f64 = 0.03;
const TOLERANCE_MIN: f64 = 2.0;

/// By arrow; `counted` is by box.
pub fn of(graph: &Graph, counted: &[Counted]) -> Vec<Option<f64>> {
    let mut boxes = counted.to_vec();
    boxes.resize(graph.items.len(), Counted::default());
    let mut flows = Flows { graph, boxes, arrows: vec![None; graph.arrows.len()] };
    flows.sources();
    while flows.box_by_box() {}
    flows.arrows
}

struct Flows<'g> {
    graph: &'g Graph,
    boxes: Vec<Counted>,
    arrows: Vec<Option<f64>>,
}

impl Flows<'_> {
    fn arrows_to(&self, to: usize) -> Vec<usize> {
        let all = self.graph.arrows.iter().enumerate();
        all.filter(|(_, arrow)| arrow.to == to).map(|(at, _)| at).collect()
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.graph.items.get(at).map(|item| item.kind)
    }

    /// Several sources of a path: all of what they get is known to come here only where the sum says so.
    fn sources(&mut self) {
        for (to, of) in self.boxes.clone().iter().enumerate() {
            let arrows = self.arrows_to(to);
            let from = |at: &usize| self.graph.arrows.get(*at).map_or(usize::MAX, |arrow| arrow.from);
            let rates: Option<Vec<f64>> =
                arrows.iter().map(|at| self.boxes.get(from(at)).and_then(|one| one.gives)).collect();
            let (Some(gets), Some(rates)) = (of.gets, rates) else { continue };
            let sum: f64 = rates.iter().sum();
            let are_sources = arrows.iter().all(|at| self.kind(from(at)) == Some(Kind::Source));
            if are_sources && (sum - gets).abs() <= TOLERANCE * sum + TOLERANCE_MIN {
                arrows.iter().zip(rates).for_each(|(at, rate)| self.settle(*at, rate));
            }
        }
    }

    fn settle(&mut self, at: usize, rate: f64) {
        if let Some(arrow) = self.arrows.get_mut(at) {
            *arrow = arrow.or(Some(rate.max(0.0)));
        }
    }

    /// Whether something more became known.
    fn box_by_box(&mut self) -> bool {
        let before = (self.arrows.clone(), self.boxes.clone());
        for at in 0..self.boxes.len() {
            self.before(at);
            self.behind(at);
        }
        before != (self.arrows.clone(), self.boxes.clone())
    }

    /// What comes into a box is the sum of what its arrows bring.
    fn before(&mut self, at: usize) {
        let arrows = self.arrows_to(at);
        let open: Vec<usize> =
            arrows.iter().copied().filter(|arrow| self.arrows.get(*arrow) == Some(&None)).collect();
        let known: f64 = arrows.iter().filter_map(|arrow| *self.arrows.get(*arrow)?).sum();
        let Some(one) = self.boxes.get_mut(at) else { return };
        match (open.as_slice(), one.gets) {
            ([], None) if !arrows.is_empty() => one.gets = Some(known),
            ([only], Some(gets)) => self.settle(*only, gets - known),
            _ => {}
        }
    }

    /// Each arrow out of a box has all that it gives on, but for the branches of an `if`, which share it.
    fn behind(&mut self, at: usize) {
        let passes_all = match self.graph.items.get(at) {
            Some(item) => match item.kind {
                Kind::Path | Kind::Case => true,
                Kind::Step => item.title.starts_with("rewrite"),
                Kind::Source | Kind::Destination | Kind::Group => false,
            },
            None => return,
        };
        let arrows = self.graph.arrows.iter().enumerate().filter(|(_, arrow)| arrow.from == at);
        let whole: Vec<usize> = arrows
            .filter(|(_, arrow)| self.kind(arrow.to) != Some(Kind::Case))
            .filter(|_| self.kind(at) != Some(Kind::Source))
            .map(|(number, _)| number)
            .collect();
        let brought = whole.iter().find_map(|arrow| *self.arrows.get(*arrow)?);
        let Some(one) = self.boxes.get_mut(at) else { return };
        one.gives = one.gives.or(brought).or(one.gets.filter(|_| passes_all));
        if passes_all {
            one.gets = one.gets.or(one.gives);
        }
        if let Some(gives) = one.gives {
            whole.into_iter().for_each(|arrow| self.settle(arrow, gives));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::Shape;
    use super::*;

    fn graph(kinds: &[(Kind, &str)], arrows: &[(usize, usize)]) -> Graph {
        let mut graph = Graph::default();
        for (kind, title) in kinds {
            let (kind, title) = (*kind, (*title).to_owned());
            graph.add(Shape { kind, title, ..Shape::default() });
        }
        arrows.iter().for_each(|(from, to)| graph.arrow(*from, *to, false));
        graph
    }

    fn counted(gets: Option<f64>, gives: Option<f64>) -> Counted {
        Counted { gets, gives }
    }

    #[test]
    fn what_goes_in_comes_out() {
        // source -> log -> filter -> if / else -> two destinations
        let kinds = [
            (Kind::Source, "s"),
            (Kind::Path, "log"),
            (Kind::Step, "filter f"),
            (Kind::Case, "if"),
            (Kind::Case, "else"),
            (Kind::Destination, "a"),
            (Kind::Destination, "b"),
        ];
        let graph = graph(&kinds, &[(0, 1), (1, 2), (2, 3), (2, 4), (3, 5), (4, 6)]);
        let mut boxes = vec![Counted::default(); kinds.len()];
        boxes[0] = counted(None, Some(100.0));
        boxes[1] = counted(Some(100.0), None);
        boxes[5] = counted(Some(30.0), None);
        boxes[6] = counted(Some(20.0), None);
        let expected = [100.0, 100.0, 30.0, 20.0, 30.0, 20.0].map(Some);
        assert_eq!(of(&graph, &boxes), expected);
    }

    #[test]
    fn what_cannot_be_known_has_no_number() {
        // Two paths of two sources into one destination; one path gets less than its sources have.
        let kinds = [
            (Kind::Source, "s"),
            (Kind::Source, "t"),
            (Kind::Path, "log"),
            (Kind::Path, "log"),
            (Kind::Step, "filter f"),
            (Kind::Step, "filter g"),
            (Kind::Destination, "d"),
        ];
        let arrows = [(0, 2), (1, 2), (0, 3), (1, 3), (2, 4), (3, 5), (4, 6), (5, 6)];
        let graph = graph(&kinds, &arrows);
        let mut boxes = vec![Counted::default(); kinds.len()];
        boxes[0] = counted(None, Some(60.0));
        boxes[1] = counted(None, Some(40.0));
        boxes[2] = counted(Some(100.0), None);
        boxes[3] = counted(Some(50.0), None);
        boxes[6] = counted(Some(70.0), None);
        let some = [Some(60.0), Some(40.0), None, None, Some(100.0), Some(50.0), None, None];
        assert_eq!(of(&graph, &boxes), some);
        // With what one filter lets through, the other's is what is left.
        boxes[4] = counted(None, Some(55.0));
        assert_eq!(of(&graph, &boxes)[6..], [Some(55.0), Some(15.0)]);
    }
}
