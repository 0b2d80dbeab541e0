//! Pairs of keys and values in texts: kv, CSV, CEF and LEEF.

mod csv;
mod event;
mod kv;

pub(crate) use event::Places;
pub(crate) use kv::{Known, Piece};

use crate::function::{Build, Form, Function, Parameter};
use crate::types::Types;

const TEXT: Parameter = Parameter::value("text", Types::STRING);
const DICT: Parameter = Parameter::value("dict", Types::MAPPING);
/// What may have keys of any name.
const EVENT_DICT: Parameter = Parameter::value("dict", Types::DICT.or(Types::LABELS).or(Types::OTEL_KVLIST));

const EVENT: &[Parameter] = &[
    TEXT,
    Parameter::named("pair_separator", Form::Text, "\" \", of LEEF a tab"),
    Parameter::named("value_separator", Form::Text, "\"=\""),
    Parameter::named("separate_extensions", Form::Flag, "false"),
];

const FORMAT_EVENT: &[Parameter] = &[
    EVENT_DICT,
    Parameter::named("pair_separator", Form::Text, "\" \", of LEEF a tab"),
    Parameter::named("value_separator", Form::Text, "\"=\""),
];

pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "parse_kv",
        parameters: &[
            TEXT,
            Parameter::named("value_separator", Form::Text, "\"=\""),
            Parameter::named("pair_separator", Form::Text, "\", \""),
            Parameter::named("stray_words_key", Form::Text, "none"),
            Parameter::named("stray_words_append_to_value", Form::Flag, "false"),
        ],
        returns: Types::DICT,
        help: "A dict of the pairs in a text. Blanks separate pairs as well; values with blanks may stand in quotes. Words that belong to no pair are left \
               out, collected under a key, or added to the value before them.",
        examples: &[
            ("parse_kv(\"a=1, b=\\\"x y\\\" c=z\")", "{\"a\":\"1\",\"b\":\"x y\",\"c\":\"z\"}"),
            (
                "parse_kv(\"a:1;b:2\", value_separator=\":\", pair_separator=\";\")",
                "{\"a\":\"1\",\"b\":\"2\"}",
            ),
            (
                "parse_kv(\"a=1 junk, b=2\", stray_words_key=\"rest\")",
                "{\"a\":\"1 junk\",\"b\":\"2\",\"rest\":\"\"}",
            ),
        ],
        build: Build::Made(kv::parse),
    },
    Function {
        name: "format_kv",
        parameters: &[
            DICT,
            Parameter::named("value_separator", Form::Text, "\"=\""),
            Parameter::named("pair_separator", Form::Text, "\", \""),
            Parameter::named("quote_char", Form::Text, "'\"'"),
            Parameter::named("always_quote", Form::Flag, "false"),
        ],
        returns: Types::STRING,
        help: "A dict as pairs. Dicts and lists in it are left out; values with a blank are put in quotes.",
        examples: &[("format_kv({\"a\":1,\"b\":\"x y\",\"c\":[1]})", "\"a=1, b=\\\"x y\\\"\"")],
        build: Build::Made(kv::format),
    },
    Function {
        name: "parse_csv",
        parameters: &[
            TEXT,
            Parameter::named("columns", Form::Expression, "none"),
            Parameter::named("delimiter", Form::Text, "\",\""),
            Parameter::named("string_delimiters", Form::Texts, "none"),
            Parameter::named("dialect", Form::Text, "\"escape-none\""),
            Parameter::named("greedy", Form::Flag, "false"),
            Parameter::named("strip_whitespace", Form::Flag, "false"),
            Parameter::named("quote_pairs", Form::Texts, "`\"` and `'`"),
            Parameter::named("strip_whitespaces", Form::Flag, "false"),
        ],
        returns: Types::DICT.or(Types::LIST),
        help: "The fields of a text as a list; with columns, a dict by their names. Each character of `delimiter` separates fields, and each of \
               `string_delimiters`. Dialects are `escape-none`, `escape-backslash`, `escape-backslash-with-sequences` and `escape-double-char`. With \
               `greedy` the last column takes the rest.",
        examples: &[
            ("parse_csv(\"a,\\\"b,c\\\",,d\")", "[\"a\",\"b,c\",\"\",\"d\"]"),
            ("parse_csv(\"a,b,c\", columns=[\"x\",\"y\"])", "{\"x\":\"a\",\"y\":\"b\"}"),
            ("parse_csv(\"a,b,c\", columns=[\"x\",\"y\"], greedy=true)", "{\"x\":\"a\",\"y\":\"b,c\"}"),
            ("parse_csv(\"a-b:c\", delimiter=\"-:\")", "[\"a\",\"b\",\"c\"]"),
            ("parse_csv(\"a,\")", "[\"a\"]"),
            ("parse_csv(\"\")", "[]"),
        ],
        build: Build::Made(csv::parse),
    },
    Function {
        name: "format_csv",
        parameters: &[
            Parameter::value("value", Types::MAPPING.or(Types::SEQUENCE)),
            Parameter::named("columns", Form::Expression, "none"),
            Parameter::named("delimiter", Form::Text, "\",\""),
            Parameter::named("default_value", Form::Text, "\"\""),
        ],
        returns: Types::STRING,
        help: "The items of a list, or the values of a dict, as one line; with columns, of these keys in this order. What has the delimiter in it is put in \
               quotes.",
        examples: &[
            ("format_csv([\"a\",\"b,c\",\"\"])", "\"a,\\\"b,c\\\",\""),
            ("format_csv([\"\",\"\",\"a\"])", "\",,a\""),
            ("format_csv({\"x\":1,\"y\":2}, columns=[\"y\",\"z\"], default_value=\"-\")", "\"2,-\""),
        ],
        build: Build::Made(csv::format),
    },
    Function {
        name: "parse_cef",
        parameters: EVENT,
        returns: Types::DICT,
        help: "The header and the extensions of an event in ArcSight's format; with `separate_extensions` these are a dict of their own.",
        examples: &[
            (
                "parse_cef(\"CEF:0|V|P|1|id|name|5|src=1.2.3.4 msg=hello world\")",
                "{\"cef_version\":\"0\",\"device_vendor\":\"V\",\"device_product\":\"P\",\"device_version\":\"1\",\"device_event_class_id\":\"id\",\
                 \"event_name\":\"name\",\"agent_severity\":\"5\",\"src\":\"1.2.3.4\",\"msg\":\"hello world\"}",
            ),
            ("parse_cef(\"x\")", "error: no log signature CEF found"),
        ],
        build: Build::Made(|args| event::parse(args, &event::CEF)),
    },
    Function {
        name: "parse_leef",
        parameters: EVENT,
        returns: Types::DICT,
        help: "The header and the extensions of an event in QRadar's format, version 1 or 2.",
        examples: &[(
            "parse_leef(\"LEEF:1.0|V|P|1|id|a=1\\tb=2\")",
            "{\"leef_version\":\"1.0\",\"vendor_name\":\"V\",\"product_name\":\"P\",\"product_version\":\"1\",\"event_id\":\"id\",\"a\":\"1\",\"b\":\"2\"}",
        )],
        build: Build::Made(|args| event::parse(args, &event::LEEF)),
    },
    Function {
        name: "format_cef",
        parameters: FORMAT_EVENT,
        returns: Types::STRING,
        help: "An event in ArcSight's format, of a dict as parse_cef() makes it: extensions are those of the key `extensions`, else all other keys.",
        examples: &[
            (
                "d = parse_cef(\"CEF:0|V|P|1|id|na\\\\|me|5|src=1.2.3.4 msg=hello world\"); format_cef(d)",
                "\"CEF:0|V|P|1|id|na\\\\|me|5|src=1.2.3.4 msg=hello world\"",
            ),
            ("format_cef({})", "error: Failed to get value for header: cef_version"),
        ],
        build: Build::Made(|args| event::format(args, &event::CEF)),
    },
    Function {
        name: "format_leef",
        parameters: FORMAT_EVENT,
        returns: Types::STRING,
        help: "An event in QRadar's format, of a dict as parse_leef() makes it.",
        examples: &[(
            "d = parse_leef(\"LEEF:1.0|V|P|1|id|a=1\\tb=2\"); format_leef(d)",
            "\"LEEF:1.0|V|P|1|id|a=1\\tb=2\"",
        )],
        build: Build::Made(|args| event::format(args, &event::LEEF)),
    },
];
