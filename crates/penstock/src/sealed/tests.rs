use super::*;
use std::ffi::OsString;
use std::path::PathBuf;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A command line: words that begin with `@` are files of this folder.
    fn args(&self, line: &str) -> Vec<OsString> {
        let word = |word: &str| match word.strip_prefix('@') {
            Some(name) => self.path(name).into(),
            None => OsString::from(word),
        };
        line.split(' ').map(word).collect()
    }

    fn run(&self, line: &str) -> bool {
        let args = self.args(line);
        let code = match line.split(' ').next() {
            Some("slogkey") => slogkey::run(args),
            Some("slogencrypt") => slogencrypt::run(args),
            _ => slogverify::run(args),
        };
        format!("{code:?}") == format!("{:?}", ExitCode::SUCCESS)
    }

    #[track_caller]
    fn good(&self, line: &str) {
        assert!(self.run(line), "{line}");
    }

    #[track_caller]
    fn bad(&self, line: &str) {
        assert!(!self.run(line), "{line}");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect(name);
    }
}

#[test]
fn from_a_master_key_to_a_log_in_parts() {
    let folder = Folder::new();
    folder.good("slogkey -m @master");
    folder.good("slogkey --derive-host-key @master 00:16:3e:12:34:56 SN-4711 @k0");
    folder.good("slogkey -c @k0");
    folder.write("in", "one\n\nthree");
    folder.good("slogencrypt -k @k0 -m @m0 @k1 @m1 @in @log1");
    folder.good("slogverify -k @k0 -m @m1 @log1 @out");
    let expected = "00000000000000000000: one\n00000000000000000001:  \n00000000000000000002: three\n";
    assert_eq!(folder.read("out"), expected);
    folder.good(
        "slogencrypt --key-file @k1 --mac-file=@m1 @k2 @m2 @in @log2 1000".replace("=@m1", " @m1").as_str(),
    );
    folder.good("slogverify -i -p @k1 -r @m1 -m @m2 @log2 @out 20");
    assert!(folder.read("out").starts_with("00000000000000000003: one\n"));
    folder.write("all", &(folder.read("log1") + &folder.read("log2")));
    folder.good("slogverify -k @k0 -m @m2 @all @out");
    folder.good("slogverify -i -p @k0 -r @m0 -m @m2 @all @out");
    // The MAC of before, a later key, a part for the whole, the log as its own output.
    folder.bad("slogverify -k @k0 -m @m1 @all @out");
    folder.bad("slogverify -k @k1 -m @m2 @log2 @out");
    folder.bad("slogverify -k @k0 -m @m2 @log1 @out");
    folder.bad("slogverify -k @k0 -m @m2 @all @all");
    assert!(folder.read("all").starts_with("AAAAAAAAAAA=:"));
}

#[test]
fn keys_depend_on_what_they_are_made_from() {
    let folder = Folder::new();
    folder.good("slogkey -m @master");
    for (name, words) in [("a", "mac serial"), ("b", "mac serial"), ("c", "mac other"), ("d", "macs erial")] {
        folder.good(&format!("slogkey -d @master {words} @{name}"));
    }
    let key = |name: &str| std::fs::read(folder.path(name)).expect(name);
    assert_eq!(key("a"), key("b"));
    assert_ne!(key("a"), key("c"));
    // As in the other program: there is nothing between the two.
    assert_eq!(key("a"), key("d"));
}

#[test]
fn what_is_refused() {
    let folder = Folder::new();
    folder.good("slogkey -m @master");
    let before = std::fs::read(folder.path("master")).expect("a key");
    folder.bad("slogkey -m @master");
    assert_eq!(std::fs::read(folder.path("master")).expect("a key"), before);
    for line in [
        "slogkey @x",
        "slogkey -m @x @y",
        "slogkey -d @master 1 @x",
        "slogkey -d @none 1 2 @x",
        "slogkey -c @none",
        "slogkey -m -c @master",
        "slogencrypt -k @master @a @b @c @d",
        "slogencrypt -k @master -m @m @a @b @none @d",
        "slogencrypt -k @master -m @m @a @b @master @d 5",
        "slogverify -m @m @a @b",
        "slogverify -i -m @m @a @b",
        "slogverify -k @master -m @none @a @b",
    ] {
        folder.bad(line);
    }
}

/// Files as AxoSyslog 4.27 makes them, from the published format: the first key, the MAC that all begin with,
/// and two entries.
#[test]
fn logs_of_axosyslog_are_opened() {
    let bytes = |hex: &str| -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().map(|c| (c as char).to_digit(16).expect("hex") as u8).collect();
        digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    };
    let folder = Folder::new();
    let key = "07".repeat(32) + "052de994956bd13b390556b84283dcbc" + "0000000000000000";
    std::fs::write(folder.path("k0"), bytes(&key)).expect("a key");
    let first = "11111111111111111111111111111111955ca76a7c5d72ebc7d3306901330dff";
    std::fs::write(folder.path("mac0.dat"), bytes(first)).expect("the first MAC");
    let mac = "6329ac76838ac459131e899ac84a5def85e4eb3b58ccd617ddcc397a4bc566b6";
    std::fs::write(folder.path("mac"), bytes(mac)).expect("a MAC");
    folder.write(
        "log",
        "AAAAAAAAAAA=:IiIiIiIiIiIiIiIiMcQKzJbNePMeiTuW9o81ujci8FFaSgE=\n\
         AQAAAAAAAAA=:IyMjIyMjIyMjIyMjERPEFxfctaJu1tA0JeQ5IuVn17L3d/0=\n",
    );
    folder.good("slogverify -k @k0 -m @mac @log @opened");
    assert!(folder.read("opened").ends_with(": <13>two\n"), "{}", folder.read("opened"));
    folder.good("slogverify -i -p @k0 -r @mac0.dat -m @mac @log @opened");
    // Without the MAC that it begins with, nobody can say whether it is whole.
    std::fs::rename(folder.path("mac0.dat"), folder.path("away")).expect("it is there");
    folder.bad("slogverify -k @k0 -m @mac @log @opened");
}

#[test]
fn both_forms_are_sealed_and_opened() {
    for (compat, is_expanded) in [("3.38", false), ("4.27", true)] {
        let folder = Folder::new();
        folder.good("slogkey -m @master");
        folder.good(&format!("slogkey -d --compat {compat} @master 00:16:3e:12:34:56 SN-4711 @k0"));
        folder.write("in", "one\ntwo");
        folder.good(&format!("slogencrypt --compat {compat} -k @k0 -m @m0 @k1 @m1 @in @log1"));
        assert_eq!(folder.path("mac0.dat").exists(), is_expanded);
        // What is begun goes on as it began.
        folder.good("slogencrypt -k @k1 -m @m1 @k2 @m2 @in @log2");
        folder.good("slogverify -k @k0 -m @m1 @log1 @opened");
        folder.good("slogverify -i -p @k1 -r @m1 -m @m2 @log2 @opened");
        let whole = folder.read("log1") + &folder.read("log2");
        folder.write("whole", &whole);
        folder.good("slogverify -k @k0 -m @m2 @whole @opened");
        assert_eq!(folder.read("opened").lines().count(), 4);
        folder.write("cut", whole.lines().next().expect("a line"));
        folder.bad("slogverify -k @k0 -m @m2 @cut @opened");
    }
    let folder = Folder::new();
    folder.bad("slogkey -d --compat 4.4 @master a b @k0");
}
