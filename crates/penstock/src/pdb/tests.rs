use super::session::{Session, values};
use super::*;
use clap::CommandFactory;
use std::path::Path;

const DATABASE: &str = "<patterndb version='5' pub_date='2026-01-01'><ruleset><pattern>app</pattern><rules>
<rule id='number' class='system'><pattern>foo @NUMBER:n@ of @QSTRING:q:\"@ end</pattern>
  <values><value name='v'>${n}!</value></values><tags><tag>t</tag></tags>
  <examples><example><test_message program='app'>foo 1 of \"x\" end</test_message><test_values><test_value name='n'>1</test_value>
  </test_values></example>WRONG</examples></rule></rules></ruleset></patterndb>";

/// A folder with a database; `wrong` adds an example that is not what the rule says.
fn folder(wrong: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let example = "<example><test_message program='app'>bar</test_message></example>";
    let text = DATABASE.replace("WRONG", if wrong { example } else { "" });
    std::fs::write(folder.path().join("a.pdb"), text).expect("written");
    folder
}

fn parse(line: &str) -> Command {
    let words = std::iter::once("pdbtool").chain(line.split_whitespace());
    Pdb::try_parse_from(words).unwrap_or_else(|e| panic!("{line}: {e}")).command
}

fn test(path: &Path, more: &str) -> u8 {
    let Command::Test(args) = parse(&format!("test {} {more}", path.display())) else { panic!("{more}") };
    examples::run(&args).expect("a database")
}

#[test]
fn command_lines_hold_together() {
    Pdb::command().debug_assert();
    for line in [
        "match -p x -P prog -M message -D -C -c -T template -F filter -v",
        "match -f -",
        "lookup -M -dash",
        "test --validate -r id -D -c a b",
        "merge -p out -D dir -r -G *.pdb -s",
        "dump -p x -P prog",
        "dump -T --debug",
        "dictionary -p x -T",
        "patternize -f x -p -S 2.5 -o -n -d ; --samples 3",
    ] {
        parse(line);
    }
}

#[test]
fn a_message_is_shown_as_pdbtool_shows_it() {
    let folder = folder(false);
    let mut session = Session::open(&folder.path().join("a.pdb")).expect("a database");
    let text = "foo 12 of \"a b\" end and on";
    let mut batch = session.message("app", text);
    let selection = session.run(&mut batch);
    assert_eq!(selection, [0]);
    assert_eq!(
        values(&batch, &batch.records[0]),
        format!(
            "MESSAGE={text}\nPROGRAM=app\n.classifier.class=system\n.classifier.rule_id=number\nn=12\nq=a b\nv=12!\nTAGS=.classifier.system,t\n"
        )
    );
    assert_eq!(
        session.explain(b"app", text.as_bytes(), false),
        "Pattern matching part:\nfoo @NUMBER:n=12@ of \"@QSTRING:q=a b@ end\nMatching part:\nfoo 12 of \"a b\" end\nValues:\n"
    );
    assert_eq!(
        session.explain(b"app", b"foo x", false),
        "Pattern matching part:\nfoo x\nMatching part:\nfoo \nValues:\n"
    );
}

#[test]
fn examples_decide_the_exit_code() {
    let (good, bad) = (folder(false), folder(true));
    assert_eq!(test(&good.path().join("a.pdb"), "--report"), 0);
    assert_eq!(test(&bad.path().join("a.pdb"), "-D"), 2);
    assert_eq!(test(&good.path().join("a.pdb"), "-r nobody"), 3);
}

#[test]
fn what_was_merged_is_a_database() {
    let folder = folder(false);
    let out = folder.path().join("merged.xml");
    let line = format!("merge -D {} -G *.pdb -p {}", folder.path().display(), out.display());
    let Command::Merge(args) = parse(&line) else { panic!("{line}") };
    assert_eq!(making::merge(&args), Ok(0));
    assert_eq!(test(&out, ""), 0);
}
