//! The pages of the manual for filters, rewrite operations, template functions and macros, from the tables of
//! their crates.

use conf_schema::manual::elements::{Element, Page, Part};
use template::{Cost, DATE_PREFIXES, MACROS, sample};

const NAMED: &str = "There are also the statements `filter f_auth { facility(auth); };` and `template t_program \"program=$PROGRAM\";`, and \
     the file `/etc/penstock/users.list` has the lines admin and root.\n";

/// One page for each kind.
pub fn pages() -> Vec<Page> {
    vec![filters(), rewrites(), template_functions(), macros(), filterx_functions()]
}

fn element(
    name: String,
    usage: String,
    help: &str,
    example: Vec<(String, Option<String>)>,
    cost: Cost,
) -> Element {
    Element { name, usage, help: help.to_owned(), example, cost: cost.note, case: cost.case }
}

fn part(heading: &'static str, intro: &str, elements: impl Iterator<Item = Element>) -> Part {
    Part { heading, intro: intro.to_owned(), as_table: false, elements: elements.collect() }
}

fn filters() -> Page {
    let shown = |example: filter::Example| {
        let row = |text: &str, result: &str| (text.to_owned(), Some(result.to_owned()));
        vec![row(example.holds, "holds"), row(example.fails, "does not hold")]
    };
    let functions = filter::FUNCTIONS.iter().map(|f| {
        let aliases: String = f.aliases.iter().map(|alias| format!(", {alias}()")).collect();
        let usage = format!("{}({})", f.name, f.arguments);
        element(format!("{}(){aliases}", f.name), usage, f.help, shown(f.example), f.cost)
    });
    let operators = filter::OPERATORS.iter().map(|o| {
        let usage = o.usage.replace("OP", o.name);
        element(o.name.to_owned(), usage, o.help, shown(o.example), o.cost)
    });
    Page {
        file: "filters.md",
        title: "Filters",
        intro: format!("{}\n{}{NAMED}", sample::ABOUT, sample::ABOUT_VALUES),
        parts: vec![
            part("Functions", "", functions),
            part(
                "Operators",
                "From the one that binds tightest to the loosest; parentheses group. A text is a template.\n",
                operators,
            ),
        ],
        measured: true,
    }
}

fn rewrites() -> Page {
    let operations = rewrite::OPERATIONS.iter().map(|o| {
        let example = o.example;
        let shown = vec![
            (example.template.to_owned(), Some(example.before.to_owned())),
            (format!("{};", example.operation), None),
            (example.template.to_owned(), Some(example.after.to_owned())),
        ];
        element(format!("{}()", o.name), format!("{}({})", o.name, o.arguments), o.help, shown, o.cost)
    });
    Page {
        file: "rewrites.md",
        title: "Rewrite operations",
        intro: format!(
            "Every operation takes `condition(FILTER)`: messages for which it does not hold stay as they are.\n\n{}\n{}\nEach \
             example shows what a template prints before the operation and after it.\n",
            sample::ABOUT,
            sample::ABOUT_VALUES
        ),
        parts: vec![part("", "", operations)],
        measured: true,
    }
}

fn template_functions() -> Page {
    let functions = template::functions().map(|f| {
        let usage = format!("$({} {})", f.name, f.usage).replace(" )", ")");
        let shown = vec![(f.example.0.to_owned(), Some(f.example.1.to_owned()))];
        element(format!("$({})", f.name), usage, f.help, shown, f.cost)
    });
    Page {
        file: "template-functions.md",
        title: "Template functions",
        intro: format!(
            "Arguments are separated by blanks, grouped by quotes, and templates themselves.\n\n{}\n{NAMED}",
            sample::ABOUT
        ),
        parts: vec![part("", "", functions)],
        measured: true,
    }
}

fn macros() -> Page {
    let table = |heading, intro: &str, times: bool| Part {
        heading,
        intro: intro.to_owned(),
        as_table: true,
        elements: MACROS
            .iter()
            .filter(|m| m.is_time() == times)
            .map(|m| {
                let (name, usage) = (m.name.to_owned(), format!("${{{}}}", m.name));
                element(name, usage.clone(), m.help, vec![(usage, Some(m.example.to_owned()))], m.cost())
            })
            .collect(),
    };
    let prefixes: String =
        DATE_PREFIXES.iter().map(|(prefix, help)| format!("- `{prefix}`: {help}\n")).collect();
    Page {
        file: "macros.md",
        title: "Macros",
        intro: format!(
            "Any other name stands for the value of that name, and `${{NAME:-text}}` for the text where it is empty.\n\n{}",
            sample::ABOUT
        ),
        parts: vec![
            table("The message", "", false),
            table(
                "Times",
                &format!("With a prefix, as in `${{R_ISODATE}}`, of another time:\n\n{prefixes}"),
                true,
            ),
        ],
        measured: true,
    }
}

fn filterx_functions() -> Page {
    let cost = Cost::of("that of its arguments and one pass over them");
    let functions = |functions: &'static [filterx::Function]| {
        functions.iter().map(move |f| {
            let shown =
                f.examples.iter().map(|(text, result)| ((*text).to_owned(), Some((*result).to_owned())));
            let help = format!("{}{}", f.help.trim_end_matches('.'), filterx_parameters(f));
            element(format!("{}()", f.name), f.usage(), &help, shown.collect(), cost)
        })
    };
    Page {
        file: "filterx-functions.md",
        title: "FilterX functions",
        intro: format!(
            "What FilterX is, with examples, is in [../filterx.md](../filterx.md). Arguments have to be of the types that are named here, otherwise the call \
             is an error; `null ?? x` and `error ?? x` are `x`. Each example shows what `repr()` makes of its last expression.\n\n{}\n{}",
            sample::ABOUT,
            sample::ABOUT_VALUES
        ),
        parts: filterx::GROUPS.iter().map(|(heading, group)| part(heading, "", functions(group))).collect(),
        measured: false,
    }
}

/// The arguments of a function in words.
fn filterx_parameters(function: &filterx::Function) -> String {
    let mut out = String::new();
    for parameter in function.parameters {
        let default = match parameter.default {
            "" => String::new(),
            default => format!(", else {default}"),
        };
        out.push_str(&format!("\n- `{}`: {}{default}", parameter.name, parameter.form.describe()));
    }
    let returns = function.returns.describe();
    format!(".\n{out}\n\nReturns {returns}")
}
