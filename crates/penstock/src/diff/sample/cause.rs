//! Why a message comes out differently: the first statement on its way to a destination at which the two
//! configurations part.

use super::Class;
use engine::plan_map::{PlanMap, StepId};
use engine::watch::inquiry::{Happened, Story, Told};
use engine::watch::{Kind, Verdict};
use std::collections::{HashMap, HashSet};

/// A statement that makes a difference.
pub struct Cause {
    pub words: String,
    /// `relay.conf:12`
    pub at: Option<String>,
}

/// The steps by which a message comes to each step of a plan.
pub struct Ways<'p> {
    map: &'p PlanMap,
    known: HashMap<StepId, HashSet<StepId>>,
}

impl<'p> Ways<'p> {
    pub fn of(map: &'p PlanMap) -> Ways<'p> {
        Ways { map, known: HashMap::new() }
    }

    /// The steps of a destination, as `d_app#0`.
    fn ends(&self, destination: &str) -> Vec<StepId> {
        let is_it = |rule: &str| rule == destination;
        let entries = self.map.entries().filter(|entry| {
            entry.kind == Kind::Destination && entry.statement.as_ref().is_some_and(|at| is_it(&at.rule))
        });
        entries.map(|entry| entry.id).collect()
    }

    /// What a message may come by before it is at `end`: what that stands in, and what stands before that.
    fn to(&mut self, end: StepId) -> &HashSet<StepId> {
        let map = self.map;
        self.known.entry(end).or_insert_with(|| {
            let around: HashMap<Option<StepId>, usize> =
                map.way_up(end).map(|entry| (entry.parent, entry.index)).collect();
            let above: HashSet<StepId> = map.way_up(end).map(|entry| entry.id).collect();
            let leads = |id: StepId| {
                above.contains(&id)
                    || map.way_up(id).any(|entry| {
                        let is_before = around.get(&entry.parent).is_some_and(|index| entry.index < *index);
                        let is_of_source = entry.parent.is_none() && entry.kind != Kind::LogPath;
                        // Branches of a fork each see the message as it was.
                        let is_beside = matches!(entry.kind, Kind::LogPath | Kind::Channel | Kind::Branch)
                            && entry
                                .parent
                                .and_then(|parent| map.entry(parent))
                                .is_none_or(|p| p.kind == Kind::Fork);
                        is_of_source || is_before && !is_beside
                    })
            };
            map.entries().map(|entry| entry.id).filter(|id| leads(*id)).collect()
        })
    }

    /// What happened to a message on its way there.
    fn way<'s>(&mut self, end: StepId, stories: &'s [Story]) -> Vec<&'s Told> {
        let leads = self.to(end);
        let told = stories.iter().flat_map(|story| &story.told);
        told.filter(|told| told.step.as_ref().is_some_and(|(id, _)| leads.contains(id))).collect()
    }

    fn label(&self, told: &Told) -> Option<Cause> {
        let (id, statement) = told.step.as_ref()?;
        let label = self.map.entry(*id).map_or_else(|| statement.rule.clone(), |entry| entry.label());
        let at = without_column(&statement.location);
        Some(Cause { words: format!("{label} ({at})"), at: Some(at) })
    }
}

/// The plan of one side, what happened there, and how the destination is called there.
type SideOf<'a, 'p> = (&'a mut Ways<'p>, &'a [Story], &'a str);

pub fn of(class: Class, sides: [SideOf<'_, '_>; 2], new_name: &str) -> Cause {
    let [(old_ways, old_stories, old_name), (new_ways, new_stories, new_destination)] = sides;
    let old = longest(old_ways, old_stories, old_name);
    let new = longest(new_ways, new_stories, new_destination);
    let cause = match class {
        Class::NoLonger => match (&new, new.as_deref().and_then(stopped)) {
            (Some(_), Some(told)) => new_ways.label(told).map(|cause| in_words("ends now at", cause)),
            (None, _) => queued(old_stories, old_name).and_then(|told| {
                let cause = old_ways.label(told)?;
                Some(Cause { words: format!("{} is not in {new_name}", cause.words), at: cause.at })
            }),
            _ => None,
        },
        Class::Newly => match (&old, old.as_deref().and_then(stopped)) {
            (Some(_), Some(told)) => old_ways.label(told).map(|cause| in_words("no longer ends at", cause)),
            _ => queued(new_stories, new_destination)
                .and_then(|told| new_ways.label(told))
                .map(|cause| in_words("written by", cause)),
        },
        Class::Changed => None,
    };
    let parting = || {
        let (old, new) = (old.clone().unwrap_or_default(), new.clone().unwrap_or_default());
        parting(old_ways, &old, new_ways, &new)
    };
    let own = || {
        let told = queued(new_stories, new_destination)?;
        new_ways.label(told).map(|cause| in_words("what it writes differs:", cause))
    };
    cause
        .or_else(parting)
        .or_else(own)
        .unwrap_or_else(|| elsewhere(old_ways, old_stories, new_ways, new_stories))
}

