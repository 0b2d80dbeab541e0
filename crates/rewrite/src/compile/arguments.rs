//! The arguments of an operation: texts first, then options.

use crate::time::Which;
use conf_syntax::{Arg, ArgKind, Call};
use diag::{Diagnostic, Diagnostics, Span, nearest};
use filter::{Filter, FilterEnv, MatcherOptions, template_of, unknown_option, value_of};
use pattern::{Kind, Pattern, PatternOptions};
use record::{NameId, Zone};
use template::{OnError, Template, TemplateOptions, TsFormat, TypeHint};

pub const CODES: MatcherOptions = MatcherOptions {
    unknown_option: "R0102",
    wrong_argument: "R0103",
    wrong_template: "R0106",
    useless: "R0113",
};

pub struct Arguments<'a> {
    pub env: &'a dyn FilterEnv,
    pub diags: &'a mut Diagnostics,
    call: &'a Call,
    texts: Vec<(&'a str, Span)>,
    options: Vec<&'a Call>,
    hint: Option<TypeHint>,
}

impl<'a> Arguments<'a> {
    /// Reports options that are not `known` and a wrong number of texts.
    pub fn read(
        call: &'a Call,
        count: (usize, usize),
        known: &[&str],
        env: &'a dyn FilterEnv,
        diags: &'a mut Diagnostics,
    ) -> Option<Arguments<'a>> {
        let name = &call.name.text;
        let mut a = Arguments { env, diags, call, texts: Vec::new(), options: Vec::new(), hint: None };
        let mut good = true;
        let takes_type = call.is("set") || call.is("groupset");
        for arg in &call.args {
            match &arg.kind {
                ArgKind::Call(option) if option.is("internal") => {
                    let text = "internal() does nothing here: rewrite operations are not counted";
                    a.diags.warning("R0113", text, option.span);
                }
                ArgKind::Call(option) if option.is("condition") || known.iter().any(|k| option.is(k)) => {
                    a.options.push(option);
                }
                ArgKind::Call(typed) if takes_type && a.texts.is_empty() && a.typed_text(typed) => {}
                ArgKind::Call(_) => {
                    let known: Vec<&str> = known.iter().copied().chain(["condition"]).collect();
                    unknown_option(name, arg, &known, &CODES, a.diags);
                    good = false;
                }
                _ => match arg.text() {
                    Some(text) => {
                        if a.texts.is_empty() && takes_type {
                            a.hint = arg.number_type().and_then(TypeHint::named);
                        }
                        a.texts.push((text, arg.span));
                    }
                    None => {
                        a.diags.error(
                            "R0103",
                            format!("{name}() does not take {} here", arg.describe()),
                            arg.span,
                        );
                        good = false;
                    }
                },
            }
        }
        if a.texts.len() < count.0 || a.texts.len() > count.1 {
            let wants = match count.0 {
                0 => "takes only options",
                1 => "takes one text before its options",
                _ => "takes two texts before its options",
            };
            a.diags.error("R0103", format!("{name}() {wants}"), call.span);
            good = false;
        }
        good.then_some(a)
    }

    /// `int("$PID")`
    fn typed_text(&mut self, call: &'a Call) -> bool {
        let Some(hint) = TypeHint::named(&call.name.norm()) else { return false };
        let [Arg { span, .. }] = call.args.as_slice() else { return false };
        let Some(text) = call.args.first().and_then(Arg::text) else { return false };
        self.texts.push((text, *span));
        self.hint = Some(hint);
        true
    }

    pub fn type_hint(&self) -> Option<TypeHint> {
        self.hint
    }

    fn option(&self, name: &str) -> Option<&'a Call> {
        // The last one wins.
        self.options.iter().rev().find(|o| o.is(name)).copied()
    }

    pub fn text(&mut self, n: usize) -> Option<(&'a str, Span)> {
        self.texts.get(n).copied()
    }

    pub fn template(&mut self, n: usize) -> Option<Template> {
        let (text, at) = self.text(n)?;
        let options = self.template_options()?;
        match Template::compile(text, &options, self.env.scope()) {
            Ok(template) => Some(template),
            // Compiled again only to report it the one way.
            Err(_) => template_of(text, at, self.env, &CODES, self.diags),
        }
    }

    fn template_options(&mut self) -> Option<TemplateOptions> {
        let mut options = self.env.template_options().clone();
        let mut good = true;
        for option in self.options.clone() {
            let name = option.name.norm();
            let value = option.args.first().filter(|_| option.args.len() == 1);
            let text = value.and_then(Arg::text);
            let fine = match name.as_str() {
                "ts-format" => text.and_then(TsFormat::named).map(|f| options.ts_format = f),
                "frac-digits" => {
                    let digits = value.and_then(Arg::int).and_then(|n| u8::try_from(n).ok());
                    digits.map(|n| options.frac_digits = n.min(6))
                }
                "time-zone" | "send-time-zone" => {
                    text.and_then(Zone::named).map(|z| options.time_zone = Some(z))
                }
                "local-time-zone" => text.and_then(Zone::named).map(|z| options.local_time_zone = Some(z)),
                "on-error" => text.and_then(OnError::named).map(|what| options.on_error = what),
                "template-escape" => value.and_then(Arg::yes_no).map(|on| options.escape = on),
                _ => Some(()),
            };
            if fine.is_none() {
                self.diags.error("R0103", format!("wrong value of {name}()"), option.span);
                good = false;
            }
        }
        good.then_some(options)
    }

    /// The value of `value()`, MESSAGE without it.
    pub fn target(&mut self) -> Option<NameId> {
        match self.option("value") {
            None => Some(NameId::MESSAGE),
            Some(option) => {
                let text = CODES.single_text(option, self.diags)?;
                self.settable(text, option.span)
            }
        }
    }

    /// The value a text names.
    pub fn name(&mut self, n: usize) -> Option<NameId> {
        let (text, at) = self.text(n)?;
        self.settable(text, at)
    }

    fn settable(&mut self, text: &str, at: Span) -> Option<NameId> {
        let name = value_of(text, at, &CODES, self.diags)?;
        if name.starts_with(".SDATA.") && name.matches('.').count() < 3 {
            let finding =
                Diagnostic::error("R0104", format!("`{name}` names no parameter of STRUCTURED-DATA"), at);
            self.diags.push(finding.help("write .SDATA.id.param"));
            return None;
        }
        let found = template::value_name(name);
        if found.is_none() {
            let text = format!("`{name}` is computed from the message and cannot be set");
            let finding = Diagnostic::error("R0104", text, at);
            self.diags.push(finding.help("set a value with a name of your own, as value(\"my.value\")"));
        }
        found
    }

    /// `type()` and `flags()`; `None` when one was wrong.
    pub fn matcher(&mut self, options: &mut PatternOptions) -> Option<()> {
        let mut good = true;
        for option in self.options.clone() {
            good &= CODES.read(option, options, self.diags).unwrap_or(true);
        }
        good.then_some(())
    }

    /// `values("glob", ...)`
    pub fn globs(&mut self) -> Option<Vec<Pattern>> {
        let Some(option) = self.option("values") else {
            self.diags.error(
                "R0103",
                format!("{}() needs values(\"glob\", ...)", self.call.name.text),
                self.call.span,
            );
            return None;
        };
        let options = PatternOptions { kind: Kind::Glob, ..PatternOptions::default() };
        let mut globs = Vec::new();
        for arg in &option.args {
            let compiled = arg.text().and_then(|text| Pattern::compile(text, &options).ok());
            match compiled {
                Some(glob) => globs.push(glob),
                None => self.diags.error("R0103", "values() takes globs of names", arg.span),
            }
        }
        (globs.len() == option.args.len() && !globs.is_empty()).then_some(globs)
    }

    /// `time-stamp()`
    pub fn time_stamp(&mut self) -> Option<Which> {
        let Some(option) = self.option("time-stamp") else { return Some(Which::Message) };
        match CODES.single_text(option, self.diags)? {
            "stamp" => Some(Which::Message),
            "recvd" => Some(Which::Receipt),
            other => {
                let near = nearest(other, ["stamp", "recvd"]);
                let finding =
                    Diagnostic::error("R0103", format!("unknown time stamp `{other}`"), option.span);
                self.diags.push(finding.suggest(near));
                None
            }
        }
    }

    /// The filter of `condition()`; an error was reported when it is `Err`.
    pub fn condition(&mut self) -> Result<Option<Filter>, ()> {
        let Some(option) = self.option("condition") else { return Ok(None) };
        let expr = option.filter_expr(self.diags).ok_or(())?;
        Filter::compile(&expr, self.env, self.diags).map(Some).ok_or(())
    }

    pub fn full(&mut self, at: Span) {
        self.diags.error("R0110", "too many names of values or tags", at);
    }
}
