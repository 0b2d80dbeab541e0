//! Hundreds of cases a second, of a configuration with hundreds of applications.

use crate::cases::{test, write};
use crate::messages::HEAD;
use std::fmt::Write;
use std::time::{Duration, Instant};
use testkit::Lab;

const APPLICATIONS: usize = 300;
const CASES: usize = 500;
/// For all cases, with reading and compiling the configuration.
const TIME_MAX: Duration = Duration::from_secs(2);

#[test]
fn five_hundred_cases_against_three_hundred_applications() {
    let lab = Lab::new();
    let mut config = HEAD.to_owned();
    for n in 0..APPLICATIONS {
        let _ = writeln!(
            config,
            "application app{n}[syslog] {{ filter {{ program(\"app{n}\" type(string)); }}; parser {{ kv-parser(prefix(\".app{n}.\")); }}; }};"
        );
    }
    config += "source s { network(ip(127.0.0.1) port(%port:in%)); };\n\
               destination d { file(\"%dir%/out\" template(\"${.app.name} $MSG\\n\")); };\n\
               log { source(s); parser { app-parser(topic(syslog)); }; destination(d); };\n";
    let mut cases = String::new();
    for case in 0..CASES {
        let n = case % APPLICATIONS;
        let _ = writeln!(
            cases,
            "[[case]]\nname = \"case {case}\"\nline = \"<13>Nov 23 10:00:00 web app{n}[7]: user=bob n={case}\"\n\
             expect = [{{ destination = \"d\", line = \"app{n} user=bob n={case}\" }}]"
        );
    }
    let path = write(&lab, &config, &cases);
    let began = Instant::now();
    let outcome = test(&path, &[]);
    let took = began.elapsed();
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.ends_with("500 cases: 500 passed, 0 failed\n"), "{outcome:?}");
    assert!(took < TIME_MAX, "{took:?}");
}
