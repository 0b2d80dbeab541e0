//! The text of a message in the forms that parsers take apart.

use super::words::Random;
use super::{Body, Message, Style};

/// The fields of a structured message: name, value, and whether JSON gives the value without quotes.
type Field = (&'static str, String, bool);

fn fields(index: usize) -> [Field; 20] {
    let text = |name, value: String| (name, value, false);
    let number = |name, value: usize| (name, value.to_string(), true);
    let one = |choices: &[&str]| choices[index % choices.len()].to_owned();
    [
        text("user", format!("u{}", index % 100)),
        text("src", format!("10.0.{}.{}", index % 7, index % 250)),
        text("dst", format!("10.9.8.{}", index % 11)),
        number("sp", 1024 + index),
        number("dp", [22, 80, 443][index % 3]),
        text("prot", one(&["tcp", "udp"])),
        text("act", one(&["allow", "deny"])),
        number("len", 40 + index % 1400),
        number("code", 200 + index % 5),
        text("meth", one(&["GET", "PUT"])),
        text("zone", one(&["in", "out", "dmz"])),
        text("if", one(&["eth0", "eth1"])),
        number("rule", index % 90),
        text("lvl", one(&["low", "mid"])),
        text("dept", one(&["it", "hr", "ops"])),
        text("os", one(&["lnx", "win"])),
        text("cc", one(&["de", "hu", "us"])),
        number("dur", index % 60),
        number("pkts", 1 + index % 30),
        number("id", 10_000 + index),
    ]
}

/// Appends a body that ends with LF; the whole message has `size` bytes if what it must hold is not longer.
pub(super) fn append(m: &mut Message, style: &Style, size: usize, index: usize) {
    let mut random = Random::new(index as u64);
    let stamp = |m: &mut Message| {
        if style.stamp {
            m.stamp();
        }
    };
    let tail = match style.body {
        Body::Kv => {
            stamp(m);
            for (name, value, _) in fields(index) {
                m.text(&format!("{name}={value} "));
            }
            m.text("text=\"");
            "\"\n"
        }
        Body::Json => {
            m.text("{\"stamp\":\"");
            stamp(m);
            m.text("\",");
            for (name, value, plain) in fields(index) {
                let quote = if plain { "" } else { "\"" };
                m.text(&format!("\"{name}\":{quote}{value}{quote},"));
            }
            m.text("\"ok\":true,\"nest\":{\"a\":1,\"b\":\"x\"},\"text\":\"");
            "\"}\n"
        }
        Body::Csv => {
            stamp(m);
            for (_, value, _) in fields(index) {
                m.text(&format!(",{value}"));
            }
            m.text(",");
            "\n"
        }
        Body::Xml => {
            m.text("<e><stamp>");
            stamp(m);
            m.text("</stamp>");
            for (name, value, _) in fields(index) {
                m.text(&format!("<{name}>{value}</{name}>"));
            }
            m.text("<t>");
            "</t></e>\n"
        }
        Body::Events => {
            let number = index % 10 * 1000;
            match index / 10 % 10 {
                0 => m.text(&format!(
                    "event {number:04} user u{} from 10.0.0.{} port {} ",
                    index % 100,
                    index % 250,
                    index
                )),
                1..5 => m.text(&format!("event {number:04}x user u{} ", index % 100)),
                _ => {}
            }
            stamp(m);
            "\n"
        }
        Body::Padd | Body::Text | Body::Devices => {
            stamp(m);
            "\n"
        }
    };
    loop {
        let word = random.word();
        if m.bytes.len() + word.len() + 1 + tail.len() > size {
            break;
        }
        m.text(word);
        m.text(" ");
    }
    while m.bytes.len() + tail.len() < size {
        m.text("x");
    }
    m.text(tail);
}
