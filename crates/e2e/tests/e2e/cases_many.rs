//! Hundreds of cases, of a configuration with hundreds of applications: it is read and compiled once for all.

use crate::cases::{test, write};
use crate::messages::HEAD;
use std::fmt::Write;
use testkit::Lab;

const APPLICATIONS: usize = 300;
const CASES: usize = 500;

#[test]
fn five_hundred_cases_against_three_hundred_applications() {
    let lab = Lab::new();
    // Whenever the configuration is read, this runs.
    let ran = lab.path("ran");
    let script = format!("echo run >> {}\necho 'set-tag(\"made\")'\n", ran.display());
    std::fs::write(lab.path("made.sh"), script).unwrap();
    let mut config =
        format!("{HEAD}@module confgen context(rewrite) name(made) exec(\"sh %dir%/made.sh\")\n");
    for n in 0..APPLICATIONS {
        let _ = writeln!(
            config,
            "application app{n}[syslog] {{ filter {{ program(\"app{n}\" type(string)); }}; parser {{ kv-parser(prefix(\".app{n}.\")); }}; }};"
        );
    }
    config += "source s { network(ip(127.0.0.1) port(%port:in%)); };\n\
               destination d { file(\"%dir%/out\" template(\"${.app.name} $MSG\\n\")); };\n\
               log { source(s); rewrite { made(); }; parser { app-parser(topic(syslog)); }; destination(d); };\n";
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
    let outcome = test(&path, &[]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.ends_with("500 cases: 500 passed, 0 failed\n"), "{outcome:?}");
    assert_eq!(std::fs::read_to_string(&ran).unwrap(), "run\n");
}
