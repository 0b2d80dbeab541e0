use crate::testing::{batch, build, check, check_bytes, context, parser, values};
use record::Demand;

const XML: &str = "xml(drop-invalid(yes))";

#[test]
fn elements_and_attributes() {
    for (input, expected) in [
        ("<a>1</a>", ".xml.a=1"),
        ("  <a>1</a>\n", ".xml.a=1"),
        ("<a><b>1</b><c>2</c></a>", ".xml.a.b=1|.xml.a.c=2"),
        ("<a k=\"v\" l='w'>t</a>", ".xml.a._k=v|.xml.a._l=w|.xml.a=t"),
        ("<a  k = \"1\" >1</a >", ".xml.a._k=1|.xml.a=1"),
        ("<a b=\"1\"c=\"2\">x</a>", ".xml.a._b=1|.xml.a._c=2|.xml.a=x"),
        ("<a k='<x'/>", ".xml.a._k=<x"),
        ("<a/><b k=\"x>y\">1</b>", ".xml.b._k=x>y|.xml.b=1"),
        ("<ns:a x:y='1'>1</ns:a>", ".xml.ns:a._x:y=1|.xml.ns:a=1"),
        ("<é>ő</é>", ".xml.é=ő"),
        ("<a-b.c>1</a-b.c>", ".xml.a-b.c=1"),
        ("<a><a><a>1</a></a></a>", ".xml.a.a.a=1"),
        ("<a/>", ""),
        ("<a></a>", ""),
        ("<!-- nothing -->", ""),
    ] {
        check(XML, input, expected);
    }
}

#[test]
fn lists() {
    for (input, expected) in [
        ("<a><b>1</b><b>2</b><b>x,y</b><b></b></a>", ".xml.a.b=list:1,2,\"x,y\""),
        ("<a><b>1</b><c>2</c><b>3</b></a>", ".xml.a.b=list:1,3|.xml.a.c=2"),
        ("<a k='1'/><a k=\"2\"/>", ".xml.a._k=list:1,2"),
        ("<a k='1' k='2'/>", ".xml.a._k=list:1,2"),
        ("<a><b> 1 </b><b>\"2\"</b></a>", ".xml.a.b=list:\" 1 \",'\"2\"'"),
        ("<a k=''>1</a>", ".xml.a._k=\"\"|.xml.a=1"),
    ] {
        check(XML, input, expected);
    }
    let joined = "xml(create-lists(no))";
    check(joined, "<a><b>1</b><b>2</b><b>x,y</b></a>", ".xml.a.b=12x,y");
    check(joined, "<a k='v'></a><a k='w'>1</a>", ".xml.a._k=vw|.xml.a=1");
}

#[test]
fn mixed_text() {
    for (input, expected) in [
        ("<a>x<b>y</b>z</a>", ".xml.a.b=y|.xml.a=xz"),
        ("<a>x<b>1<c>&lt;</c>2</b>y<b>3</b>z</a>", ".xml.a.b.c=<|.xml.a.b=123|.xml.a=xyz"),
        ("<a><!-- c -->1<!-- x -->2<?p?>3<![CDATA[4]]></a>", ".xml.a=123"),
        ("<a> x <b/> y </a>", ".xml.a= x  y "),
        ("<a>a\r\nb</a>", ".xml.a=a\nb"),
        ("<a k='a\tb'/>", ".xml.a._k=a b"),
    ] {
        check("xml(create-lists(no))", input, expected);
    }
    let strip = "xml(strip-whitespaces(yes))";
    check(strip, "<a> x <b/> y </a>", ".xml.a=xy");
    check(strip, "<a> <b> y </b> </a>", ".xml.a.b=y");
    check(strip, "<a>&#32;x&#32;</a>", ".xml.a=x");
    check(strip, "<a>p&amp; <b/> q </a>", ".xml.a=p&q");
    check(strip, "<a>  </a>", "");
}

#[test]
fn entities() {
    check(XML, "<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x42;</a>", ".xml.a=\"<>&\\\"'AB\"");
    check(XML, "<a>&amp;amp;</a>", ".xml.a=&amp;");
    for fault in ["&foo;", "&#0;", "&", "x & y", "&#xD800;", "&#x110000;", "&#;", "&;", "&lt", "&#65", "&LT;"]
    {
        check(XML, &format!("<a>{fault}</a>"), "no match");
        check(XML, &format!("<a k='{fault}'/>"), "no match");
    }
    // No entity is ever defined, so none can grow.
    check(XML, "<!DOCTYPE a [<!ENTITY x \"y\"><!ENTITY z \"&x;&x;&x;\">]><a>&z;</a>", "no match");
    check(XML, "<!DOCTYPE a><a>1</a>", ".xml.a=1");
}

