//! A configuration in the shape of Splunk Connect for Syslog: hundreds of applications in topics, each with
//! filters by PROGRAM, by the beginning of the message, by structured data or by the port it came to, and
//! macros that set what Splunk wants to know. Written for the messages of `--body devices`.

mod applications;

use crate::place::Place;
use applications::Applications;
use stdio::CommandError;

const CORE: &str = include_str!("connector/core.conf");
const PATH: &str = include_str!("connector/path.conf");
/// Applications that no message of the mixture belongs to, by topic.
const OTHERS: [(&str, usize); 8] = [
    ("pgm", 55),
    ("network", 40),
    ("text", 28),
    ("cef", 30),
    ("almost", 14),
    ("post", 11),
    ("cisco", 6),
    ("sdata", 6),
];

/// The whole text.
pub fn text(place: &Place, driver: &str, destination: &str) -> Result<String, CommandError> {
    let rows = |count: usize, row: &dyn Fn(usize) -> String| (0..count).map(row).collect::<String>();
    let hosts = place.write("hosts.csv", &rows(50, &|n| format!("10.8.0.{n},HOST,named{n}\n")))?;
    let vendors = place.write("vendors.conf", &rows(30, &|n| {
        format!("filter f_site{n} {{ host(\"site{n}-\" type(string) flags(prefix)) or netmask(10.20.{n}.0/24) }};\n")
    }))?;
    let products = place.write("products.csv", &rows(30, &|n| format!("f_site{n},index,site{n}\n")))?;
    let metadata =
        place.write("metadata.csv", &rows(40, &|n| format!("vendor{n}_product{n},index,other\n")))?;
    let mut text = format!(
        "@version: 4.5\n@define hosts \"{}\"\n@define vendors \"{}\"\n@define products \"{}\"\n@define metadata \"{}\"\n",
        hosts.display(),
        vendors.display(),
        products.display(),
        metadata.display()
    );
    text.push_str(CORE);
    let mut applications = Applications::default();
    applications.known();
    for (topic, count) in OTHERS {
        applications.others(topic, count);
    }
    text.push_str(&applications.text);
    text.push_str(&format!("source s_in {{ connector(driver({driver})); }};\n{destination}\n"));
    text.push_str(PATH);
    Ok(text)
}
