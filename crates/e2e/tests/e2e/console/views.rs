//! The page in a real browser: each view, what changes while one looks, what was dropped in three clicks, the
//! keyboard, a telephone's width, the dark. Pictures of all of it are kept in the folder that
//! PENSTOCK_PICTURES names.

use crate::messages::{HEAD, message, send};
use std::path::PathBuf;
use testkit::{Browser, Lab, Penstock, Sender, skip, wait_until};

const CONFIG: &str = "options { console(port(%tcp:console%) show-messages(yes) allow-control(yes)); };\n\
    source s_net { network(ip(127.0.0.1) port(%tcp:in%)); };\n\
    source s_quiet { network(ip(127.0.0.1) port(%tcp:quiet%)); };\n\
    filter f_odd { message(\"number [0-9]*[13579] \"); };\n\
    destination d_all { file(\"%dir%/all\"); };\n\
    destination d_odd { file(\"%dir%/odd\"); };\n\
    destination d_full { network(127.0.0.1 port(%port:out%) log-fifo-size(10)); };\n\
    log { source(s_net); source(s_quiet); destination(d_all); };\n\
    log { source(s_net); filter(f_odd); destination(d_odd); };\n\
    log { source(s_net); destination(d_full); };\n";

struct Shown {
    browser: Browser,
    lab: Lab,
    penstock: Penstock,
}

/// The page of a program that has got a hundred messages; `None` where there is no browser.
fn shown() -> Option<Shown> {
    let lab = Lab::new();
    let Some(mut browser) = Browser::start(lab.dir()) else {
        skip("there is no chromium");
        return None;
    };
    let mut penstock = Penstock::start(&lab, &format!("{HEAD}{CONFIG}"));
    send(&lab, 0, 100);
    penstock.wait_ledger(|ledger| (ledger.destination("d_full").dropped < 90).then(|| "drops".to_owned()));
    browser.size(1280, 900);
    browser.go(&format!("http://127.0.0.1:{}/", lab.port("console")));
    browser.wait("the graph", "document.querySelectorAll('.card').length === 8");
    Some(Shown { browser, lab, penstock })
}

impl Shown {
    /// Keeps a picture where somebody wants them.
    fn picture(&mut self, name: &str) {
        if let Some(folder) = std::env::var_os("PENSTOCK_PICTURES").map(PathBuf::from) {
            self.browser.picture(&folder.join(format!("{name}.png")));
        }
    }

    /// Nothing went wrong in the page, and it asked nobody but the program.
    #[track_caller]
    fn assert_clean(&self) {
        assert!(self.browser.errors().is_empty(), "{:?}", self.browser.errors());
        let own = format!("http://127.0.0.1:{}/", self.lab.port("console"));
        let others: Vec<&String> = self
            .browser
            .requests()
            .iter()
            .filter(|url| !url.starts_with(&own) && *url != "about:blank")
            .collect();
        assert!(others.is_empty(), "{others:?}");
        assert!(self.browser.requests().len() > 3);
    }
}

/// The number in a card, by the name on it.
fn card(name: &str) -> String {
    format!(
        "[...document.querySelectorAll('.card')].find((c) => c.querySelector('.name').textContent === '{name}')"
    )
}

#[test]
fn the_graph_follows_what_flows() {
    let Some(mut shown) = shown() else { return };
    shown.picture("graph");
    let text = shown.browser.text();
    for name in ["s_net", "s_quiet", "d_all", "d_odd", "d_full", "Sources", "Log paths", "Destinations"] {
        assert!(text.contains(name), "{name}: {text}");
    }
    // Red is what drops, with the reason.
    shown.browser.wait("the red one", &format!("{}.classList.contains('drops')", card("d_full")));
    assert!(shown.browser.eval(&format!("{}.innerText", card("d_full"))).to_string().contains("queue-full"));
    // More comes while one looks: the number goes up, and the line becomes wide.
    let port = shown.lab.port("in");
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stopped = std::sync::Arc::clone(&stop);
    let sending = std::thread::spawn(move || {
        let (mut sender, mut number) = (Sender::tcp(port), 0);
        while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
            sender.line(&message(0, number));
            number += 1;
            std::thread::yield_now();
        }
    });
    shown
        .browser
        .wait("a rate", &format!("/[1-9]/.test({}.querySelector('.rate').textContent)", card("s_net")));
    let widest = "Math.max(...[...document.querySelectorAll('#edges path')].map((p) => Number(p.getAttribute('stroke-width'))))";
    shown.browser.wait("a wide line", &format!("{widest} > 10"));
    shown.browser.wait(
        "a number on it",
        "[...document.querySelectorAll('#edges text')].some((t) => /[1-9].*\\/s/.test(t.textContent))",
    );
    // Nothing came from the other source: its line is grey and thin.
    let idle = format!("{}.classList.contains('idle')", card("s_quiet"));
    shown.browser.wait("the grey one", &idle);
    shown.picture("flow");
    // A click on a line opens what it belongs to.
    shown.browser.eval(
        "document.querySelectorAll('#edges path')[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))",
    );
    shown.browser.wait("the panel", "!document.getElementById('panel').hidden");
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    sending.join().expect("the sender");
    shown.assert_clean();
    drop(shown.penstock);
}

