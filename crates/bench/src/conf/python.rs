//! The classes of the Python cases. syslog-ng 3 has no classes to derive from.

use super::processing::Steps;
use crate::cases::Python;

/// `line`: the template of a line, with something behind the message.
pub fn steps(what: Python, line: &dyn Fn(&str) -> String) -> Steps {
    let code = |code: &str| format!("python {{\nimport syslogng\n{code}\n}};\n");
    let parser = |body: &str, options: &str| {
        let class = format!(
            "class Made(getattr(syslogng, \"LogParser\", object)):\n    def parse(self, msg):\n{body}"
        );
        code(&class) + &format!("parser p {{ python(class(\"Made\"){options}); }};\n")
    };
    match what {
        Python::Parser => Steps {
            definitions: parser("        msg[\"made\"] = msg[\"PROGRAM\"]\n        return True", ""),
            steps: " parser(p);".into(),
            template: line("${made}"),
        },
        Python::Raises => Steps {
            definitions: parser(
                "        msg[\"made\"] = msg[\"PROGRAM\"]\n        raise ValueError(\"no\")",
                " mark-errors-as-critical(no)",
            ),
            steps: " parser(p);".into(),
            template: line(""),
        },
        Python::Function => Steps {
            definitions: code("def made(msg, text):\n    return text[:5]"),
            steps: String::new(),
            template: line("$(python made $PROGRAM)"),
        },
        Python::Destination => Steps {
            definitions: code(
                "class Taking(getattr(syslogng, \"LogDestination\", object)):\n    def init(self, options):\n        self.rows = []\n        return True\n\
                 \x20   def send(self, msg):\n        self.rows.append(msg[\"MESSAGE\"])\n        return self.QUEUED\n\
                 \x20   def flush(self):\n        self.rows = []\n        return self.SUCCESS",
            ) + "destination d_class { python(class(\"Taking\") batch-lines(500)); };\n",
            steps: " destination(d_class);".into(),
            template: line(""),
        },
    }
}
