//! A browser, driven by chromedriver over the WebDriver protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts one. A machine without a browser fails the test.
    pub(crate) fn start() -> Browser {
        let started = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut driver = started.unwrap_or_else(|error| {
            panic!(
                "chromedriver cannot be started ({error}): `cargo xtask test` installs it, or \
                 `apt-get install chromium chromium-driver`"
            )
        });
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.unwrap();
            let (_, rest) = line.split_once("started successfully on port ")?;
            rest.trim_end_matches('.').parse().ok()
        });
        let profile = tempfile::tempdir().unwrap();
        let mut browser = Browser {
            driver,
            port: port.expect("chromedriver says its port"),
            session: String::new(),
            _profile: profile,
        };
        let folder = browser._profile.path().display();
        let arguments = [
            "--headless".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-quic".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            "--no-first-run".to_owned(),
            "--hide-scrollbars".to_owned(),
            format!("--user-data-dir={folder}"),
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let made = browser.ask("POST", "/session", &wanted);
        browser.session = made["sessionId"].as_str().unwrap().to_owned();
        browser
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let body = match method {
            "POST" => body.to_string(),
            _ => String::new(),
        };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some(count) = line.to_lowercase().strip_prefix("content-length:") {
                length = count.trim().parse().unwrap();
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).unwrap();
        let mut answer: Value = serde_json::from_slice(&answer).unwrap();
        let value = answer["value"].take();
        assert!(value["error"].is_null(), "{method} {path} {body}: {value}");
        value
    }

    fn tell(&self, what: &str, body: &Value) -> Value {
        self.ask("POST", &format!("/session/{}/{what}", self.session), body)
    }

    pub(crate) fn go(&self, address: &str) {
        self.tell("url", &json!({ "url": address }));
    }

    /// What a script returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.tell("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// What an asynchronous script hands to its callback, `done`.
    pub(crate) fn run_to_end(&self, script: &str) -> Value {
        let script = format!("const done = arguments[0]; {script}");
        self.tell("execute/async", &json!({ "script": script, "args": [] }))
    }

    /// Waits until a script returns something true, and gives that.
    pub(crate) fn wait(&self, script: &str) -> Value {
        let begun = Instant::now();
        loop {
            let value = self.run(script);
            let is_true = !matches!(value, Value::Null | Value::Bool(false));
            if is_true && value != json!(0) && value != json!("") {
                return value;
            }
            if begun.elapsed() > PATIENCE {
                let page = self.run("return location.href + '\\n' + document.body.innerText");
                panic!("never true: {script}\n{page}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Clicks what a selector finds, as a person would.
    pub(crate) fn click(&self, selector: &str) {
        let quoted = json!(selector);
        self.wait(&format!("return !!document.querySelector({quoted})"));
        // Out from under the bar at the top.
        self.run(&format!(
            "document.querySelector({quoted}).scrollIntoView({{ block: 'center' }})"
        ));
        let element = self.element(selector);
        self.tell(&format!("element/{element}/click"), &json!({}));
    }

    fn element(&self, selector: &str) -> String {
        let wanted = json!({ "using": "css selector", "value": selector });
        let found = self.tell("element", &wanted);
        let element = found.as_object().unwrap().values().next().unwrap();
        element.as_str().unwrap().to_owned()
    }

    /// Clicks, and waits for the page that comes of it.
    pub(crate) fn follow(&self, selector: &str) {
        self.run("window.stays = true");
        self.click(selector);
        self.wait("return !window.stays && document.readyState === 'complete'");
    }

    /// Writes into a field in place of what stands there.
    pub(crate) fn fill(&self, selector: &str, text: &str) {
        let (selector, text) = (json!(selector), json!(text));
        self.run(&format!(
            "document.querySelector({selector}).value = {text}"
        ));
    }

    fn devtools(&self, command: &str, parameters: &Value) -> Value {
        let body = json!({ "cmd": command, "params": parameters });
        self.tell("goog/cdp/execute", &body)
    }

    /// As on a screen of this width, light or dark.
    pub(crate) fn looks(&self, width: u32, theme: &str) {
        let size = json!({
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false
        });
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
        let feature = json!({ "name": "prefers-color-scheme", "value": theme });
        let features = json!({ "features": [feature] });
        self.devtools("Emulation.setEmulatedMedia", &features);
    }

    /// What the page looks like.
    pub(crate) fn picture(&self, file: &Path) {
        let path = format!("/session/{}/screenshot", self.session);
        self.pictured(&path, file);
    }

    /// What a part of it looks like.
    pub(crate) fn picture_of(&self, selector: &str, file: &Path) {
        let element = self.element(selector);
        let path = format!("/session/{}/element/{element}/screenshot", self.session);
        self.pictured(&path, file);
    }

    fn pictured(&self, path: &str, file: &Path) {
        let picture = self.ask("GET", path, &Value::Null);
        let bytes = STANDARD.decode(picture.as_str().unwrap()).unwrap();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }

    /// What the browser complained about since it was asked last.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = self.tell("se/log", &json!({ "type": "browser" }));
        let each = log.as_array().unwrap().iter();
        let grave = each.filter(|one| matches!(one["level"].as_str(), Some("SEVERE" | "WARNING")));
        grave
            .map(|one| one["message"].as_str().unwrap_or_default().to_owned())
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Asked to go first, the browser leaves nothing behind.
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
            let _ = write!(
                stream,
                "DELETE /session/{} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
                self.session
            );
            let _ = stream.read(&mut [0; 1024]);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
