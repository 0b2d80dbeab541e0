//! The log paths that are measured, and a way to run them on the same messages again and again. The test
//! `allocations` of this crate runs them too.

#[path = "blocks.rs"]
mod blocks;
#[path = "texts.rs"]
mod texts;

use conf_schema::{Catalogue, Component, Context, Kind, OptionSpec as Opt, Preset, Settings};
use diag::Diagnostics;
use engine::compile::{Existing, Plan, compile};
use engine::driver::{
    BuildContext, Destination, DestinationDriver, DestinationPart, Registry, SourceDriver, SourcePart, Start,
};
use engine::ledger::DestinationCounters;
use engine::program::{Format, Scratch};
use engine::source::{Carrier, Finish, Settings as SourceSettings, Source};
use engine::{Machine, Need, Outbox, Outlet, Shared};
use record::{Batch, Demand, Record, Stamp, Zone};
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use template::{Identity, Template, TemplateOptions};
use texts::APPLICATIONS;
pub use texts::{MESSAGES, of as messages};
use wire::{Framer, FramerOptions, ParseFlags, SyslogOptions, SyslogParser};

/// Every row: its name and its configuration.
pub fn all() -> Vec<(&'static str, String)> {
    let row = |definitions: &str, steps: &str, template: &str| {
        format!(
            "@version: 4.11\nsource s {{ in(); }};\n{definitions}\ndestination d {{ out(template({template:?})); }};\n\
             log {{ source(s); {steps} destination(d); }};\n"
        )
    };
    let kv = |template: &str| row("parser p { kv-parser(); };", "parser(p);", template);
    let plain = |template: &str| row("", "", template);
    let five = "${user} ${src} ${dst} ${act} ${len}";
    let mut rows = vec![
        ("plain", plain("$DATE $HOST $MSGHDR$MSG\n")),
        ("kv-two", kv("$DATE $HOST $MSGHDR$MSG ${user} ${code}\n")),
        ("kv-five", kv(&format!("{five}\n"))),
        ("kv-five-json", kv("$(format-json user=$user src=$src dst=$dst act=$act len=int($len))\n")),
        ("kv-five-keys", kv("$(format-json --key user --key src --key dst --key act --key len)\n")),
        ("kv-five-welf", kv("$(format-welf user=$user src=$src dst=$dst act=$act len=$len)\n")),
        ("kv-five-cef", kv("$(format-cef-extension user=$user src=$src dst=$dst act=$act len=$len)\n")),
        ("kv-all-json", kv("$(format-json --scope nv-pairs)\n")),
        ("kv-mixed-json", kv("$(format-json --scope nv-pairs)\n")),
        ("kv-all-welf", kv("$(format-welf --scope nv-pairs)\n")),
        ("core", plain("$FACILITY $PRIORITY $HOST $PROGRAM $PID $MESSAGE $DATE $MSGID $SDATA\n")),
        ("rfc5424-json", plain("$(format-json --scope rfc5424)\n")),
        ("gelf-plain", plain("$HOST ${MESSAGE:--} $LEVEL_NUM $R_UNIXTIME $PROGRAM $PID $FACILITY\n")),
        ("gelf", plain("$(format-gelf)\n")),
        ("splunk", plain(SPLUNK)),
        ("elasticsearch", plain(ELASTICSEARCH)),
        (
            "regexps",
            row(
                "filter f { message(\"conn=[0-9]{4} seq=([0-9]+) \") and message(\"(user|port|kernel|session|from|up|pid|after|closed) .*[a-z0-9]\"); };\n\
                 rewrite r { subst('[0-9]+\\.[0-9]+\\.[0-9]+\\.[0-9]+', \"x.x.x.x\", value(\"MESSAGE\") flags(global)); };",
                "filter(f); rewrite(r);",
                "$DATE $HOST $MSGHDR$MSG\n",
            ),
        ),
        ("applications", applications(&row)),
    ];
    rows.extend(blocks::all().into_iter().map(|block| {
        let template = format!("$DATE $HOST $MSGHDR$MSG{}\n", block.printed);
        (block.name, row("", &format!("filterx {{ {} }};", block.text), &template))
    }));
    rows
}

/// What the blocks splunk-hec-event() and elasticsearch-http() print when nothing but an address and an index
/// is given.
const SPLUNK: &str = "$(format-json --scope none --omit-empty-values time='${S_UNIXTIME}.${S_MSEC}' host='${HOST}' \
                      source=\"$(or '' 'syslog-ng')\" sourcetype=\"$(or '' 'nix:syslog')\" index=\"$(or '' 'main')\" \
                      event='${MSG}' )\n";
