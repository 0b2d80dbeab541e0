//! All filters of a set side by side. A filter is a few clauses, each of which has to be fulfilled by one of
//! its parts; a part looks at PRI, at a pattern of a field or at the text of a value. For each of these the
//! masks say which filters' clauses it fulfills, so what was found out about a message decides all filters
//! with a few words, whatever goes together with what.

use super::facts::{FIELDS_MAX, OTHER, VALUES_MAX};
use super::open::{MESSAGE, NET, Open, Shared, TAGS, VALUE};
use crate::pri::{PriTable, VALUES};

/// Clauses of a filter; one that has more is asked by itself.
const CLAUSES_MAX: usize = 8;
/// What is known of a message is found out in stages, the cheap and decisive first: a filter that cannot hold
/// any more is asked for nothing else. These are its tags,
pub const AT_TAGS: usize = 0;
/// HOST, PROGRAM and the sender's address,
pub const AT_NAMES: usize = 1;
/// values,
pub const AT_VALUES: usize = 2;
/// and MESSAGE, or the filter is asked by itself.
pub const AT_LAST: usize = 3;
const STAGES: usize = 4;

/// Clauses on the way to them.
const CLAUSES_BETWEEN_MAX: usize = 64;

/// For each clause the filters in which it is fulfilled: bit n is filter n.
#[derive(Clone, Copy, Default)]
pub struct Masks([u64; CLAUSES_MAX]);

impl Masks {
    #[inline]
    pub fn or(self, other: Masks) -> Masks {
        let mut made = self;
        made.0.iter_mut().zip(other.0).for_each(|(made, other)| *made |= other);
        made
    }

    /// The filters of which all clauses are fulfilled.
    #[inline]
    pub fn filters(self) -> u64 {
        self.0.into_iter().fold(u64::MAX, |all, one| all & one)
    }

    fn set(&mut self, round: usize, filter: u64) {
        if let Some(mask) = self.0.get_mut(round) {
            *mask |= filter;
        }
    }
}

/// What the patterns of a field fulfill.
#[derive(Default)]
struct Field {
    /// By pattern, when it matches and when it does not.
    bits: Vec<(Masks, Masks)>,
    /// Patterns that fulfill something by not matching.
    negated: u64,
    /// What is fulfilled when none of these matches.
    none: Masks,
    /// Filters that ask for the field.
    asking: u64,
}

pub struct Clauses {
    pri: Box<[Masks]>,
    fields: [Field; FIELDS_MAX],
    /// By value and number of its text; the last is any other text.
    values: [Vec<Masks>; VALUES_MAX],
    /// Filters that ask for each value.
    asking: [u64; VALUES_MAX],
    /// By stage, the clauses that something of it or of a later one may fulfill.
    pub left: [Masks; STAGES],
    /// Clauses that only the filter itself can decide.
    pub asked: Masks,
    /// By filter, the patterns on MESSAGE it asks for.
    messages: Vec<u64>,
}

impl Clauses {
    pub fn of(filters: &[Open], shared: &Shared) -> Clauses {
        let field = |at: usize| Field {
            bits: match at {
                NET => vec![Default::default(); shared.nets.len()],
                TAGS => vec![Default::default(); shared.tags.len()],
                _ => vec![Default::default(); shared.patterns.get(at).map_or(0, Vec::len)],
            },
            ..Field::default()
        };
        let texts = |at: usize| shared.values.get(at).map_or(0, |(_, texts)| texts.iter().count() + 1);
        let mut made = Clauses {
            pri: vec![Masks::default(); usize::from(VALUES)].into(),
            fields: std::array::from_fn(field),
            values: std::array::from_fn(|at| vec![Masks::default(); texts(at)]),
            asking: [0; VALUES_MAX],
            left: [Masks::default(); STAGES],
            asked: Masks::default(),
            messages: vec![0; filters.len()],
        };
        for (number, filter) in filters.iter().enumerate() {
            made.note(number, filter);
            let list = clauses(filter, true).filter(|list| list.len() <= CLAUSES_MAX);
            made.add(1 << number, &list.unwrap_or_else(|| vec![vec![Part::Asked]]));
        }
        for field in &mut made.fields {
            field.none = field.bits.iter().fold(Masks::default(), |none, (_, not)| none.or(*not));
        }
        made
    }