#[test]
fn faults() {
    for input in [
        "",
        " ",
        "plain text",
        "lead <a>1</a>",
        "<a>1</a> trailing",
        "<a>1",
        "<a>1</b>",
        "<ab>1</AB>",
        "<a><b>1</b>",
        "<a>1</a></a>",
        "</a>",
        "<>1</>",
        "<1a>1</1a>",
        "<-a>1</-a>",
        "<a$>1</a$>",
        "<a k=1>1</a>",
        "<a k>1</a>",
        "<a k='1'l/>",
        "<a ='x'/>",
        "<a k='1",
        "<a / >",
        "<a/ ><b>",
        "<a",
        "<a></a",
        "<a>1</a><",
        "<a>1</a><!",
        "<a>1</a><?",
        "<a>1</a></",
        "<?xml",
        "<a><!x <y> z>1</a>",
        "<a><!-- unclosed</a>",
        "<a><![CDATA[x</a>",
    ] {
        check(XML, input, "no match");
    }
    check_bytes(XML, b"<a>\xff</a>", "no match");
    // Without drop-invalid() what was read before the fault stays.
    check("xml()", "<a><b>1</b><c>2", ".xml.a.b=1");
    check("xml()", "<a k='1'/><b k='2' l></b>", ".xml.a._k=1");
    check("xml()", "plain text", "");
}

#[test]
fn options() {
    for prefix in ["p", "p."] {
        check(&format!("xml(prefix('{prefix}'))"), "<a><b k='1'>2</b></a>", "p.a.b._k=1|p.a.b=2");
    }
    check("xml(prefix(''))", "<xa><b k='1'>2</b></xa>", "xa.b._k=1|xa.b=2");
    let exclude = "xml(exclude-tags('e*' 'c'))";
    check(exclude, "<a><exc k='1'>1<d>2</d></exc><c>2</c><b>3</b></a>", ".xml.a.b=3");
    check(exclude, "<a><Exc>1</Exc></a>", ".xml.a.Exc=1");
    check("xml(exclude-tags('?b'))", "<a><xb>1</xb><b>2</b></a>", ".xml.a.b=2");
    check("xml(template('$PROGRAM'))", "<a>1</a>", "");
    assert!(build("xml(exclude-tag('x'))").0.is_some());
}

#[test]
fn windows_events() {
    let text = "windows-eventlog-xml-parser()";
    let event = |data: &str| format!("<Event><System k='1'>2</System><EventData>{data}</EventData></Event>");
    let system = ".xml.Event.System._k=1|.xml.Event.System=2";
    for (data, expected) in [
        ("<Data Name='A'>1</Data>", ".xml.Event.EventData.Data.A=1"),
        ("<Data k='x' Name='A B&lt;'>1</Data>", ".xml.Event.EventData.Data.A B<=1"),
        ("<Data Name='A'>1</Data><Data Name='A'>2</Data>", ".xml.Event.EventData.Data.A=list:1,2"),
        ("<Data>1</Data><Data>2</Data>", ".xml.Event.EventData.Data=list:1,2"),
        ("<Data name='A'>1</Data>", ".xml.Event.EventData.Data._name=A|.xml.Event.EventData.Data=1"),
    ] {
        let expected: Vec<&str> = expected.split('|').chain(system.split('|')).collect();
        check(text, &event(data), &expected.join("|"));
    }
    check(
        text,
        "<E><EventData><Data Name='A'>1</Data></EventData></E>",
        ".xml.E.EventData.Data._Name=A|.xml.E.EventData.Data=1",
    );
    check(
        "xml()",
        "<Event><EventData><Data Name='A'/></EventData></Event>",
        ".xml.Event.EventData.Data._Name=A",
    );
}

/// Hostile texts cost what their length costs.
#[test]
fn hostile_texts() {
    let nested = [b"<a>".repeat(1 << 20), b"</a>".repeat(1 << 20)].concat();
    let same = format!("<a>{}</a>", "<b>x</b>".repeat(100_000));
    let attributes = format!("<a {}/>", "k='x' ".repeat(100_000));
    let names: String = (0..2000).map(|n| format!("<hostile{n}>{n}</hostile{n}>")).collect();
    let pieces = format!("<a>{}</a>", "x&amp;<b>y</b>".repeat(50_000));
    let open = b"<!DOCTYPE <".repeat(100_000);
    let mut cx = context();
    for text in ["xml()", "xml(create-lists(no))", "windows-eventlog-xml-parser(strip-whitespaces(yes))"] {
        let made = parser(text);
        let narrow = made.narrowed(&Demand::default());
        for input in
            [&nested, same.as_bytes(), attributes.as_bytes(), names.as_bytes(), pieces.as_bytes(), &open]
        {
            for parser in [Some(&made), narrow.as_ref()].into_iter().flatten() {
                let mut batch = batch(&[input]);
                let mut selection = vec![0];
                parser.parse(&mut batch, &mut selection, &mut cx);
                assert!(batch.text.len() <= 4 * input.len() + 100, "{text}: {} bytes", batch.text.len());
                values(&batch, 0);
            }
        }
    }
}
