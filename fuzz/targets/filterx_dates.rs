//! Fuzzes times in FilterX: any format reads any text, and what it reads is printed. Zero bytes part the
//! format from the texts, and those from one another; a control byte stands for a format that people use.
#![no_main]

#[path = "filterx/world.rs"]
mod world;

use filterx::Block;
use std::sync::LazyLock;

const FORMATS: [&str; 12] = [
    "%Y-%m-%dT%H:%M:%S%z",
    "%Y-%m-%d %H:%M:%S.%f %z",
    "%b %d %H:%M:%S",
    "%b %e %Y %H:%M:%S %Z",
    "%d/%b/%Y:%H:%M:%S %z",
    "%a, %d %b %Y %T GMT",
    "%s",
    "%s.%f",
    "%j %U %w %y",
    "%I:%M:%S %p %D",
    "%F %R",
    "%A %B %d %C %k %l %n%t%%",
];

static USUAL: LazyLock<Vec<Block>> =
    LazyLock::new(|| FORMATS.iter().map(|format| world::compiled(&(block(format) + ZONES)).expect(format)).collect());

fn block(format: &str) -> String {
    format!(
        "t = strptime($MSG, \"{format}\") ?? isodate($MSG) ?? datetime(0); $D = strftime(\"{format}\", t) ?? \"\";"
    )
}

/// What does not ask for the format.
const ZONES: &str = "$D += format_isodate(t) + format_isodate(set_timezone(t, \"Europe/Budapest\")) + \
    format_isodate(fix_timezone(t, \"America/New_York\")) + format_isodate(guess_timezone(t));";

driver::fuzz_target!(|input: &[u8]| {
    let run =
        |block: &Block, texts: &[u8]| texts.split(|b| *b == 0).for_each(|text| _ = world::run(block, text));
    if let Some((first @ 1..0x20, texts)) = input.split_first() {
        return USUAL.get(usize::from(*first) % FORMATS.len()).map_or((), |block| run(block, texts));
    }
    let format = input.split(|b| *b == 0).next().unwrap_or_default();
    let written = String::from_utf8_lossy(format).replace(['"', '\\', '$'], "");
    if let Some(block) = world::compiled(&block(&written)) {
        run(&block, input.get(format.len() + 1..).unwrap_or_default());
    }
});
