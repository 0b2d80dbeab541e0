//! Every type that the table of functions names for an argument is taken.

use super::run;
use crate::{Form, Function, Types};

const CEF: &str = "{\"cef_version\":\"0\",\"device_vendor\":\"V\",\"device_product\":\"P\",\"device_version\":\"1\",\
                   \"device_event_class_id\":\"id\",\"event_name\":\"n\",\"agent_severity\":\"5\",\"src\":\"1\"}";
const LEEF: &str = "{\"leef_version\":\"1.0\",\"vendor_name\":\"V\",\"product_name\":\"P\",\"product_version\":\"1\",\
                    \"event_id\":\"id\",\"a\":\"1\"}";

/// Values of a type, of which some function that takes the type takes one.
fn samples(name: &str) -> Vec<String> {
    let dicts = ["{\"a\":\"1\"}", "{\"name\":\"n\"}", "{}", CEF, LEEF];
    let of = |call: &str| dicts.iter().map(|dict| format!("{call}({dict})")).collect();
    let fixed: &[&str] = match name {
        "null" => &["null"],
        "boolean" => &["true"],
        "integer" => &["1"],
        "double" => &["1.5"],
        "string" => &[
            "\"42\"",
            "\"{}\"",
            "\"[]\"",
            "\"UTC\"",
            "\"1.2.3.4\"",
            "\"10.0.0.0/8\"",
            "\"2024-01-02T03:04:05Z\"",
            "\"CEF:0|V|P|1|id|name|5|a=b\"",
            "\"LEEF:1.0|V|P|1|id|a=1\"",
            "\"<a/>\"",
            "\"<Event xmlns='http://schemas.microsoft.com/win/2004/08/events/event'/>\"",
        ],
        "bytes" => &["bytes(\"ab\")", "bytes(\"\")"],
        "protobuf" => &["protobuf(bytes(\"ab\"))", "protobuf(bytes(\"\"))"],
        "datetime" => &["datetime(1000000)"],
        "dict" => &dicts,
        "list" => &["[\"1\"]"],
        "tuple" => &["(\"1\",)"],
        "metrics_labels" => return of("metrics_labels"),
        "ip" => &["ip(\"1.2.3.4\")"],
        "subnet" => &["subnet(\"10.0.0.0/8\")"],
        "otel_logrecord" => &["otel_logrecord({\"body\":\"x\"})", "otel_logrecord()"],
        "otel_resource" => &["otel_resource({\"attributes\":{\"a\":\"1\"}})", "otel_resource()"],
        "otel_scope" => &["otel_scope({\"name\":\"n\"})", "otel_scope()"],
        "otel_kvlist" => return of("otel_kvlist"),
        "otel_array" => &["otel_array([\"1\"])"],
        "pubsub_message" => &["pubsub_message()"],
        other => panic!("no sample of {other}"),
    };
    fixed.iter().map(|text| (*text).to_owned()).collect()
}

/// Each type by itself, as the table of types has it.
fn single() -> impl Iterator<Item = &'static str> {
    Types::names().take_while(|name| *name != "object")
}

fn of_types(types: Types) -> Vec<String> {
    single().filter(|name| Types::named(name).is_some_and(|one| one.meets(types))).flat_map(samples).collect()
}

/// Whether a call works with some sample for each argument that is still to come.
fn works(function: &Function, tested: usize, given: &mut Vec<String>, value: &str) -> bool {
    let parameter = function.parameters.get(given.len());
    let Some(parameter) = parameter.filter(|p| p.required || given.len() <= tested) else {
        let schema = if function.name == "protobuf_message" { ", schema_file=\"event.proto\"" } else { "" };
        let text = format!("v = {value}; r = {}({}{schema});", function.name, given.join(", "));
        return run(&[&text]).is_ok();
    };
    let choices = match parameter.form {
        _ if given.len() == tested => vec!["v".to_owned()],
        Form::Value(types) => of_types(types),
        Form::Text => ["\"a\"", "\"%Y\"", "\"dict\""].map(str::to_owned).to_vec(),
        _ => vec!["x".to_owned()],
    };
    choices.into_iter().any(|choice| {
        given.push(choice);
        let works = works(function, tested, given, value);
        given.pop();
        works
    })
}

#[test]
fn of_types_that_are_named_are_taken() {
    let mut refused = Vec::new();
    for function in crate::functions() {
        for (at, parameter) in function.parameters.iter().enumerate() {
            let Form::Value(types) = parameter.form else { continue };
            // Its default is a literal.
            if function.name == "cache_json_file" {
                continue;
            }
            for name in single().filter(|name| Types::named(name).is_some_and(|one| one.meets(types))) {
                if !samples(name).iter().any(|value| works(function, at, &mut Vec::new(), value)) {
                    refused.push(format!("{}({}): {name}", function.name, parameter.name));
                }
            }
        }
    }
    assert!(refused.is_empty(), "always refused: {refused:#?}");
}

#[test]
fn messages_of_opentelemetry_are_mappings_of_what_is_set() {
    use super::check;
    let record = "lr = otel_logrecord({\"body\":\"x y\",\"severity_text\":\"INFO\"});";
    check(&format!("{record} keys(lr)"), "[\"severity_text\",\"body\"]");
    check(&format!("{record} format_kv(lr)"), "\"severity_text=INFO, body=\\\"x y\\\"\"");
    check(
        &format!("{record} format_csv(lr, columns=[\"body\",\"flags\"], default_value=\"-\")"),
        "\"x y,-\"",
    );
    check(&format!("{record} dict_to_pairs(lr, \"k\", \"v\")[1].v"), "\"x y\"");
    check(
        "format_xml(otel_kvlist({\"a\":{\"@k\":\"v\",\"b\":[\"1\",\"2\"]}}))",
        "\"<a k='v'><b>1</b><b>2</b></a>\"",
    );
    check("keys(otel_array([\"x\", \"y\"]))", "[0,1]");
    check("glob_match(\"a.log\", otel_array([\"*.txt\", \"*.log\"]))", "true");
    check("format_csv([], columns=otel_array([\"a\"]))", "\"\"");
    check("otel_kvlist(otel_scope({\"name\":\"n\"}))", "otel_kvlist({\"name\":\"n\"})");
    check("m = metrics_labels(); m.a = 1; m.a = 2; format_xml(m)", "\"<a>1</a><a>2</a>\"");
}
