//! The options of the destination `python()`.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset};
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use parsers::python::CLASS;
use parsers::value_pairs::VALUE_PAIRS;

pub static PYTHON: Component = Component {
    context: Context::Destination,
    name: "python",
    aliases: &[],
    positional: &[],
    groups: &[&CLASS, &BATCHES, &TEMPLATE, &DESTINATION],
    own: &[Opt::new(
        "value-pairs",
        Kind::Block(&[&VALUE_PAIRS]),
        Preset::None,
        "Which values `send()` gets, as a dict. Without it, it gets the message, and reads what it wants.",
    )
    .sample("scope(\"nv-pairs\")")],
    presets: &[],
    not_yet: &[],
    summary: "A destination of your own in Python: a class with a method `send(self, msg)`, in a process beside the program, one for each \
              worker. Messages go there in batches, and the class says of each what became of it; one for which it raises, again and again, \
              or that ends its process, is a dead letter. See docs/python.md.",
    example: "python(class(\"MyDestination\") options(\"url\" => \"https://example.com\") batch-lines(100))",
    cost: Some(Cost::elsewhere(
        "Each message with all its values, copied; what the class asks for of a batch goes to its process and back. What is upstream makes \
         all values, as nobody knows which the class reads.",
    )),
};
