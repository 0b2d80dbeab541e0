//! The members that are read, by their path: others are passed over.

use crate::names::{SDATA, Table, wanted};
use record::{Demand, NameId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Clone)]
pub enum Tree {
    /// Everything is read.
    All,
    Some(Arc<Wanted>),
}

/// What is read of objects.
pub struct Wanted {
    /// Members of the object of each path; the first is the whole's.
    nodes: Vec<Table<Member>>,
    /// Which of `$1` ... are read.
    matches: filter::Wanted,
}

#[derive(Clone, Copy)]
pub struct Member {
    /// The name of its value.
    pub name: Option<NameId>,
    /// If it is an object: what is read of it.
    pub inside: Inside,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    Nothing,
    Node(u32),
    All,
}

impl Tree {
    /// `None` when everything is read.
    pub fn new(prefix: &str, delimiter: u8, demand: &Demand) -> Option<Tree> {
        let keys = wanted(prefix, demand)?;
        let mut builder = Builder { keys: &keys, delimiter, paths: BTreeMap::new(), nodes: Vec::new() };
        // STRUCTURED-DATA is read as a whole, whatever its parameters are called.
        let sdata =
            (demand.sdata && prefix.is_empty() && delimiter == b'.').then(|| SDATA.trim_end_matches('.'));
        builder.node(b"", sdata);
        let nodes = builder.nodes.into_iter().flatten().collect();
        let matches = filter::Wanted::of(demand);
        Some(Tree::Some(Arc::new(Wanted { nodes, matches })))
    }

    pub fn root(&self) -> Inside {
        match self {
            Tree::All => Inside::All,
            Tree::Some(_) => Inside::Node(0),
        }
    }

    /// Whether no name is read.
    pub fn is_empty(&self) -> bool {
        match self {
            Tree::All => false,
            Tree::Some(wanted) => wanted.nodes.first().is_none_or(Table::is_empty),
        }
    }

    /// Whether an item of an array at the top is read.
    pub fn item(&self, name: NameId) -> bool {
        match self {
            Tree::All => true,
            Tree::Some(wanted) => wanted.matches.has(name),
        }
    }

    #[inline]
    pub fn member(&self, node: u32, key: &[u8]) -> Option<Member> {
        self.members(node)?.get(key)
    }

    /// What is read of an object.
    #[inline]
    pub fn members(&self, node: u32) -> Option<&Table<Member>> {
        match self {
            Tree::All => None,
            Tree::Some(wanted) => wanted.nodes.get(node as usize),
        }
    }
}

struct Builder<'a> {
    keys: &'a [(Box<[u8]>, NameId)],
    delimiter: u8,
    /// Nodes by the path to them, so that keys with delimiters in them do not multiply.
    paths: BTreeMap<Vec<u8>, u32>,
    nodes: Vec<Option<Table<Member>>>,
}

impl Builder<'_> {
    fn node(&mut self, path: &[u8], sdata: Option<&str>) -> u32 {
        if let Some(node) = self.paths.get(path) {
            return *node;
        }
        let node = self.nodes.len() as u32;
        self.nodes.push(None);
        self.paths.insert(path.to_vec(), node);
        let mut names: BTreeMap<Vec<u8>, NameId> = BTreeMap::new();
        let mut inner: BTreeSet<Vec<u8>> = BTreeSet::new();
        for (key, id) in self.keys {
            let Some(rest) = key.strip_prefix(path) else { continue };
            names.insert(rest.to_vec(), *id);
            let places = rest.iter().enumerate().filter(|(_, b)| **b == self.delimiter);
            inner.extend(places.map(|(place, _)| rest[..place].to_vec()));
        }
        let mut members = Vec::new();
        for key in names.keys().chain(inner.iter()).cloned().collect::<BTreeSet<_>>() {
            let inside = match inner.contains(&key) {
                false => Inside::Nothing,
                true => {
                    let mut path = path.to_vec();
                    path.extend_from_slice(&key);
                    path.push(self.delimiter);
                    Inside::Node(self.node(&path, None))
                }
            };
            if sdata.is_none_or(|s| s.as_bytes() != key) {
                let member = Member { name: names.get(&key).copied(), inside };
                members.push((key.into_boxed_slice(), member));
            }
        }
        if let Some(sdata) = sdata {
            members.push((sdata.as_bytes().into(), Member { name: None, inside: Inside::All }));
        }
        self.nodes[node as usize] = Some(Table::new(members));
        node
    }
}