    /// What PRI fulfills.
    #[inline]
    pub fn pri(&self, pri: u16) -> Option<Masks> {
        self.pri.get(usize::from(pri)).copied()
    }

    /// Whether one of these filters asks for a field.
    #[inline]
    pub fn asks_field(&self, field: usize, filters: u64) -> bool {
        self.fields.get(field).is_some_and(|field| field.asking & filters != 0)
    }

    #[inline]
    pub fn asks_value(&self, value: usize, filters: u64) -> bool {
        self.asking.get(value).is_some_and(|asking| asking & filters != 0)
    }

    /// The patterns on MESSAGE these filters ask for.
    #[inline]
    pub fn messages(&self, mut filters: u64) -> u64 {
        let mut patterns = 0;
        while filters != 0 {
            patterns |= self.messages.get(filters.trailing_zeros() as usize).copied().unwrap_or(0);
            filters &= filters - 1;
        }
        patterns
    }

    /// What the patterns of a field fulfill when these match.
    #[inline]
    pub fn field(&self, field: usize, found: u64) -> Masks {
        let Some(field) = self.fields.get(field) else { return Masks::default() };
        let bit = |at: u32| field.bits.get(at as usize).copied().unwrap_or_default();
        let mut held = Masks::default();
        if found & field.negated == 0 {
            held = field.none;
        } else {
            each(field.negated & !found, |at| held = held.or(bit(at).1));
        }
        each(found, |at| held = held.or(bit(at).0));
        held
    }

    /// What a value fulfills that is this text.
    #[inline]
    pub fn value(&self, value: usize, text: u16) -> Masks {
        let Some(masks) = self.values.get(value) else { return Masks::default() };
        masks.get(usize::from(text)).or(masks.last()).copied().unwrap_or_default()
    }

    /// Notes what a filter asks for.
    fn note(&mut self, number: usize, open: &Open) {
        match open {
            Open::Pattern { field, bit } => {
                if let Some(field) = self.fields.get_mut(*field) {
                    field.asking |= 1 << number;
                }
                if let Some(patterns) = self.messages.get_mut(number).filter(|_| *field == MESSAGE) {
                    *patterns |= 1 << bit;
                }
            }
            Open::Equal { value, .. } => {
                if let Some(asking) = self.asking.get_mut(*value) {
                    *asking |= 1 << number;
                }
            }
            Open::Not(inner) => self.note(number, inner),
            Open::And(list) | Open::Or(list) => list.iter().for_each(|inner| self.note(number, inner)),
            Open::Pri(_) | Open::Alone(..) => {}
        }
    }

    fn add(&mut self, filter: u64, list: &[Clause<'_>]) {
        for round in 0..CLAUSES_MAX {
            match list.get(round) {
                // Of a clause that it does not have nothing is missing.
                None => self.pri.iter_mut().for_each(|masks| masks.set(round, filter)),
                Some(clause) => clause.iter().for_each(|part| self.add_part(filter, round, part)),
            }
        }
    }

    fn add_part(&mut self, filter: u64, round: usize, part: &Part<'_>) {
        match part {
            Part::Pri(table) => {
                let holding = self.pri.iter_mut().zip(0..VALUES).filter(|(_, pri)| table.has(*pri));
                return holding.for_each(|(masks, _)| masks.set(round, filter));
            }
            Part::Pattern { field: at, bit, on } => {
                let Some(field) = self.fields.get_mut(*at) else { return };
                let Some((matching, not)) = field.bits.get_mut(*bit as usize) else { return };
                if *on { matching } else { not }.set(round, filter);
                field.negated |= u64::from(!on) << bit;
            }
            Part::Equal { value, texts, on } => {
                let Some(masks) = self.values.get_mut(*value) else { return };
                let other = masks.len().saturating_sub(1);
                for (number, masks) in masks.iter_mut().enumerate() {
                    let number = if number == other { OTHER } else { number as u16 };
                    if texts.binary_search(&number).is_ok() == *on {
                        masks.set(round, filter);
                    }
                }
            }
            Part::Asked => self.asked.set(round, filter),
        }
        self.left.iter_mut().take(part.stage() + 1).for_each(|left| left.set(round, filter));
    }
}

/// Calls `f` with the place of every bit that is set.
#[inline]
fn each(mut bits: u64, mut f: impl FnMut(u32)) {
    while bits != 0 {
        f(bits.trailing_zeros());
        bits &= bits - 1;
    }
}

/// What may fulfill a clause.
#[derive(Clone)]
enum Part<'o> {
    Pri(PriTable),
    /// A pattern that matches, or does not.
    Pattern {
        field: usize,
        bit: u32,
        on: bool,
    },
    /// A value that is one of the texts, or is not.
    Equal {
        value: usize,
        texts: &'o [u16],
        on: bool,
    },
    Asked,
}