const ELASTICSEARCH: &str = "$(format-json --scope none --omit-empty-values index._index='bench' index._type='' \
                             index._id='') $(format-json --scope rfc5424 --exclude DATE --key ISODATE \
                             @timestamp=${ISODATE})\n";

/// Hundreds of applications, some decided by PROGRAM and some by values, each of which sets what a HEC wants
/// to know.
fn applications(row: &dyn Fn(&str, &str, &str) -> String) -> String {
    let mut text = String::from("parser p_kv { kv-parser(prefix(\".values.\")); };\n");
    for n in 0..APPLICATIONS {
        let filter = match n % 3 {
            0 => format!("program(\"app{n}\" type(string) flags(prefix))"),
            1 => format!("\"${{.values.user}}\" eq \"u{n}\" and \"${{.values.zone}}\" eq \"dmz\""),
            _ => format!("program(\"other{n}\" type(string)) or \"${{.values.rule}}\" eq \"9{n}\""),
        };
        let _ = writeln!(
            text,
            "application a{n}[hec] {{\n    filter {{ {filter}; }};\n    parser {{ channel {{ rewrite {{ \
             set(\"main{n}\" value(\".splunk.index\")); set(\"vendor:{n}\" value(\".splunk.sourcetype\")); \
             set(\"program:$PROGRAM\" value(\".splunk.source\")); set(\"vendor{n}\" value(\"fields.vendor\")); \
             set(\"product{n}\" value(\"fields.product\")); }}; }}; }};\n}};"
        );
    }
    text.push_str("parser p { app-parser(topic(hec)); };");
    let template = "$(format-json time=$S_UNIXTIME host=$HOST source=${.splunk.source} sourcetype=${.splunk.sourcetype} \
                    index=${.splunk.index} event=$MSGHDR$MSG --key fields.*)\n";
    row(&text, "parser(p_kv); if { parser(p); };", template)
}

/// One configuration, and messages that run through it again and again.
pub struct Path {
    pub plan: Plan,
    batch: Batch,
    /// The texts that come together, and the frames in each.
    batches: Vec<(Vec<u8>, Vec<Record>)>,
    parser: SyslogParser,
    scratch: Scratch,
    machine: Machine,
    outbox: Outbox,
}

/// What has been printed since the last round began.
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

impl Path {
    /// A configuration, and lines that run through it.
    pub fn new(config: &str, text: Vec<u8>) -> Path {
        Path::of(config, &[text], ParseFlags::default())
    }

    /// The same of texts that come one after the other, read as `flags` say.
    pub fn of(config: &str, texts: &[Vec<u8>], flags: ParseFlags) -> Path {
        let parsed = conf_syntax::parse_text("test.conf", config, &conf_syntax::ParseOptions::default());
        let mut diags = parsed.diagnostics;
        let identity = Identity::new("here");
        let plan =
            compile(&parsed.config, &parsed.sources, &REGISTRY, &identity, &Existing::new(), &mut diags);
        let plan = plan.plan.unwrap_or_else(|| panic!("{}", diag::render_all(&diags, &parsed.sources)));
        let context = Arc::new(record::Context::local("s", "here", "rfc3164+tcp"));
        let batch = Batch::new(Vec::new(), context, Stamp { secs: 1_795_255_200, usec: 0, offset: 0 });
        let framed = |text: &Vec<u8>| {
            let mut frames = Vec::new();
            let mut framer = Framer::new(FramerOptions::default());
            framer.scan(text, 0, |span| frames.push(Record::new(span))).expect("good frames");
            (text.clone(), frames)
        };
        let batches = texts.iter().map(framed).collect();
        let parser =
            SyslogParser::new(SyslogOptions { flags, recv_zone: Zone::UTC, ..SyslogOptions::default() });
        let mut scratch = Scratch::new(identity);
        scratch.prepare(&plan.sources[0].program);
        let (machine, outbox) = (Machine::default(), Outbox::default());
        Path { plan, batch, batches, parser, scratch, machine, outbox }
    }

    /// Reads, processes and prints all messages once.
    pub fn run(&mut self) {
        OUTPUT.lock().expect("nobody panics").clear();
        for (text, frames) in &self.batches {
            let context = self.batch.contexts[0].clone();
            self.batch.reset();
            self.batch.contexts.push(context);
            self.batch.text.extend_from_slice(text);
            self.batch.records.extend_from_slice(frames);
            self.parser.parse_batch(&mut self.batch, 0);
            for (origin, record) in self.batch.records.iter_mut().enumerate() {
                record.origin = origin as u32;
            }
            self.scratch.begin_batch(self.batch.received);
            let program = &self.plan.sources[0].program;
            self.machine.run(program, &mut self.batch, &mut self.scratch, &mut self.outbox);
        }
    }

