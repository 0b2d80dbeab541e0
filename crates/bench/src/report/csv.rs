//! Every single measurement, one line each.

use super::Story;
use crate::friction::COLUMNS;
use crate::results::Run;

pub fn text(story: &Story) -> String {
    let mut out = String::from(
        "case,receiver,round,connections,sent,lines,seconds,msg_per_second,cpu_us_per_msg,rss_peak_bytes,\
         bytes_per_connection,missing,doubled,reordered,foreign,handshakes_per_second,written_per_msg,\
         lock_waits_per_1000,wake_ups_per_1000,hand_overs_per_1000,calls_per_1000,bytes_per_write,failure\n",
    );
    for run in &story.results.runs {
        let v = &run.verified;
        out.push_str(&format!(
            "{},{},{},{},{},{},{:.3},{:.0},{:.4},{},{:.0},{},{},{},{},{:.0},{:.0},{},{}\n",
            run.case,
            run.receiver,
            run.round,
            run.connections,
            run.sent,
            run.lines,
            run.seconds,
            run.rate(),
            run.cpu_us(),
            run.rss_peak,
            run.bytes_per_connection(),
            v.missing,
            v.doubled,
            v.reordered,
            v.foreign,
            run.handshakes,
            run.written_per_message(),
            friction(run),
            quoted(run.failure.as_deref().unwrap_or(""))
        ));
    }
    out
}

fn friction(run: &Run) -> String {
    let shown =
        COLUMNS.map(|(_, value)| format!("{:.3}", value(&run.friction, run.sent.max(1) as f64 / 1000.0)));
    shown.join(",")
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