impl Part<'_> {
    /// When it is found out, behind PRI.
    fn stage(&self) -> usize {
        match self {
            Part::Pri(_) | Part::Pattern { field: TAGS, .. } => AT_TAGS,
            Part::Pattern { field: MESSAGE, .. } | Part::Asked => AT_LAST,
            Part::Pattern { field: 0..VALUE, .. } => AT_NAMES,
            Part::Pattern { .. } | Part::Equal { .. } => AT_VALUES,
        }
    }
}

type Clause<'o> = Vec<Part<'o>>;

/// The clauses of an expression that has to be true, or with `on` false has to be false; `None` when they are
/// too many.
fn clauses(open: &Open, on: bool) -> Option<Vec<Clause<'_>>> {
    let part = match open {
        Open::Not(inner) => return clauses(inner, !on),
        Open::And(list) | Open::Or(list) => {
            let each = list.iter().map(|inner| clauses(inner, on)).collect::<Option<Vec<_>>>()?;
            return match matches!(open, Open::And(_)) == on {
                true => tidy(each.into_iter().flatten().collect()),
                false => any(each),
            };
        }
        Open::Pri(table) => Part::Pri(if on { table.clone() } else { table.negated() }),
        Open::Pattern { field, bit } => Part::Pattern { field: *field, bit: *bit, on },
        Open::Equal { value, texts } => Part::Equal { value: *value, texts, on },
        Open::Alone(..) => Part::Asked,
    };
    Some(vec![vec![part]])
}

/// Of several lists one has to be fulfilled: each clause of one together with each of the others.
fn any(lists: Vec<Vec<Clause<'_>>>) -> Option<Vec<Clause<'_>>> {
    let mut done: Vec<Clause<'_>> = vec![Vec::new()];
    for list in lists {
        if list.len() * done.len() > CLAUSES_BETWEEN_MAX {
            return None;
        }
        let together = done.iter().flat_map(|a| list.iter().map(move |b| [a.as_slice(), b].concat()));
        done = tidy(together.collect())?;
    }
    Some(done)
}

/// Makes one table of what a clause says of PRI, one clause of those that speak of nothing else, and leaves
/// out what always holds.
fn tidy(list: Vec<Clause<'_>>) -> Option<Vec<Clause<'_>>> {
    let mut done: Vec<Clause<'_>> = Vec::new();
    let mut only: Option<PriTable> = None;
    for clause in list {
        let mut table: Option<PriTable> = None;
        let mut made = Vec::with_capacity(clause.len());
        for part in clause {
            match part {
                Part::Pri(one) => table = Some(table.map_or_else(|| one.clone(), |t| t.or(&one))),
                other => made.push(other),
            }
        }
        match table {
            Some(table) if table.all() => continue,
            Some(table) if made.is_empty() => {
                only = Some(only.map_or_else(|| table.clone(), |t| t.and(&table)))
            }
            Some(table) => {
                made.push(Part::Pri(table));
                done.push(made);
            }
            None => done.push(made),
        }
    }
    done.extend(only.map(|table| vec![Part::Pri(table)]));
    (done.len() <= CLAUSES_BETWEEN_MAX).then_some(done)
}
