//! Calls that python blocks define: what they stand for, what they are given, what is said when they fail.

use super::{message, send};
use crate::messages::HEAD;
use testkit::{Lab, Penstock, Sender, run_command};

fn check(lab: &Lab, text: &str) -> testkit::Outcome {
    let path = lab.path("checked.conf");
    std::fs::write(&path, text).expect("a file");
    run_command(&["check", &path.display().to_string()])
}

#[test]
fn a_function_makes_the_text_of_a_call() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}python {{\nimport syslogng\ndef made(args):\n    assert sorted(args) == ['file_name', 'kinds'], args\n\
         \x20   name = args['file_name'].strip('\"')\n\
         \x20   return ''.join('file(\"{{}}.{{}}\");'.format(name, kind) for kind in args['kinds'].split(','))\n\
         syslogng.register_config_generator(context=\"destination\", name=\"many-files\", config_generator=made)\n\
         syslogng.register_config_generator('root', 'whole_path', lambda args: 'log {{ source(s); destination(d); }};')\n}};\n\
         source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ many_files(file-name(\"%dir%/out\") kinds(a,b)); }};\nwhole-path();\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    send(&mut Sender::tcp(lab.port("in")), 0..50);
    penstock.wait_settled(50).assert_nothing_lost();
    penstock.stop();
    let expected: Vec<String> = (0..50).map(message).map(|line| line.replacen("<13>", "", 1)).collect();
    assert_eq!(lab.lines("out.a"), expected);
    assert_eq!(lab.lines("out.b"), expected);
}

#[test]
fn a_module_that_a_block_imports_may_define_calls() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("python")).expect("a folder");
    let module = "from syslogng import register_config_generator as define\n\
                  define('source', 'mine', lambda args: 'network(ip(127.0.0.1) port({}));'.format(args['port']))\n";
    std::fs::write(lab.path("python/my_calls.py"), module).expect("a module");
    let config = format!(
        "{HEAD}python {{\nimport my_calls\n}};\nsource s {{ mine(port(%tcp:in%)); }};\n\
         log {{ source(s); destination {{ file(\"%dir%/out\"); }}; }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    send(&mut Sender::tcp(lab.port("in")), 0..5);
    penstock.wait_settled(5).assert_nothing_lost();
    penstock.stop();
    assert_eq!(lab.lines("out").len(), 5);
}

#[test]
fn what_fails_is_said_at_its_place() {
    let lab = Lab::new();
    let checked = |python: &str| {
        let text = format!(
            "{HEAD}python {{\nimport syslogng\n{python}\n}};\nsource s {{ mine(port(1)); }};\n\
             log {{ source(s); destination {{ file(\"/tmp/never\"); }}; }};\n"
        );
        let outcome = check(&lab, &text);
        assert_eq!(outcome.code, Some(1), "{}{}", outcome.stdout, outcome.stderr);
        outcome.stdout + &outcome.stderr
    };
    let raises = "def mine(args):\n    raise ValueError('no ' + args['port'])\nsyslogng.register_config_generator('source', 'mine', mine)";
    let said = checked(raises);
    assert!(
        said.contains("P0046") && said.contains("ValueError: no 1") && said.contains("mine(port(1))"),
        "{said}"
    );
    let said = checked("syslogng.register_config_generator('source', 'mine', lambda args: 7)");
    assert!(said.contains("returned int, not str"), "{said}");
    let said = checked("syslogng.register_config_generator('source', 'mine', None)");
    assert!(said.contains("config_generator is no function"), "{said}");
    // Nobody defines it: the name is unknown as without Python.
    let said = checked("def other(): pass");
    assert!(said.contains("mine") && !said.contains("P0046"), "{said}");
}
