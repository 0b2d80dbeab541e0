//! `app-transform()`: what the transformations of a topic do with the messages of an application. The engine
//! compiles it: it is made of log paths.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset};

pub static APP_TRANSFORM: Component = Component {
    context: Context::Parser,
    name: "app-transform",
    aliases: &[],
    positional: &[],
    groups: &[],
    own: &[
        Opt::new(
            "topic",
            Kind::Text,
            Preset::Text("default"),
            "Which `transformation` blocks to take: those written `transformation NAME[TOPIC]`.",
        ),
        Opt::new(
            "filterx-app-variable",
            Kind::Text,
            Preset::None,
            "The variable of FilterX, as `app` or `$app`, that has the application's name. It must be given.",
        ),
        Opt::new(
            "include-transforms",
            Kind::TextList,
            Preset::None,
            "Only transforms whose name stands in this text are done.",
        ),
        Opt::new(
            "exclude-transforms",
            Kind::TextList,
            Preset::None,
            "Transforms whose name stands in this text are not done.",
        ),
        Opt::new(
            "auto-parse-include",
            Kind::TextList,
            Preset::None,
            "Only the messages of applications whose name stands in this text are transformed.",
        ),
        Opt::new(
            "auto-parse-exclude",
            Kind::TextList,
            Preset::None,
            "The messages of applications whose name stands in this text are not transformed.",
        ),
        Opt::new(
            "permissive",
            Kind::Bool,
            Preset::Bool(true),
            "A message whose transformation fails goes on as it was; with `no` it does not match.",
        ),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Does what `transformation NAME[topic] { transform[t] { step[s] { ... }; }; };` says for the application whose name a variable has, \
              which app-parser(filterx-app-variable()) has set: the steps of its transforms in their order. Steps are blocks of FilterX, parsers \
              and rewrites. The steps of an application that has blocks alone are one block: its variables are theirs together, and the first \
              statement that fails ends all of them. A message of no application goes on as it is.",
    example: "app-transform(topic(normalize) filterx-app-variable(app))",
    cost: Some(Cost::elsewhere(
        "Applications that have blocks of FilterX alone are told apart by one look-up of the name, however many there are.",
    )),
};
