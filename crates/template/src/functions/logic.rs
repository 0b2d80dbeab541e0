//! Template functions that choose: by a filter expression, by what is set, by tags.

use crate::call::Call;
use crate::function::{ANY, Build, Function, FunctionInfo, with_args};
use crate::{Condition, Cost, Msg, RenderContext, Template, TemplateError};
use record::{Demand, TagId, ValueType};
use std::sync::Arc;

pub(super) const FUNCTIONS: &[FunctionInfo] = &[
    FunctionInfo {
        name: "if",
        usage: "CONDITION THEN [ELSE]",
        help: "THEN when the filter expression holds, else ELSE",
        arity: (2, 3),
        options: &[],
        build: Build::Special(if_),
        example: ("$(if ('$LEVEL_NUM' < 4) bad good)", "good"),
        cost: Cost::of("that of the filter expression and of the branch taken; the other is not printed"),
    },
    FunctionInfo {
        name: "or",
        usage: "TEXT...",
        help: "the first argument that is not empty",
        arity: (0, ANY),
        options: &[],
        build: Build::Special(or),
        example: ("$(or '' $PROGRAM b)", "app"),
        cost: Cost::of("arguments are printed up to the first that is not empty"),
    },
    FunctionInfo {
        name: "template",
        usage: "NAME [DEFAULT...]",
        help: "what the named template prints; a NAME with macros in it is looked up for each message, and DEFAULT stands where there is \
               no such template",
        arity: (1, ANY),
        options: &[],
        build: Build::Template,
        example: ("$(template t_program)", "program=app"),
        cost: Cost::of(
            "none of its own: the template is put in its place when the configuration is read; a NAME with macros costs a search in \
             the sorted names",
        ),
    },
    FunctionInfo {
        name: "tag",
        usage: "NAME [THEN [ELSE]]",
        help: "THEN (1 if not given) when the message has the tag, else ELSE (0 if not given)",
        arity: (1, 3),
        options: &[],
        build: Build::Special(tag),
        example: ("$(tag t_known yes no)", "no"),
        cost: Cost::of("a test of one bit"),
    },
    FunctionInfo {
        name: "tags-head",
        usage: "NAME...",
        help: "the first of these tags that the message has",
        arity: (1, ANY),
        options: &[],
        build: Build::Special(tags_head),
        example: ("$(tags-head t_known)", ""),
        cost: Cost::of("a test of one bit for each tag"),
    },
];

/// A template that is found by its name when a message is there.
pub(crate) struct ChosenTemplate {
    name: Template,
    /// Sorted by name.
    known: Box<[(String, Arc<Template>)]>,
    default: Box<[Template]>,
}

impl ChosenTemplate {
    pub fn new(
        name: Template,
        mut known: Vec<(String, Arc<Template>)>,
        default: Box<[Template]>,
    ) -> ChosenTemplate {
        known.sort_by(|(a, _), (b, _)| a.cmp(b));
        ChosenTemplate { name, known: known.into(), default }
    }

    fn find(&self, name: &[u8]) -> Option<&Template> {
        let place = self.known.binary_search_by(|(known, _)| known.as_bytes().cmp(name)).ok()?;
        self.known.get(place).map(|(_, template)| &**template)
    }
}

impl Function for ChosenTemplate {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let found = with_args(std::slice::from_ref(&self.name), msg, cx, |args, _| self.find(args.get(0)));
        if let Some(template) = found {
            return template.render_typed(msg, cx, out);
        }
        for (index, default) in self.default.iter().enumerate() {
            if index > 0 {
                out.push(b' ');
            }
            default.render(msg, cx, out);
        }
        ValueType::String
    }

    fn reads(&self, demand: &mut Demand) {
        self.name.reads(demand);
        let templates = self.known.iter().map(|(_, template)| &**template).chain(self.default.iter());
        demand.sometimes(|demand| templates.for_each(|template| template.reads(demand)));
    }
}

struct If {
    condition: Arc<dyn Condition>,
    branches: [Template; 2],
}

