//! `redis()`: each message is a command of a Redis server, many of them on the way at once.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use delivery::batching::{Batching, MakeFlight};
use delivery::writer::{Fields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostic, Diagnostics, Reported};
use dialogue::{Dialogue, SERVER, Where, dial};
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use driver_options::templates::compile;
use driver_options::tls_groups::SECURE_CLIENT;
use engine::Sink;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use flight::{FlightSink, Limits};
use redis_client::{Login, RedisSession};
use std::sync::Arc;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&REDIS, build)];

const OWN: &[Opt] = &[
    Opt::new("host", Kind::Text, Preset::Text("127.0.0.1"), "The name or address of the server."),
    Opt::new("port", Kind::Port, Preset::Int(6379), "The server's port."),
    Opt::new(
        "auth",
        Kind::TextList,
        Preset::None,
        "The password, or the name of a user and the password: `auth(\"user\" \"password\")`.",
    )
    .sample("\"secret\""),
    Opt::new(
        "command",
        Kind::TextList,
        Preset::None,
        "The command that each message becomes, and its arguments, which may be templates: \
         `command(\"HINCRBY\" \"hosts\" \"$HOST\" \"1\")`.",
    )
    .sample("\"INCR\" \"$HOST\""),
];

static REDIS: Component = Component {
    context: Context::Destination,
    name: "redis",
    aliases: &[],
    positional: &[],
    groups: &[&BATCHES, &SERVER, &TEMPLATE, &DESTINATION, &SECURE_CLIENT],
    own: OWN,
    presets: &[("batch-lines", Preset::Int(LINES as i64))],
    not_yet: &[],
    summary: "Sends each message as a command to a Redis server. A message counts as delivered when the server has replied to its command; \
              one whose command the server refuses because of what is in it is a dead letter with the server's words, and the others of \
              its batch are delivered. A server that is full, loading, read only or away, and a wrong password, let messages wait. See \
              docs/redis.md.",
    example: "redis(host(\"redis.example.com\") command(\"LPUSH\" \"logs\" \"$ISODATE $HOST $MSG\"))",
    cost: Some(Cost::elsewhere("As `file()`, and a copy with its lengths for each argument.")),
};

/// Commands of a batch: the replies to them are small, and come as they are made.
const LINES: usize = 1000;
/// Batches on the way; the session has room for so many.
const AWAY: usize = 4;

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    let options = writing::template_options(s, cx);
    let mut batching = Batching::read(s, &options, cx, diags)?;
    if batching.limits.lines == 0 && batching.limits.bytes == 0 {
        batching.limits.lines = LINES;
    }
    let mut arguments = Vec::new();
    for text in s.list("command") {
        arguments.push(compile(&text.text, text.span, &options, cx, diags)?);
    }
    let name = s.list("command").first().map(|text| text.text.clone()).unwrap_or_default();
    let is_fixed = arguments.first().is_some_and(|command| command.literal().is_some());
    let Some(last) = arguments.pop() else {
        let finding = Diagnostic::error("D0190", "redis() does not say which command", s.call_span()?);
        diags.push(finding.help("add `command(\"LPUSH\" \"logs\" \"$MSG\")`"));
        return None;
    };
    let login = login(s, diags).ok()?.map(Arc::new);
    let dial = Arc::new(dial(s, Where::read(s, diags)?, diags)?);
    let mut writer = Writer::new(last, cx.identity);
    writer.parts = Some(Fields::of(arguments));
    writer.disk_buffer = disk_buffer::read(s, cx, diags).ok()?;
    let address = format!("{},{}", dial.host, dial.port);
    let key = writing::key(s, &mut writer, || format!("redis({address},{name})"));
    batching.limits.answer = Some(dial.answer_max);
    batching.limits.away = AWAY;
    let id = cx.id();
    let make: MakeFlight = Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let (outlet, counters) = (place.id, Arc::clone(&place.counters));
        let session = RedisSession::new(login.clone(), is_fixed);
        let client = Dialogue::new(place, Arc::clone(&dial), session);
        Box::new(FlightSink::new(client, limits, id.clone(), outlet, &counters))
    });
    let described = ("redis", format!("redis,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Some(DestinationDriver { key, destination })
}

/// `auth()`, where it is given.
fn login(s: &Settings, diags: &mut Diagnostics) -> Result<Option<Login>, Reported> {
    let words: Vec<String> = s.list("auth").iter().map(|text| text.text.clone()).collect();
    match <[String; 1]>::try_from(words) {
        Ok([password]) => Ok(Some(Login { user: None, password })),
        Err(words) => match <[String; 2]>::try_from(words) {
            Ok([user, password]) => Ok(Some(Login { user: Some(user), password })),
            Err(words) if words.is_empty() => Ok(None),
            Err(_) => {
                let finding =
                    Diagnostic::error("D0190", "auth() has too many words", s.span("auth").ok_or(Reported)?);
                diags.push(finding.help("write `auth(\"password\")` or `auth(\"user\" \"password\")`"));
                Err(Reported)
            }
        },
    }
}
