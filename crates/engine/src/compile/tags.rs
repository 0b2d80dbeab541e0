//! Tags get their numbers in the order in which the configuration names them, as in syslog-ng: `$TAGS` lists them by number. What is named
//! nowhere (`.source.NAME`, tags made from a message) comes behind.

use conf_syntax::{Arg, ArgKind, Call, Config, FilterExpr, LogItem, Statement};

/// Gives numbers to all tags a configuration names.
pub(super) fn number(config: &Config) {
    for statement in &config.items {
        match statement {
            Statement::Source(object)
            | Statement::Destination(object)
            | Statement::Parser(object)
            | Statement::Rewrite(object) => items(&object.body),
            Statement::Filter(filter) => filter.expr.iter().for_each(expression),
            Statement::Log(path) => items(&path.items),
            Statement::Application(app) => {
                app.filter.iter().for_each(expression);
                items(app.parser.as_deref().unwrap_or_default());
            }
            _ => {}
        }
    }
}

fn items(list: &[LogItem]) {
    for item in list {
        match item {
            LogItem::Call(found) | LogItem::Parallelize(found) => call(found),
            LogItem::Inline(inline) => items(&inline.body),
            LogItem::InlineFilter(filter, _) => filter.iter().for_each(expression),
            LogItem::Junction(branches, _) => items(branches),
            LogItem::Channel(path) | LogItem::Log(path) => items(&path.items),
            LogItem::If(choice) => {
                for branch in &choice.branches {
                    branch.condition.iter().for_each(expression);
                    items(&branch.body.items);
                }
                choice.otherwise.iter().for_each(|path| items(&path.items));
            }
            LogItem::Reference(_) | LogItem::FilterX(_) => {}
        }
    }
}

fn expression(filter: &FilterExpr) {
    match filter {
        FilterExpr::Not(inner, _) => expression(inner),
        FilterExpr::And(all, _) | FilterExpr::Or(all, _) => all.iter().for_each(expression),
        FilterExpr::Call(found) => call(found),
        FilterExpr::Compare { .. } => {}
    }
}

fn call(found: &Call) {
    let is_one = found.is("set-tag") || found.is("clear-tag");
    if is_one || found.is("tags") {
        let texts = found.args.iter().filter_map(Arg::text);
        // Tags made from a message are not known yet.
        for tag in texts
            .take(if is_one { 1 } else { usize::MAX })
            .filter(|tag| !tag.is_empty() && !tag.contains('$'))
        {
            // A full table is reported where the tag is used.
            let _ = record::tag_id(tag);
        }
    }
    args(&found.args);
}

fn args(list: &[Arg]) {
    for arg in list {
        match &arg.kind {
            ArgKind::Call(inner) => call(inner),
            ArgKind::Group(inner) | ArgKind::Braces(inner) => args(inner),
            _ => {}
        }
    }
}