fn if_(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let branches = [call.template(1)?, call.template(2)?];
    let condition = call.condition(0)?;
    let Some(holds) = condition.constant() else { return call.boxed(If { condition, branches }) };
    let [yes, no] = branches;
    call.boxed(Branch(if holds { yes } else { no }))
}

/// What is left of a condition that is the same for every message: blocks ask so whether they were given
/// something.
struct Branch(Template);

impl Function for Branch {
    fn constant(&self) -> Option<(Vec<u8>, ValueType)> {
        Some((self.0.literal()?.to_vec(), self.0.literal_type()))
    }

    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        self.0.render_typed(msg, cx, out)
    }

    fn reads(&self, demand: &mut Demand) {
        self.0.reads(demand);
    }
}

impl Function for If {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let [yes, no] = &self.branches;
        let chosen = if self.condition.holds(msg, cx) { yes } else { no };
        chosen.render_typed(msg, cx, out)
    }

    fn reads(&self, demand: &mut Demand) {
        self.condition.reads(demand);
        demand.sometimes(|demand| self.branches.iter().for_each(|branch| branch.reads(demand)));
    }
}

struct Or(Box<[Template]>);

fn or(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let mut texts = call.templates(0)?.into_vec();
    texts.retain(|text| text.literal() != Some(b""));
    // Nothing behind a fixed text is ever printed.
    let first = texts.iter().position(|text| text.literal().is_some());
    texts.truncate(first.map_or(texts.len(), |first| first + 1));
    call.boxed(Or(texts.into()))
}

impl Function for Or {
    fn constant(&self) -> Option<(Vec<u8>, ValueType)> {
        let text = self.0.first().map_or(Some(&b""[..]), Template::literal)?;
        Some((text.to_vec(), ValueType::String))
    }

    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let start = out.len();
        for template in &self.0 {
            template.render(msg, cx, out);
            if out.len() > start {
                break;
            }
        }
        ValueType::String
    }

    fn reads(&self, demand: &mut Demand) {
        // The first is always printed.
        let (first, others) = self.0.split_at(self.0.len().min(1));
        first.iter().for_each(|template| template.reads(demand));
        demand.sometimes(|demand| others.iter().for_each(|template| template.reads(demand)));
    }
}

fn tag_id(call: &Call<'_>, index: usize) -> Result<TagId, TemplateError> {
    let name = call.literal(index, "the name of a tag")?;
    record::tag_id(&name).ok_or_else(|| call.error(index, "too many tags are in use"))
}

struct Tag {
    tag: TagId,
    yes: Option<Template>,
    no: Option<Template>,
}

fn tag(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let branch = |at| (call.count() > at).then(|| call.template(at)).transpose();
    let (yes, no) = (branch(1)?, branch(2)?);
    call.boxed(Tag { tag: tag_id(call, 0)?, yes, no })
}

impl Function for Tag {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let has = msg.batch.has_tag(msg.record, self.tag);
        match if has { &self.yes } else { &self.no } {
            Some(branch) => branch.render(msg, cx, out),
            None => out.push(if has { b'1' } else { b'0' }),
        }
        if self.yes.is_some() { ValueType::String } else { ValueType::Boolean }
    }

    fn reads(&self, demand: &mut Demand) {
        demand.tags = true;
        demand.sometimes(|demand| {
            [&self.yes, &self.no].into_iter().flatten().for_each(|branch| branch.reads(demand))
        });
    }
}

struct TagsHead(Box<[TagId]>);

fn tags_head(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let tags: Result<_, _> = (0..call.count()).map(|index| tag_id(call, index)).collect();
    call.boxed(TagsHead(tags?))
}

impl Function for TagsHead {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let Some(tag) = self.0.iter().find(|tag| msg.batch.has_tag(msg.record, **tag)) else {
            return ValueType::Null;
        };
        out.extend_from_slice(cx.tag_name(*tag).as_bytes());
        ValueType::String
    }

    fn reads(&self, demand: &mut Demand) {
        demand.tags = true;
    }
}