#[test]
fn a_dropped_message_is_found_in_three_clicks() {
    let Some(mut shown) = shown() else { return };
    // One: the card; two: its dropped messages. There it stands.
    let at =
        shown.browser.eval(&format!("[...document.querySelectorAll('.card')].indexOf({})", card("d_full")));
    shown.browser.eval(&format!("document.querySelectorAll('.card')[{at}].id = 'wanted'"));
    shown.browser.click("#wanted");
    shown.browser.wait("the panel", "!document.getElementById('panel').hidden");
    // What comes later stands above and below the button: it is waited for.
    shown.browser.wait(
        "its lines of the configuration, and its hour",
        "/log-fifo-size\\s+10\\s/.test(document.getElementById('details').innerText) && document.querySelector('#details .chart').children.length > 0",
    );
    shown.browser.click("#details button.plain");
    shown
        .browser
        .wait("the message", "document.getElementById('details').innerText.includes('message number 99 of')");
    shown.picture("dropped-panel");
    shown.browser.key("Escape");
    shown.browser.wait("the panel's end", "document.getElementById('panel').hidden");
    // And from the view of all of them, in one.
    shown.browser.click("#tab-dropped");
    shown
        .browser
        .wait("the message", "document.getElementById('dropped').innerText.includes('message number 99 of')");
    shown.picture("dropped");
    shown.assert_clean();
    drop(shown.penstock);
}

#[test]
fn every_view_shows_what_the_program_knows() {
    let Some(mut shown) = shown() else { return };
    shown.browser.click("#tab-ledger");
    shown.browser.wait("the ledger", "document.getElementById('ledger').innerText.includes('queue-full 90')");
    shown.picture("ledger");
    shown.browser.click("#tab-waiting");
    shown.browser.wait("what waits", "document.getElementById('waiting').innerText.includes('stands still')");
    shown.picture("waiting");
    shown.browser.click("#tab-log");
    shown.browser.wait("the log", "document.getElementById('log').innerText.includes('starting up')");
    shown.picture("log");
    // A line is tried: its way, and where it goes; nothing is delivered.
    shown.browser.click("#tab-explain");
    shown.browser.eval("document.getElementById('try-source').value = 's_net'");
    shown.browser.click("#line");
    shown.browser.eval("document.getElementById('line').select()");
    shown.browser.write("<13>Nov 24 10:00:00 web app[7]: number 7 of them");
    shown.browser.click("#try button");
    shown.browser.wait("its way", "document.getElementById('story').innerText.includes('goes to')");
    let story = shown.browser.eval("document.getElementById('story').innerText").to_string();
    for part in ["f_odd", "d_odd", "d_all", "passed"] {
        assert!(story.contains(part), "{part}: {story}");
    }
    shown.picture("explain");
    wait_until("nothing more", || shown.lab.lines("all").len() == 100);
    // A filter that is none is said to be that.
    shown.browser.click("#filter");
    shown.browser.write("no such(");
    shown.browser.click("#next button");
    shown
        .browser
        .wait("the error", "/error|expected|unknown/i.test(document.getElementById('story').innerText)");
    shown.assert_clean();
    drop(shown.penstock);
}

