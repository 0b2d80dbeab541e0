//! The page in a real browser where there are more log paths than a screen has room for.

use crate::messages::HEAD;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use testkit::{Browser, Lab, Penstock, Sender, skip};

/// A thousand log paths from two files: the busiest are shown, groups and the search find the others.
#[test]
fn a_thousand_paths_stay_usable() {
    let lab = Lab::new();
    let Some(mut browser) = Browser::start(lab.dir()) else { return skip("there is no chromium") };
    let mut config = format!(
        "{HEAD}options {{ console(port(%tcp:console%) show-messages(yes)); }};\n\
         source s_net {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n"
    );
    for (prefix, count) in [("d_app", 600), ("d_fw", 300)] {
        for n in 0..count {
            config.push_str(&format!(
                "destination {prefix}_{n} {{ file(\"%dir%/out/{prefix}_{n}\" create-dirs(yes)); }};\n"
            ));
            config.push_str(&format!(
                "log {{ source(s_net); filter {{ program(\"{prefix}_{n}\" type(string)); }}; destination({prefix}_{n}); }};\n"
            ));
        }
    }
    let more: String = (0..100)
        .map(|n| format!("log {{ source(s_net); filter {{ program(\"x{n}\" type(string)); }}; destination(d_app_{n}); }};\n"))
        .collect();
    std::fs::write(lab.path("more.conf"), more).unwrap();
    config.push_str("@include \"more.conf\"\n");
    let penstock = Penstock::start(&lab, &config);
    // All the time, to one of those that stand far behind.
    let sending = Arc::new(AtomicBool::new(true));
    let (port, goes_on) = (lab.port("in"), Arc::clone(&sending));
    let sender = std::thread::spawn(move || {
        let mut sender = Sender::tcp(port);
        while goes_on.load(Ordering::Relaxed) {
            sender.line("<13>Nov 11 01:02:03 host d_fw_277: x");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    });
    browser.size(1280, 900);
    browser.go(&format!("http://127.0.0.1:{}/", lab.port("console")));
    let shown = "[...document.querySelectorAll('.card')].filter((c) => !c.hidden)";
    browser.wait("the graph", "document.querySelectorAll('.card').length === 1901");
    browser.wait("a part of it", &format!("{shown}.length > 100 && {shown}.length <= 450"));
    browser.wait("what is left out", "/more: search/.test(document.getElementById('more').textContent)");
    // The groups, largest first: the beginnings of names, and files.
    let groups = "[...document.querySelectorAll('#kin button')].map((b) => b.textContent)";
    browser.wait("the groups", &format!("{groups}.length >= 4"));
    let groups = browser.eval(&format!("{groups}.join('; ')"));
    for group in ["penstock.conf: 900", "d_app_ 600", "d_fw_ 300", "more.conf: 100"] {
        assert!(groups.as_str().is_some_and(|all| all.contains(group)), "{group}: {groups}");
    }
    let flows =
        "[...document.querySelectorAll('#sources .rate')].some((one) => /[1-9]/.test(one.textContent))";
    browser.wait("a rate", flows);
    // One click shows a group and what leads there, a second one everything again.
    browser.click("#kin button:nth-child(3)");
    let names = format!(
        "{shown}.filter((c) => c.parentElement.id === 'destinations').map((c) => c.querySelector('.name').textContent)"
    );
    browser.wait(
        "the group",
        &format!("{names}.length === 150 && {names}.every((name) => name.startsWith('d_fw_'))"),
    );
    assert_eq!(
        browser.eval("document.querySelector('#kin button:nth-child(3)').getAttribute('aria-pressed')"),
        "true"
    );
    // Of more than there is room for, those that get messages.
    assert_eq!(browser.eval(&format!("{names}.includes('d_fw_277')")), true);
    browser.click("#kin button:nth-child(3)");
    browser.wait("all again", "document.getElementById('search').value === ''");
    // And by name.
    browser.key("/");
    browser.write("d_app_599");
    browser.wait("the one", &format!("{names}.join() === 'd_app_599'"));
    // With the whole way to it.
    let sources = format!("{shown}.filter((c) => c.parentElement.id === 'sources').length");
    assert_eq!(browser.eval(&sources), 1);
    assert_eq!(browser.eval(&format!("{shown}.length")), 3);
    browser.key("Tab");
    assert!(browser.errors().is_empty(), "{:?}", browser.errors());
    if let Some(folder) = std::env::var_os("PENSTOCK_PICTURES").map(PathBuf::from) {
        browser.picture(&folder.join("crowd.png"));
    }
    sending.store(false, Ordering::Relaxed);
    sender.join().expect("the sender");
    penstock.stop();
}
