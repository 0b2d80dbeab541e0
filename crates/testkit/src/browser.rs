//! A real browser without a screen, spoken to in the DevTools protocol over two pipes.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Names under which distributions have it.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// How long something of a page is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);

/// One page in a browser of its own.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: String,
    last: u64,
    /// What the page asked for, in order.
    requests: Vec<String>,
    /// Errors that it said on its console.
    errors: Vec<String>,
}

impl Browser {
    /// `None` where there is no browser. Its profile is in `folder`.
    pub fn start(folder: &Path) -> Option<Browser> {
        let name = NAMES.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok())?;
        // Commands come by descriptor 3, answers go to descriptor 4.
        let script = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let profile = format!("--user-data-dir={}", folder.join("browser").display());
        let mut child = Command::new("sh")
            .args(["-c", script, name, "--headless", "--remote-debugging-pipe", "--no-sandbox", &profile])
            .args([
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let to = child.stdin.take().expect("a pipe");
        let from = BufReader::new(child.stdout.take().expect("a pipe"));
        let (session, requests, errors) = (String::new(), Vec::new(), Vec::new());
        let mut browser = Browser { child, to, from, session, last: 0, requests, errors };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", attach);
        attached["sessionId"].as_str().expect("a session").clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Calls a method and waits for its answer; what happens meanwhile is noted.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("a browser that listens");
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).expect("a browser that answers");
            bytes.pop();
            let said: Value = serde_json::from_slice(&bytes).expect("JSON of the browser");
            if said["id"] == self.last {
                assert!(said["error"].is_null(), "{method}: {said}");
                return said["result"].clone();
            }
            self.note(&said);
        }
    }

    fn note(&mut self, event: &Value) {
        let params = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "Network.requestWillBeSent" => {
                self.requests.push(params["request"]["url"].as_str().unwrap_or_default().to_owned());
            }
            "Runtime.exceptionThrown" => self.errors.push(params["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" if params["type"] == "error" => self.errors.push(params.to_string()),
            _ => {}
        }
    }

    pub fn go(&mut self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
        self.wait("the page", "document.readyState === 'complete'");
    }

    /// What an expression is in the page.
    #[track_caller]
    pub fn eval(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true in the page.
    #[track_caller]
    pub fn wait(&mut self, what: &str, expression: &str) {
        let until = Instant::now() + PATIENCE;
        while self.eval(&format!("Boolean({expression})")) != true {
            assert!(Instant::now() < until, "{what} does not come: {expression}\n{}", self.text());
            std::thread::sleep(LOOK);
        }
    }

    /// All that is to be read in the page.
    pub fn text(&mut self) -> String {
        self.eval("document.body.innerText").as_str().unwrap_or_default().to_owned()
    }

    /// Clicks into the middle of what the selector finds first, as a hand would: what lies over it gets it.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        let found = self.eval(&format!(
            "(() => {{ const one = [...document.querySelectorAll({selector:?})].find((e) => e.offsetParent !== null || e.getClientRects().length);\
             if (!one) return null; one.scrollIntoView({{block: 'center'}}); const r = one.getBoundingClientRect();\
             return [r.left + r.width / 2, r.top + r.height / 2]; }})()"
        ));
        assert!(found.is_array(), "there is no {selector}:\n{}", self.text());
        for kind in ["mousePressed", "mouseReleased"] {
            let params =
                json!({ "type": kind, "x": found[0], "y": found[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", params);
        }
    }

    /// Presses a key: `Tab`, `Enter`, `Escape`, `ArrowRight`, or a letter.
    pub fn key(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            _ => u32::from(key.to_ascii_uppercase().bytes().next().unwrap_or(b' ')),
        };
        let mut down = json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": code });
        if key == "Enter" {
            down["text"] = "\r".into();
        } else if key.len() == 1 {
            down["text"] = key.into();
        }
        self.call("Input.dispatchKeyEvent", down);
        self.call(
            "Input.dispatchKeyEvent",
            json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code }),
        );
    }

    /// Types a text where the cursor is.
    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    pub fn size(&mut self, width: u32, height: u32) {
        let params =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", params);
    }

    pub fn dark(&mut self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        self.call("Emulation.setEmulatedMedia", features);
    }

    /// Writes what is to be seen, as PNG.
    pub fn picture(&mut self, path: &Path) {
        let answer = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let bytes = decoded(answer["data"].as_str().expect("a picture"));
        std::fs::write(path, bytes).expect("a picture on disk");
    }

    pub fn requests(&self) -> &[String] {
        &self.requests
    }

    pub fn errors(&self) -> &[String] {
        &self.errors
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Base64.
fn decoded(text: &str) -> Vec<u8> {
    let digit = |c: u8| -> u32 {
        match c {
            b'A'..=b'Z' => u32::from(c - b'A'),
            b'a'..=b'z' => u32::from(c - b'a') + 26,
            b'0'..=b'9' => u32::from(c - b'0') + 52,
            b'+' => 62,
            _ => 63,
        }
    };
    let digits = text.trim_end_matches('=').as_bytes();
    let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 3);
    for four in digits.chunks(4) {
        let bits = four.iter().fold(0, |bits, c| bits << 6 | digit(*c)) << (6 * (4 - four.len()));
        out.extend((0..four.len() - 1).map(|at| (bits >> (16 - 8 * at)) as u8));
    }
    out
}
