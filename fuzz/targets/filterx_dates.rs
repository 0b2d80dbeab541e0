//! Fuzzes times in FilterX: any format reads any text, and what it reads is printed. Zero bytes part the
//! format from the texts, and those from one another.
#![no_main]

#[path = "filterx/world.rs"]
mod world;

driver::fuzz_target!(|input: &[u8]| {
    let mut parts = input.split(|b| *b == 0);
    let format = String::from_utf8_lossy(parts.next().unwrap_or_default()).replace(['"', '\\', '$'], "");
    let block = format!(
        "t = strptime($MSG, \"{format}\") ?? isodate($MSG) ?? datetime(0); $D = strftime(\"{format}\", t) ?? \"\"; \
         $D += format_isodate(t) + format_isodate(set_timezone(t, \"Europe/Budapest\")) + \
         format_isodate(fix_timezone(t, \"America/New_York\")) + format_isodate(guess_timezone(t));"
    );
    if let Some(block) = world::compiled(&block) {
        parts.for_each(|text| _ = world::run(&block, text));
    }
});
