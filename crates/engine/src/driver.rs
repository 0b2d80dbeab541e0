//! What a driver has to offer the engine. A driver is one file with one table of options and one of these
//! builders; the registry lists it.

use crate::ledger::DestinationCounters;
use crate::need::{Need, of_options};
use crate::outlet::Outlet;
use crate::program::Format;
use crate::source::{Carrier, Settings as SourceSettings, Source};
use crate::worker::Shared;
use conf_schema::{Component, Settings};
use diag::{Diagnostics, Fault, Reported, SourceMap};
use std::sync::Arc;
use template::{Identity, Scope, TemplateOptions};

/// What is the same for all drivers of a configuration while they are built. Nothing is opened yet.
pub struct BuildContext<'a> {
    pub sources: &'a SourceMap,
    pub scope: &'a dyn Scope,
    /// `@version` of the configuration.
    pub version: (u16, u16),
    pub globals: &'a Arc<Settings>,
    pub identity: &'a Identity,
    /// Name of the statement and number of the driver in it.
    pub group: &'a str,
    pub index: usize,
}

impl BuildContext<'_> {
    /// `<statement>#<n>` as in statistics.
    pub fn id(&self) -> String {
        format!("{}#{}", self.group, self.index)
    }

    /// How templates print that are no driver's.
    pub fn global_template_options(&self) -> TemplateOptions {
        crate::compile::global_template_options(self.globals, self.version)
    }
}

/// Opens what a source reads. Called when a configuration takes effect, and again after a failed reload.
pub trait Start: Send + Sync {
    /// Opens descriptors and adds ports for `source` to workers. The fault says why that cannot be.
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault>;

    /// What [`Start::start`] will fail without, as far as it can be known beforehand: places to listen at,
    /// what can be tried.
    fn needs(&self) -> Vec<Need<'_>>;
}

/// A configured source driver.
pub struct SourceDriver {
    /// Says which running source this one is after a reload: persist-name(), or made from what is opened.
    pub key: String,
    /// Options that need the descriptor to be opened anew when they change.
    pub opened_with: String,
    pub driver: &'static str,
    /// Address or path, for statistics.
    pub instance: String,
    pub carrier: Carrier,
    /// Everything but the program, which the compiler adds.
    pub settings: Box<dyn Fn(Arc<crate::program::Program>) -> SourceSettings + Send + Sync>,
    pub start: Box<dyn Start>,
}

/// A configured destination driver.
pub trait Destination: Format {
    fn counters(&self) -> &Arc<DestinationCounters>;

    /// Makes its outlets. Opening files and connections may wait for the first message.
    fn start(&self, shared: &Arc<Shared>) -> Result<(), Fault>;

    fn outlets(&self) -> Vec<Arc<Outlet>>;

    /// What decides which of its outlets a message goes to, where there are several.
    fn divides_by(&self) -> &str {
        ""
    }

    /// Whether it makes its outlets as messages come, which name them.
    fn names_outlets(&self) -> bool {
        false
    }

    /// Of such a destination, the outlet in which one of a predecessor goes on. `None`: there can be none.
    fn outlet_named(&self, _name: &str) -> Option<Arc<Outlet>> {
        None
    }

    /// Its outlets write nothing until [`Destination::release`]: a predecessor is still to hand over what
    /// came before.
    fn hold(&self) {
        self.outlets().iter().for_each(|outlet| outlet.hold());
    }

    fn release(&self) {
        self.outlets().iter().for_each(|outlet| outlet.release());
    }

    /// A reload kept it as it is: keep-alive(no) has its say.
    fn reloaded(&self) {}

    /// Driver name and address, for statistics.
    fn described(&self) -> (&'static str, String);
}

pub struct DestinationDriver {
    pub key: String,
    pub destination: Arc<dyn Destination>,
}

/// Makes a driver of type `D` of its options, or says what is wrong with them.
pub type Build<D> = fn(&Settings, &BuildContext<'_>, &mut Diagnostics) -> Result<D, Reported>;
pub type BuildSource = Build<SourceDriver>;
pub type BuildDestination = Build<DestinationDriver>;

/// What a driver needs for options of its own, known of one that cannot be built as well. For those that many
/// have, [`of_options`] says it.
pub type Needs = fn(&Settings) -> Vec<Need<'static>>;

/// What options ask for, those of every driver first.
pub(crate) fn all_needs(own: Needs, settings: &Settings) -> Vec<Need<'static>> {
    of_options(settings).into_iter().chain(own(settings)).collect()
}

/// A driver as it is listed: what its options are, who builds it, and what it needs.
#[derive(Clone, Copy)]
pub struct Part<B> {
    pub table: &'static Component,
    pub build: B,
    pub(crate) needs: Needs,
}

pub type SourcePart = Part<BuildSource>;
pub type DestinationPart = Part<BuildDestination>;

impl<B: Copy> Part<B> {
    pub const fn new(table: &'static Component, build: B) -> Part<B> {
        Part { table, build, needs: |_| Vec::new() }
    }

    /// Says what it needs for its own options.
    pub const fn needing(self, needs: Needs) -> Part<B> {
        Part { needs, ..self }
    }

    /// What a driver with these options needs.
    pub fn needs(&self, settings: &Settings) -> Vec<Need<'static>> {
        all_needs(self.needs, settings)
    }
}

/// Everything a configuration may name. A file of drivers gives the list of its own.
pub struct Registry {
    pub sources: &'static [&'static [SourcePart]],
    pub destinations: &'static [&'static [DestinationPart]],
    pub options: &'static Component,
    pub catalogue: &'static conf_schema::Catalogue,
}

impl Registry {
    pub fn sources(&self) -> impl Iterator<Item = &'static SourcePart> + use<> {
        self.sources.iter().copied().flatten()
    }

    pub fn destinations(&self) -> impl Iterator<Item = &'static DestinationPart> + use<> {
        self.destinations.iter().copied().flatten()
    }

    /// The source with this table.
    pub fn source(&self, table: &Component) -> Option<&'static SourcePart> {
        self.sources().find(|part| std::ptr::eq(part.table, table))
    }

    /// The destination with this table.
    pub fn destination(&self, table: &Component) -> Option<&'static DestinationPart> {
        self.destinations().find(|part| std::ptr::eq(part.table, table))
    }
}
