//! `elasticsearch-bulk()`: documents as Elasticsearch's `_bulk` takes them, from Beats, Logstash and whatever
//! else can send there. A client hears that a document is taken when everything made of it is delivered.

mod documents;
mod handler;
mod reply;

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use diag::{Diagnostics, Reported};
use documents::Names;
use driver_options::request_groups::REQUESTS;
use driver_options::secure;
use driver_options::source_groups::SOURCE;
use driver_options::tls_groups::SECURE_SOURCE;
use engine::driver::{BuildContext, SourceDriver, SourcePart};
use handler::{Bulk, Keys};
use intake::requests::Asked;
use std::sync::Arc;

pub const PARTS: &[SourcePart] = &[SourcePart::new(&BULK, build)];

/// Elasticsearch's own.
const PORT: u16 = 9200;

static BULK: Component = Component {
    context: Context::Source,
    name: "elasticsearch-bulk",
    aliases: &["opensearch-bulk"],
    positional: &[],
    groups: &[&REQUESTS, &SOURCE, &SECURE_SOURCE],
    own: &[
        Opt::new(
            "user",
            Kind::Text,
            Preset::None,
            "With password(): the user that a client has to show, as `Authorization: Basic`. Without user() and api-keys() everybody may send.",
        ),
        Opt::new("password", Kind::Text, Preset::None, "The password of user()."),
        Opt::new(
            "api-keys",
            Kind::TextList,
            Preset::None,
            "Keys of which a client has to show one, as `Authorization: ApiKey KEY`. Collects.",
        )
        .sample("\"a2V5\"")
        .collects(),
        Opt::new(
            "prefix",
            Kind::Text,
            Preset::Text(".elasticsearch."),
            "What stands before the names of the values `index` and `id`.",
        ),
    ],
    presets: &[("port", Preset::Int(PORT as i64))],
    not_yet: &[],
    summary: "Receives documents as Elasticsearch's and OpenSearch's `_bulk` do, packed with gzip or not, and answers each by itself. The \
              document is MESSAGE, as JSON; json-parser() takes it apart. `index` and `create` are taken, `update` and `delete` refused. \
              Use flags(flow-control) in the log paths, otherwise documents are also dealt with when a full queue drops them. See \
              docs/elasticsearch-source.md.",
    example: "elasticsearch-bulk(port(9200) user(\"beats\") password(\"secret\"))",
    cost: Some(Cost::elsewhere(
        "A request costs a hand-over to a worker; each document one pass over its text.",
    )),
};

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    let tls = secure::read(s, "", secure::Side::Source, diags)?;
    let asked = Asked::read(s, cx, PORT, tls, diags)?;
    let prefix = s.text("prefix").unwrap_or(".elasticsearch.");
    cx.scope.sets(prefix);
    let names = Arc::new(Names::new(prefix));
    let (user, password) = (s.text("user"), s.text("password").unwrap_or_default());
    let keys = Keys {
        basic: user.map(|user| format!("{user}:{password}")),
        api_keys: s.list("api-keys").iter().map(|key| key.text.clone()).collect(),
    };
    let what = format!("{keys:?} {prefix}");
    let make = move |desk| {
        let bulk = Bulk { desk, keys: keys.clone(), names: Arc::clone(&names) };
        Arc::new(bulk) as Arc<dyn http_server::Handler>
    };
    Ok(asked.driver("elasticsearch-bulk", &what, Arc::new(make)))
}
