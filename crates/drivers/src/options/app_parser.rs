//! `app-parser()`: the applications of a topic, tried one after the other. The engine compiles it: it is made
//! of log paths.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset};

pub static APP_PARSER: Component = Component {
    context: Context::Parser,
    name: "app-parser",
    aliases: &[],
    positional: &[],
    groups: &[],
    own: &[
        Opt::new(
            "topic",
            Kind::Text,
            Preset::None,
            "Which `application` blocks to try: those written `application NAME[TOPIC]`. It must be given.",
        ),
        Opt::new(
            "auto-parse",
            Kind::Bool,
            Preset::Bool(true),
            "`no` switches it off: then no message matches.",
        ),
        Opt::new(
            "auto-parse-include",
            Kind::TextList,
            Preset::None,
            "Only applications whose name stands in this text are tried.",
        ),
        Opt::new(
            "auto-parse-exclude",
            Kind::TextList,
            Preset::None,
            "Applications whose name stands in this text are not tried.",
        ),
        Opt::new(
            "allow-overlaps",
            Kind::Bool,
            Preset::Bool(false),
            "Every application that matches parses the message, not only the first. Then every message matches, and \
             neither `.app.name` nor the tag is set.",
        ),
        Opt::not_yet("hook-commands", "start and stop the commands with the service manager"),
        Opt::new(
            "permissive",
            Kind::Bool,
            Preset::Bool(false),
            "What no application takes goes on as it is.",
        ),
        Opt::new(
            "filterx-app-variable",
            Kind::Text,
            Preset::None,
            "A variable of FilterX, as `app` or `$app`, that gets the application's name unless it is set already, instead of `.app.name` and the tag. \
             One without a dollar sign is a declared variable from then on.",
        ),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Tries the `application` blocks of a topic in the order in which they are defined. The first whose filter and parsers \
              all match takes the message: `.app.name` is its name, and the tag `.app.NAME` is set. A message that none takes does not \
              match, unless permissive(yes) says so. The filters at the head of the applications are decided together, so hundreds of them cost little more than one.",
    example: "app-parser(topic(syslog) auto-parse-exclude(\"sudo iptables\"))",
    cost: Some(Cost::bench(
        "The filters of up to 64 applications are decided together: hundreds of applications cost little more than a few.",
        "applications-300",
    )),
};
