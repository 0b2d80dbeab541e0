//! `redis()`: each message is a command of a Redis server, many of them on the way at once.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use delivery::batching::Batching;
use delivery::writer::{Fields, Writer};
use delivery::{disk_buffer, writing};
use diag::{Diagnostics, Reported};
use dialogue::{SERVER, Where, dial};
use driver_options::Reading;
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use driver_options::tls_groups::SECURE_CLIENT;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use redis_client::{Login, RedisSession, Same};
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

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let options = writing::template_options(s, cx);
    let mut r = Reading { s, templates: &options, cx, code: "D0190", diags };
    let mut batching = Batching::read(&mut r)?;
    if batching.limits.lines == 0 && batching.limits.bytes == 0 {
        batching.limits.lines = LINES;
    }
    let mut arguments = r.template_list("command")?;
    let name = s.list("command").first().map(|text| text.text.clone()).unwrap_or_default();
    let is_same = |at: usize| arguments.get(at).is_none_or(|word| word.literal().is_some());
    let same = Same { command: is_same(0), key: is_same(1) };
    let Some(last) = arguments.pop() else {
        return r.wrong_at(
            None,
            "redis() does not say which command",
            "add `command(\"LPUSH\" \"logs\" \"$MSG\")`",
        );
    };
    let login = login(&mut r)?.map(Arc::new);
    let dial = Arc::new(dial(s, Where::read(s, r.diags)?, r.diags)?);
    let mut writer = Writer::new(last, cx.identity);
    writer.parts = Some(Fields::of(arguments));
    writer.disk_buffer = disk_buffer::read(s, cx, r.diags)?;
    let address = format!("{},{}", dial.host, dial.port);
    let key = writing::key(s, &mut writer, || format!("redis({address},{name})"));
    batching.limits.answer = Some(dial.answer_max);
    batching.limits.away = AWAY;
    let session = move || RedisSession::new(login.clone(), same);
    let make = dialogue::sinks(cx.id(), Arc::clone(&dial), session);
    let described = ("redis", format!("redis,{address}"));
    let destination = batching.destination(described, writer, writing::limits(s), cx.identity, &make);
    Ok(DestinationDriver { key, destination })
}

/// `auth()`, where it is given.
fn login(r: &mut Reading<'_>) -> Result<Option<Login>, Reported> {
    let words: Vec<String> = r.s.list("auth").iter().map(|text| text.text.clone()).collect();
    match <[String; 1]>::try_from(words) {
        Ok([password]) => Ok(Some(Login { user: None, password })),
        Err(words) => match <[String; 2]>::try_from(words) {
            Ok([user, password]) => Ok(Some(Login { user: Some(user), password })),
            Err(words) if words.is_empty() => Ok(None),
            Err(_) => {
                let help = "write `auth(\"password\")` or `auth(\"user\" \"password\")`";
                r.wrong("auth", "auth() has too many words", help)
            }
        },
    }
}
