//! Fuzzes templates: any text compiles or is refused, and what compiles prints without panicking.
#![no_main]

use record::{Batch, Context, Record, Stamp, Zone};
use std::sync::Arc;
use template::{Identity, Msg, NoScope, RenderContext, Template, TemplateOptions};

driver::fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let Ok(template) = Template::compile(&text, &TemplateOptions::default(), &NoScope) else { return };
    let context = Arc::new(Context::local("s_fuzz", "here", "local+file"));
    let mut batch = Batch::new(Vec::new(), context, Stamp::default());
    let frame =
        batch.append(b"<38>1 2026-11-21T10:00:00Z host app 7 ID [meta sequenceId=\"1\"] k=v a message");
    batch.records.push(Record::new(frame));
    let mut options = wire::SyslogOptions { recv_zone: Zone::UTC, ..wire::SyslogOptions::default() };
    options.flags.syslog_protocol = true;
    wire::SyslogParser::new(options).parse_batch(&mut batch, 0);
    let mut cx = RenderContext::new(Identity::new("here"));
    let mut out = Vec::new();
    for record in &batch.records {
        template.render(Msg { batch: &batch, record }, &mut cx, &mut out);
    }
});