/// Of the ways to a destination, the one on which the most happened.
fn longest<'s>(ways: &mut Ways<'_>, stories: &'s [Story], destination: &str) -> Option<Vec<&'s Told>> {
    let ends = ways.ends(destination);
    ends.into_iter().map(|end| ways.way(end, stories)).max_by_key(Vec::len)
}

/// Where a message ended on a way.
fn stopped<'s>(way: &[&'s Told]) -> Option<&'s Told> {
    let mut stops = way.iter().filter(|told| {
        let kind = told.step.as_ref().map(|(_, statement)| statement.kind);
        told.what == Happened::Ends(Verdict::Stopped) && !matches!(kind, Some(Kind::LogPath | Kind::Channel))
    });
    stops.next_back().copied()
}

fn queued<'s>(stories: &'s [Story], destination: &str) -> Option<&'s Told> {
    let mut told = stories.iter().flat_map(|story| &story.told);
    told.find(|told| {
        matches!(told.what, Happened::Queued { .. })
            && told.step.as_ref().is_some_and(|(_, statement)| statement.rule == destination)
    })
}

/// The first thing that happened on one way and not on the other.
fn parting(old_ways: &Ways<'_>, old: &[&Told], new_ways: &Ways<'_>, new: &[&Told]) -> Option<Cause> {
    let (old, new): (Vec<_>, Vec<_>) = (events(old), events(new));
    let at = old.iter().zip(&new).take_while(|(old, new)| is_same(old, new)).count();
    let (before, after) = (old.get(at), new.get(at));
    // What was there and is not, with the rest the same, was taken out.
    let is_gone = before.is_some() && old.get(at + 1).zip(after).is_some_and(|(old, new)| is_same(old, new));
    match (before, after) {
        (Some(before), None) => old_ways.label(before).map(|cause| in_words("no longer done:", cause)),
        (Some(before), Some(_)) if is_gone => {
            old_ways.label(before).map(|cause| in_words("no longer done:", cause))
        }
        (_, Some(after)) => new_ways.label(after).map(|cause| in_words("because of", cause)),
        (None, None) => None,
    }
}

/// A difference that is on no way to the destination: an earlier log path that keeps the message, or not.
fn elsewhere(old_ways: &Ways<'_>, old: &[Story], new_ways: &Ways<'_>, new: &[Story]) -> Cause {
    let all = |stories: &[Story]| stories.iter().flat_map(|story| story.told.clone()).collect::<Vec<Told>>();
    let (old, new) = (all(old), all(new));
    let (old, new): (Vec<&Told>, Vec<&Told>) = (old.iter().collect(), new.iter().collect());
    parting(old_ways, &old, new_ways, &new)
        .unwrap_or_else(|| Cause { words: "another message is made".to_owned(), at: None })
}

/// What counts of what happened: verdicts, and what was changed.
fn events<'s>(way: &[&'s Told]) -> Vec<&'s Told> {
    let counts = |told: &&&Told| matches!(told.what, Happened::Ends(_) | Happened::Changed { .. });
    way.iter().filter(counts).copied().collect()
}

fn is_same(a: &Told, b: &Told) -> bool {
    let kind = |told: &Told| told.step.as_ref().map(|(_, statement)| statement.kind);
    kind(a) == kind(b) && a.what == b.what
}

fn in_words(how: &str, cause: Cause) -> Cause {
    Cause { words: format!("{how} {}", cause.words), at: cause.at }
}

fn without_column(location: &str) -> String {
    location.rsplit_once(':').map_or(location, |(line, _)| line).to_owned()
}
