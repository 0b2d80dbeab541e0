//! XML to dicts and back.

mod format;
mod parse;

use crate::function::{Build, Function, Parameter};
use crate::types::Types;

const TEXT: &[Parameter] = &[Parameter::value("text", Types::STRING)];
const DICT: &[Parameter] = &[Parameter::value("dict", Types::MAPPING)];

pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "parse_xml",
        parameters: TEXT,
        returns: Types::DICT,
        help: "A dict of the elements: attributes are `@name`, text beside attributes or elements is `#text`, elements that are repeated are a list.",
        examples: &[
            (
                "parse_xml(\"<a k='v'><b>1</b><b>2</b>t</a>\")",
                "{\"a\":{\"@k\":\"v\",\"b\":[\"1\",\"2\"],\"#text\":\"t\"}}",
            ),
            ("parse_xml(\"<a><b/>&lt;x</a>\")", "{\"a\":{\"b\":\"\",\"#text\":\"<x\"}}"),
            ("parse_xml(\"<a><b></a>\")", "error: Failed to parse XML: not well-formed at byte 6"),
        ],
        build: Build::Made(|args| parse::build(args, false)),
    },
    Function {
        name: "parse_windows_eventlog_xml",
        parameters: TEXT,
        returns: Types::DICT,
        help: "The same for an event of Windows: the data are a dict by their names, and the qualifiers of EventID are EventIDQualifiers.",
        examples: &[(
            "parse_windows_eventlog_xml(\"<Event xmlns='http://schemas.microsoft.com/win/2004/08/events/event'><System><EventID \
             Qualifiers='7'>9</EventID></System><EventData><Data Name='a'>x</Data><Data Name='b'>y</Data></EventData></Event>\").Event.EventData",
            "{\"Data\":{\"a\":\"x\",\"b\":\"y\"}}",
        )],
        build: Build::Made(|args| parse::build(args, true)),
    },
    Function {
        name: "format_xml",
        parameters: DICT,
        returns: Types::STRING,
        help: "A dict, as parse_xml() makes it, as XML.",
        examples: &[
            ("format_xml({\"a\":{\"b\":[\"1\",\"2\"]}})", "\"<a><b>1</b><b>2</b></a>\""),
            (
                "format_xml({\"a\":{\"@k\":\"v\",\"b\":\"1\",\"c\":\"\",\"#text\":\"<t\"}})",
                "\"<a k='v'><b>1</b><c/>&lt;t</a>\"",
            ),
        ],
        build: Build::Made(|args| format::build(args, false)),
    },
    Function {
        name: "format_windows_eventlog_xml",
        parameters: DICT,
        returns: Types::STRING,
        help: "A dict, as parse_windows_eventlog_xml() makes it, as XML.",
        examples: &[(
            "format_windows_eventlog_xml({\"Event\":{\"System\":{\"EventID\":\"9\",\"EventIDQualifiers\":\"7\"},\"EventData\":{\"Data\":{\"a\":\"x\"}}}})",
            "\"<Event><System><EventID Qualifiers='7'>9</EventID></System><EventData><Data Name='a'>x</Data></EventData></Event>\"",
        )],
        build: Build::Made(|args| format::build(args, true)),
    },
];
