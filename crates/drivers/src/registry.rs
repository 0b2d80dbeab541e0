//! All drivers and other components with a table, put together from the lists of their files.

use crate::{destinations, options, sources};
use conf_schema::{Catalogue, Component};
use engine::driver::{Part, Registry};

pub static REGISTRY: Registry = Registry {
    sources: sources::PARTS,
    destinations: destinations::PARTS,
    options: &options::OPTIONS,
    catalogue: &CATALOGUE,
};

/// Every component, and what of syslog-ng is refused by name.
pub static CATALOGUE: Catalogue = Catalogue { components: &ALL, unavailable: options::UNAVAILABLE };

/// Components of log paths, which no list of others has.
const ELEMENTS: [&Component; 4] =
    [&options::APP_PARSER, &options::APP_TRANSFORM, &options::OPTIONS, &options::PARALLELIZE];

const COUNT: usize = count(sources::PARTS) + count(destinations::PARTS) + parsers::ALL.len() + ELEMENTS.len();

/// Every component that has a table.
static ALL: [&Component; COUNT] = {
    let mut all = [ELEMENTS[0]; COUNT];
    let mut end = list(sources::PARTS, &mut all, 0);
    end = list(destinations::PARTS, &mut all, end);
    let mut i = 0;
    while i < parsers::ALL.len() {
        all[end + i] = parsers::ALL[i].0;
        i += 1;
    }
    end += i;
    i = 0;
    while i < ELEMENTS.len() {
        all[end + i] = ELEMENTS[i];
        i += 1;
    }
    all
};

const fn count<B>(lists: &[&[Part<B>]]) -> usize {
    let (mut count, mut i) = (0, 0);
    while i < lists.len() {
        count += lists[i].len();
        i += 1;
    }
    count
}

/// Adds the tables of parts behind `end`, and says where they end.
const fn list<B>(lists: &[&[Part<B>]], all: &mut [&'static Component; COUNT], mut end: usize) -> usize {
    let mut i = 0;
    while i < lists.len() {
        let mut j = 0;
        while j < lists[i].len() {
            all[end] = lists[i][j].table;
            (j, end) = (j + 1, end + 1);
        }
        i += 1;
    }
    end
}