#[test]
fn what_runs_is_changed_from_the_page() {
    let Some(mut shown) = shown() else { return };
    let changed = |text: &str| format!("document.getElementById('changed').innerText.includes('{text}')");
    let differs = |text: &str| format!("document.getElementById('difference').innerText.includes('{text}')");
    shown.browser.click("#tab-change");
    shown.browser.wait("what runs", &differs("no difference"));
    shown.lab.write_config("penstock.conf", &format!("{HEAD}{CONFIG}").replace("[13579]", "[1357]"));
    shown.browser.click("#tab-graph");
    shown.browser.click("#tab-change");
    shown.browser.wait("the difference", &differs("[1357]"));
    shown.picture("change");
    // On trial, and called back.
    shown.browser.eval("document.getElementById('trial-seconds').value = '600'");
    shown.browser.click("#reload button[name=trial]");
    shown.browser.wait("the trial", &changed("On trial"));
    shown.browser.wait("the new one", &differs("[1357]"));
    shown.browser.click("#roll-back");
    shown.browser.wait("the way back", &changed("is rolled back"));
    shown.browser.wait("the trial's end", "!document.querySelector('#reload button[name=now]').disabled");
    shown.browser.wait("the difference", &differs("[1357]"));
    // For good, and undone.
    shown.browser.click("#reload button[name=now]");
    shown.browser.wait("the reload", &changed("successful"));
    shown.browser.wait("what runs", &differs("no difference"));
    shown.browser.click("#roll-back");
    shown.browser.wait("what ran before", &changed("in effect again"));
    shown.browser.wait("the difference", &differs("[1357]"));
    shown.picture("rolled-back");
    assert!(shown.penstock.request("ROLL_BACK").starts_with("OK"));
    shown.assert_clean();
    drop(shown.penstock);
}

#[test]
fn the_keyboard_is_enough() {
    let Some(mut shown) = shown() else { return };
    let focus = "document.activeElement.id";
    shown.browser.key("Tab");
    assert_eq!(shown.browser.eval(focus), "tab-graph");
    shown.browser.key("ArrowRight");
    assert_eq!(shown.browser.eval(focus), "tab-ledger");
    shown.browser.wait("the ledger", "!document.getElementById('ledger').hidden");
    shown.browser.key("ArrowLeft");
    shown.browser.key("/");
    assert_eq!(shown.browser.eval(focus), "search");
    shown.browser.write("d_odd");
    shown.browser.wait(
        "what was searched",
        "[...document.querySelectorAll('.card')].filter((c) => c.offsetParent).length < 8",
    );
    // The first card, opened and closed again; the focus comes back to it.
    shown.browser.key("Tab");
    assert_eq!(shown.browser.eval("document.activeElement.className.split(' ')[0]"), "card");
    shown.browser.key("Enter");
    shown.browser.wait("the panel", "!document.getElementById('panel').hidden");
    assert_eq!(shown.browser.eval(focus), "close");
    shown.browser.key("Escape");
    shown.browser.wait("the panel's end", "document.getElementById('panel').hidden");
    assert_eq!(shown.browser.eval("document.activeElement.className.split(' ')[0]"), "card");
    // What has the focus can be seen.
    assert_eq!(shown.browser.eval("getComputedStyle(document.activeElement).outlineStyle"), "solid");
    shown.assert_clean();
    drop(shown.penstock);
}

#[test]
fn it_is_usable_on_a_telephone_and_in_the_dark() {
    let Some(mut shown) = shown() else { return };
    shown.browser.size(400, 800);
    for tab in ["graph", "ledger", "waiting", "dropped", "explain", "log"] {
        shown.browser.click(&format!("#tab-{tab}"));
        shown.browser.wait("the view", &format!("!document.getElementById('{tab}').hidden"));
        let wide = shown.browser.eval("document.documentElement.scrollWidth");
        assert!(wide.as_u64() <= Some(400), "{tab} is {wide} wide");
        shown.picture(&format!("narrow-{tab}"));
    }
    shown.browser.size(1280, 900);
    shown.browser.click("#tab-graph");
    let ground = "getComputedStyle(document.body).backgroundColor";
    let light = shown.browser.eval(ground);
    shown.browser.dark(true);
    assert_ne!(shown.browser.eval(ground), light);
    shown.picture("dark-graph");
    shown.assert_clean();
    drop(shown.penstock);
}