    /// How often a named filter matched, and how often it did not.
    #[allow(dead_code)]
    pub fn counts(&self, filter: &str) -> [u64; 2] {
        let counters = self.plan.filters.get(filter);
        counters.map_or([0; 2], |counters| [counters.matched.value(), counters.not_matched.value()])
    }

    pub fn output(&self) -> Vec<u8> {
        OUTPUT.lock().expect("nobody panics").clone()
    }
}

const fn component(context: Context, name: &'static str, own: &'static [Opt]) -> Component {
    Component {
        context,
        name,
        aliases: &[],
        positional: &[],
        groups: &[],
        own,
        presets: &[],
        not_yet: &[],
        summary: "",
        example: "",
        cost: None,
    }
}

static IN: Component = component(Context::Source, "in", &[]);
static OUT: Component =
    component(Context::Destination, "out", &[Opt::new("template", Kind::Text, Preset::None, "")]);
static OPTIONS: Component = component(
    Context::Options,
    "options",
    &[Opt::new("stats-level", Kind::Int { min: 0, max: 255 }, Preset::None, "")],
);
static APP_PARSER: Component =
    component(Context::Parser, "app-parser", &[Opt::new("topic", Kind::Text, Preset::None, "")]);
static CATALOGUE: Catalogue = Catalogue { components: &COMPONENTS, unavailable: &[] };
const OWN: [&Component; 4] = [&IN, &OUT, &OPTIONS, &APP_PARSER];
static COMPONENTS: [&Component; OWN.len() + parsers::ALL.len()] = {
    let mut all = [OWN[0]; OWN.len() + parsers::ALL.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = if i < OWN.len() { OWN[i] } else { parsers::ALL[i - OWN.len()].0 };
        i += 1;
    }
    all
};
static REGISTRY: Registry = Registry {
    sources: &[&[SourcePart::new(&IN, source)]],
    destinations: &[&[DestinationPart::new(&OUT, destination)]],
    options: &OPTIONS,
    catalogue: &CATALOGUE,
};

struct Nothing;

impl Start for Nothing {
    fn start(&self, _shared: &Arc<Shared>, _source: &Arc<Source>) -> Result<(), diag::Fault> {
        Ok(())
    }

    fn needs(&self) -> Vec<Need<'_>> {
        Vec::new()
    }
}

fn source(_: &Settings, cx: &BuildContext<'_>, _: &mut Diagnostics) -> Result<SourceDriver, diag::Reported> {
    Ok(SourceDriver {
        key: cx.id(),
        opened_with: String::new(),
        driver: "in",
        instance: String::new(),
        carrier: Carrier::Other,
        settings: Box::new(|program| {
            SourceSettings::new(SyslogOptions::default(), Finish::default(), program)
        }),
        start: Box::new(Nothing),
    })
}

/// Prints its messages one behind the other.
struct Printer {
    template: Template,
    counters: Arc<DestinationCounters>,
    ends: Mutex<Vec<u32>>,
}

impl Format for Printer {
    fn format(&self, batch: &mut Batch, selection: &[u32], scratch: &mut Scratch, _: &mut Outbox) {
        let mut output = OUTPUT.lock().expect("nobody panics");
        let mut ends = self.ends.lock().expect("nobody panics");
        ends.clear();
        self.template.render_selection(batch, selection, scratch.render(), &mut output, &mut ends);
    }

    fn preview(&self, _: &mut Batch, _: u32, _: &mut Scratch) -> Vec<(String, Vec<u8>)> {
        Vec::new()
    }

    fn reads(&self, demand: &mut Demand) {
        self.template.reads(demand);
    }
}

impl Destination for Printer {
    fn counters(&self) -> &Arc<DestinationCounters> {
        &self.counters
    }

    fn start(&self, _: &Arc<Shared>) -> Result<(), diag::Fault> {
        Ok(())
    }

    fn outlets(&self) -> Vec<Arc<Outlet>> {
        Vec::new()
    }

    fn described(&self) -> (&'static str, String) {
        ("out", String::new())
    }
}

fn destination(
    settings: &Settings,
    cx: &BuildContext<'_>,
    _: &mut Diagnostics,
) -> Result<DestinationDriver, diag::Reported> {
    let opts = TemplateOptions { version: cx.version, ..TemplateOptions::default() };
    let template = Template::compile(settings.text("template").ok_or(diag::Reported)?, &opts, cx.scope)
        .expect("a template");
    let printer = Printer { template, counters: Arc::default(), ends: Mutex::default() };
    Ok(DestinationDriver { key: cx.id(), destination: Arc::new(printer) })
}
