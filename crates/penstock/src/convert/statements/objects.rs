//! Statements that say something for others: directives, modules, inputs, templates, rulesets, files that
//! are included.

use super::{Converter, DEPTH_MAX, Statement, Text};
use crate::convert::NoCounterpart;
use crate::convert::actions::Maker;
use crate::convert::directives::Meant;
use crate::convert::inputs::{self, Input};
use crate::convert::known::{self, Object};
use crate::convert::reader::{Params, Reader};
use crate::convert::templates;
use std::path::{Path, PathBuf};

impl Converter {
    pub(super) fn directive(&mut self, text: &mut Text<'_>, out: &mut Vec<Statement>) {
        let line = text.reader.line();
        let line = line.strip_prefix('$').unwrap_or(&line);
        let (name, value) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let value = value.split_once(" #").map_or(value, |(value, _)| value);
        match self.directives.read(name, value) {
            Meant::Done => {}
            Meant::Module(name) => self.module(&name, &Params::default(), text, out),
            Meant::Include(pattern) => self.include(&pattern, text, out),
            Meant::Template(value) => self.legacy_template(&value, text, out),
            Meant::Input(kind, value) => {
                let module = self.modules.get(kind).cloned().unwrap_or_default();
                match inputs::legacy(kind, &value, &module, &self.directives) {
                    Ok(made) => self.inputs.extend(made),
                    Err(why) => out.push(self.leave(text, why)),
                }
            }
            Meant::File(params) => match inputs::object(&params, &Params::default(), &self.directives) {
                Ok(made) => self.inputs.extend(made),
                Err(why) => out.push(self.leave(text, why)),
            },
            Meant::OfModule(kind, name, value) => {
                self.modules.entry(kind.to_owned()).or_default().set(name, &value);
            }
            Meant::Ruleset(name) => out.push(Statement::Of(name)),
            Meant::DefaultRuleset(name) => self.default_ruleset = Some(name),
            Meant::Left(why) => out.push(self.leave(text, why)),
        }
    }

    /// `NAME,"TEXT"`
    fn legacy_template(&mut self, value: &str, text: &Text<'_>, out: &mut Vec<Statement>) {
        let (name, rest) = value.split_once(',').unwrap_or((value, ""));
        let mut reader = Reader::new(rest.trim_start());
        let made = match reader.string() {
            Some(string) => match reader.rest().trim() {
                "" => templates::string(&string),
                options => {
                    Err(format!("the option `{}` of a template", options.trim_start_matches(',')).into())
                }
            },
            None => Err("a template without a text".into()),
        };
        self.template(name.trim(), made, text, out);
    }

    fn template(
        &mut self,
        name: &str,
        made: Result<String, NoCounterpart>,
        text: &Text<'_>,
        out: &mut Vec<Statement>,
    ) {
        if let Err(why) = &made {
            out.push(self.leave(text, why.clone()));
        }
        self.templates.add(name, made.map_err(|_| format!("the template `{name}` is not converted").into()));
    }

    fn module(&mut self, name: &str, params: &Params, text: &Text<'_>, out: &mut Vec<Statement>) {
        let name = name.to_lowercase();
        self.modules.insert(name.clone(), params.clone());
        if name == "builtin:omfile" {
            params
                .text("template")
                .into_iter()
                .for_each(|template| self.directives.set_file_template(template));
            self.directives.add_rights(params);
        }
        if matches!(name.as_str(), "omfwd" | "builtin:omfwd") {
            params
                .text("template")
                .into_iter()
                .for_each(|template| self.directives.set_forward_template(template));
        }
        self.tell_unknown(Object::Module(&name), params, text, out);
        match inputs::of_module(&name, params) {
            Ok(driver) => self.inputs.extend(driver.map(|driver| Input { driver, ruleset: None })),
            Err(why) => out.push(self.leave(text, why)),
        }
    }

    /// Parameters that say something which is not converted.
    fn tell_unknown(
        &mut self,
        object: Object<'_>,
        params: &Params,
        text: &Text<'_>,
        out: &mut Vec<Statement>,
    ) {
        for name in known::unknown(object, params) {
            out.push(self.leave(text, format!("the parameter {name}")));
        }
    }

