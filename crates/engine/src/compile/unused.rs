//! What no log path uses: syslog-ng reads it and leaves it at that, and so does this. Its drivers and options
//! have to be known; nothing of it is built, so that no file is read, no socket opened and no command run for
//! it.

use super::paths::Paths;
use conf_schema::Context;
use conf_syntax::{Call, LogItem, LogPath, Object, ObjectKind};
use diag::{Diagnostics, Severity};

/// Codes that say "penstock does not have this yet": no reason to refuse what is not used anyway.
const NOT_YET: [&str; 3] = ["O0102", "O0110", "O0112"];

impl<'c> Paths<'_, 'c> {
    /// Reports the objects that no log path uses, and what is wrong with the calls in them.
    pub fn look_at_unused(&self, diags: &mut Diagnostics) {
        self.objects.report_unused(self.texts, diags);
        let mut found = Diagnostics::new();
        let sets = [
            (ObjectKind::Source, &self.objects.sources),
            (ObjectKind::Destination, &self.objects.destinations),
            (ObjectKind::Parser, &self.objects.parsers),
        ];
        for (kind, set) in sets {
            for object in set.values().filter(|o| !self.objects.is_used(kind, &o.name.text)) {
                self.look_at_object(kind, object, &mut found);
            }
        }
        for mut finding in found {
            if NOT_YET.contains(&finding.code) {
                finding.severity = Severity::Warning;
            }
            diags.push(finding);
        }
    }

    fn look_at_object(&self, kind: ObjectKind, object: &'c Object, diags: &mut Diagnostics) {
        self.look_at_items(&object.body, context(kind), diags);
    }

    /// `context` is what a bare call here would be.
    fn look_at_items(&self, items: &'c [LogItem], bare: Option<Context>, diags: &mut Diagnostics) {
        for item in items {
            match item {
                LogItem::Call(call) => self.look_at_call(call, bare, diags),
                LogItem::Inline(inline) => self.look_at_items(&inline.body, context(inline.kind), diags),
                LogItem::Junction(branches, _) => self.look_at_items(branches, bare, diags),
                LogItem::Channel(path) | LogItem::Log(path) => self.look_at_path(path, diags),
                LogItem::If(conditional) => {
                    let bodies = conditional.branches.iter().map(|b| &b.body).chain(&conditional.otherwise);
                    bodies.for_each(|path| self.look_at_path(path, diags));
                }
                _ => {}
            }
        }
    }

    fn look_at_path(&self, path: &'c LogPath, diags: &mut Diagnostics) {
        self.look_at_items(&path.items, None, diags);
    }

    fn look_at_call(&self, call: &Call, context: Option<Context>, diags: &mut Diagnostics) {
        if let Some(context) = context {
            // Read for the findings alone.
            let _ = self.settings(context, call, diags);
        }
    }
}

/// What a bare call in an object of this kind is. Rewrite operations and filters have no option tables.
fn context(kind: ObjectKind) -> Option<Context> {
    match kind {
        ObjectKind::Source => Some(Context::Source),
        ObjectKind::Destination => Some(Context::Destination),
        ObjectKind::Parser => Some(Context::Parser),
        ObjectKind::Rewrite | ObjectKind::Filter => None,
    }
}
