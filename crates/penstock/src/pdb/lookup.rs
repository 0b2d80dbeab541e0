//! `pdb match`: looks up one message, or those of a file.

use super::MatchArgs;
use super::session::{Session, value, values};
use crate::printing;
use parsers::db::condition;
use record::{Batch, Record, Span, Zone};
use std::sync::Arc;
use stdio::CommandError;
use template::{Condition, Msg, Template};

/// Messages taken together.
const BATCH_COUNT: usize = 1024;

struct Output<'a> {
    args: &'a MatchArgs,
    template: Option<Template>,
    filter: Option<Arc<dyn Condition>>,
}

pub fn run(args: &MatchArgs, verbose: bool) -> Result<u8, CommandError> {
    let mut session = Session::open(&args.pdb)?;
    if verbose {
        session.warnings.iter().for_each(|warning| stdio::err!("{warning}"));
    }
    let template = match &args.template {
        None => None,
        Some(text) => Some(printing::template(text)?),
    };
    let filter = match &args.filter {
        None => None,
        Some(text) => Some(condition(text.trim_end_matches(';')).map_err(|e| format!("wrong filter: {e}"))?),
    };
    let output = Output { args, template, filter };
    let Some(file) = &args.file else {
        let message = args.message.as_deref().unwrap_or_default();
        let mut batch = session.message(&args.program, message);
        return Ok(u8::from(!output.batch(&mut session, &mut batch)));
    };
    let bytes = super::read(file)?;
    let options = wire::SyslogOptions { recv_zone: Zone::local(), ..wire::SyslogOptions::default() };
    let mut parser = wire::SyslogParser::new(options);
    let lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()).collect();
    for some in lines.chunks(BATCH_COUNT) {
        let mut batch = session.batch();
        for line in some {
            let frame: Span = batch.append(line);
            batch.records.push(Record::new(frame));
        }
        parser.parse_batch(&mut batch, 0);
        output.batch(&mut session, &mut batch);
        session.done(batch);
    }
    Ok(0)
}

impl Output<'_> {
    /// Prints the messages; whether a rule matched the first.
    fn batch(&self, session: &mut Session, batch: &mut Batch) -> bool {
        let mut selection = session.run(batch);
        if self.args.file.is_none() {
            // Messages that rules make come behind the one that was asked about.
            selection.sort_unstable();
        }
        let mut out = String::new();
        let mut first = None;
        for index in selection {
            let Some(record) = batch.records.get(index as usize) else { continue };
            let rule = value(batch, record, ".classifier.rule_id");
            first.get_or_insert(!rule.is_empty());
            let msg = Msg { batch, record };
            if self.filter.as_ref().is_some_and(|f| !f.holds(msg, &mut session.cx.render)) {
                continue;
            }
            if let Some(template) = &self.template {
                let mut text = Vec::new();
                template.render(msg, &mut session.cx.render, &mut text);
                out.push_str(&String::from_utf8_lossy(&text));
                continue;
            }
            let (program, message) = (batch.bytes(record.program), batch.bytes(record.message));
            if self.args.debug_csv {
                out.push_str(&session.explain_csv(program, message));
            } else if self.args.debug_pattern || self.args.color_out {
                out.push_str(&session.explain(program, message, self.args.color_out));
            }
            out.push_str(&values(batch, record));
            out.push('\n');
        }
        printing::print(&out);
        first.unwrap_or(false)
    }
}