    fn include(&mut self, pattern: &str, text: &Text<'_>, out: &mut Vec<Statement>) {
        let folder = text.file.parent().unwrap_or(Path::new("."));
        let pattern = folder.join(pattern).display().to_string();
        let Ok(found) = glob::glob(&pattern) else {
            out.push(self.leave(text, "the pattern is not understood"));
            return;
        };
        let mut files: Vec<PathBuf> = found.filter_map(Result::ok).collect();
        if let [folder] = files.as_slice()
            && folder.is_dir()
        {
            let inside =
                std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
            files = inside.filter(|path| path.is_file()).collect();
        }
        files.sort();
        self.depth += 1;
        for file in files {
            if self.depth > DEPTH_MAX {
                out.push(self.leave(text, "files too deep"));
                break;
            }
            match self.read(&file) {
                Ok(rules) => out.extend(rules),
                Err(error) => out.push(self.leave(text, error.said())),
            }
        }
        self.depth -= 1;
    }

    pub(super) fn object(&mut self, text: &mut Text<'_>, kind: &str, out: &mut Vec<Statement>) {
        text.reader.skip(kind.len());
        let Some(params) = text.reader.params() else {
            text.reader.line();
            out.push(self.leave(text, "its parameters are not understood"));
            return;
        };
        match kind {
            "module" => {
                let name = params.text("load").unwrap_or_default().to_owned();
                self.module(&name, &params, text, out);
            }
            "input" => {
                let name = params.text("type").unwrap_or_default().to_lowercase();
                self.tell_unknown(Object::Input(&name), &params, text, out);
                let module = self.modules.get(&name).cloned().unwrap_or_default();
                match inputs::object(&params, &module, &self.directives) {
                    Ok(made) => self.inputs.extend(made),
                    Err(why) => out.push(self.leave(text, why)),
                }
            }
            "global" => {
                self.tell_unknown(Object::Global, &params, text, out);
                self.directives.add_globals(&params);
            }
            // How its queue is kept changes nothing of what is written.
            "main_queue" => {}
            "include" => {
                self.tell_unknown(Object::Include, &params, text, out);
                params.text("file").into_iter().for_each(|pattern| self.include(pattern, text, out));
            }
            "template" => self.template_object(&params, text, out),
            "ruleset" => {
                self.tell_unknown(Object::Ruleset, &params, text, out);
                text.reader.space();
                let rules = if text.reader.take("{") { self.whole_block(text) } else { Vec::new() };
                let name = params.text("name").unwrap_or_default().to_lowercase();
                match name.as_str() {
                    "rsyslog_defaultruleset" => out.extend(rules),
                    _ => {
                        self.rulesets.insert(name, rules);
                    }
                }
            }
            "action" => {
                let _ = self.directives.take_next();
                let maker = Maker { templates: &self.templates, directives: &self.directives };
                let made = maker.object(&params);
                out.push(self.act(made, text));
            }
            other => out.push(self.leave(text, format!("{other}() is not converted"))),
        }
    }

    fn template_object(&mut self, params: &Params, text: &mut Text<'_>, out: &mut Vec<Statement>) {
        self.tell_unknown(Object::Template, params, text, out);
        text.reader.space();
        let body = if text.reader.rest().starts_with('{') { text.reader.balanced('{', '}') } else { "" };
        let inside = body.strip_prefix('{').map(|body| body.strip_suffix('}'));
        let made = match params.text("type").map(str::to_lowercase).as_deref() {
            Some("string") => templates::string(params.text("string").unwrap_or_default()),
            Some("list") => match inside {
                Some(None) => Err("its list has no end".into()),
                inside => templates::list(inside.flatten().unwrap_or_default()),
            },
            other => Err(format!("a template of type {}", other.unwrap_or("none")).into()),
        };
        let name = params.text("name").unwrap_or_default().to_owned();
        self.template(&name, made, text, out);
    }
}
