//! Functions over a context of four messages.

use crate::{Identity, Msg, NoScope, RenderContext, Template, TemplateOptions};
use record::{Batch, NameId, Record, Span, ValueType};
use std::sync::Arc;

fn context(texts: &[&str]) -> Arc<Batch> {
    let mut batch = Batch::default();
    for text in texts {
        batch.records.push(Record::new(Span::EMPTY));
        let index = batch.records.len() - 1;
        batch.set(index, NameId::MESSAGE, text.as_bytes(), ValueType::String);
    }
    Arc::new(batch)
}

/// Printed for the last message of the context, and for it alone.
fn printed(text: &str, context: &Arc<Batch>) -> (String, String) {
    let template = Template::compile(text, &TemplateOptions::default(), &NoScope).expect(text);
    let mut cx = RenderContext::new(Identity::new("here"));
    let msg = Msg { batch: context, record: context.records.last().expect("a message") };
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    cx.with_context(context, b"key", |cx| template.render(msg, cx, &mut inside));
    template.render(msg, &mut cx, &mut outside);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(inside), text(outside))
}

#[test]
fn messages_by_number() {
    let messages = context(&["one", "two", "", "four"]);
    for (text, inside, outside) in [
        ("$MSG|${MSG}@0|${MSG}@1|${MSG}@2|${MSG}@3|${MSG}@4", "four|four||two|one|", "four|four||||"),
        ("${MSG}@@1", "four@1", "four@1"),
        ("${MSG:-no}@1|${MSG:-no}@2|${MSG:-no}@9", "no|two|", "||"),
        ("$(lowercase ${MSG}@2)", "two", ""),
        ("$(echo $MSG ${MSG}@2)@3", "one ", ""),
        ("$(context-length)|$(context-length)@1", "4|1", "1|"),
        ("$CONTEXT_ID|${CONTEXT_ID}@1", "key|key", "|"),
    ] {
        assert_eq!(printed(text, &messages), (inside.to_owned(), outside.to_owned()), "{text}");
    }
}

#[test]
fn lists_of_texts() {
    let messages = context(&["one", "t,wo", "", "four"]);
    for (text, inside, outside) in [
        ("$(context-values $MSG)", "one,\"t,wo\",\"\",four", "four"),
        ("$(context-values $MSG x)", "one,x,\"t,wo\",x,\"\",x,four,x", "four,x"),
        ("$(context-values ${MSG}@1)", "\"\",\"\",\"\",\"\"", "\"\""),
    ] {
        assert_eq!(printed(text, &messages), (inside.to_owned(), outside.to_owned()), "{text}");
    }
}

#[test]
fn numbers() {
    for (texts, sum, min, max, average) in [
        (&["1", "2", "-4", " 7"][..], "6", "-4", "7", "1"),
        (&["1", "x", "", "3"], "4", "1", "3", "2"),
        (&["1.5", "2.25", "2"], "5.75", "1.5", "2.25", "1.9166666666666667"),
        (&["x"], "", "", "", ""),
        (
            &["9223372036854775807", "1"],
            "-9223372036854775808",
            "1",
            "9223372036854775807",
            "-4611686018427387904",
        ),
    ] {
        let (text, expected) =
            ("$(sum $MSG)|$(min $MSG)|$(max $MSG)|$(average $MSG)", format!("{sum}|{min}|{max}|{average}"));
        assert_eq!(printed(text, &context(texts)).0, expected, "{texts:?}");
    }
}
