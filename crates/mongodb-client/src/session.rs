//! What runs for one outlet: the library's client, and one insert after the other.

use crate::insert::{self, Insert, Inserts};
use crate::judge::{Judged, answer, failure};
use crate::target::Target;
use flight::{Outcome, Verdict};
use guest::{Jobs, Order};
use mongodb::bson::RawDocumentBuf;
use mongodb::options::ClientOptions;
use mongodb::{Client, error};
use std::sync::Arc;
use std::time::Duration;

/// A server that takes writes is looked for so long, when the address does not say.
const SELECTION: Duration = Duration::from_secs(5);

/// Sends batches until the outlet is closed.
pub async fn serve(target: Arc<Target>, jobs: Jobs<Inserts>) {
    let mut client: Option<Client> = None;
    while let Some(order) = jobs.next().await {
        match order {
            Order::Reopen => client = None,
            Order::Send(job) => {
                let opened = match client.take() {
                    Some(client) => Ok(client),
                    None => open(&target).await,
                };
                let outcome = match opened {
                    Ok(opened) => {
                        let outcome = deliver(&target, &opened, job.load, &job.answer).await;
                        client = Some(opened);
                        outcome
                    }
                    Err(error) => failure(&error),
                };
                job.answer.say(outcome);
            }
        }
    }
}

async fn open(target: &Target) -> error::Result<Client> {
    let mut options = ClientOptions::parse(target.place.address.clone()).await?;
    options.app_name.get_or_insert_with(|| "penstock".to_owned());
    options.server_selection_timeout.get_or_insert(SELECTION);
    // One insert is on the way at a time.
    options.max_pool_size.get_or_insert(2);
    let client = Client::with_options(options)?;
    oplog::verbose("Client made for servers", &[("servers", &target.place.hosts)]);
    Ok(client)
}

/// Sends the commands of a batch until one of them stops the others.
async fn deliver(
    target: &Target,
    client: &Client,
    Inserts(inserts): Inserts,
    asked: &guest::Answer,
) -> Outcome {
    let mut verdicts: Vec<Verdict> = Vec::new();
    if asked.is_followed() {
        let place = &target.place;
        asked.is_at(|at| {
            let where_to =
                [("server", place.hosts.as_str().into()), ("database", place.database.as_str().into())];
            where_to.into_iter().chain(insert::whereabouts(&inserts, at))
        });
    }
    for insert in inserts {
        let (documents, judged) = (insert.documents, send(target, client, insert).await);
        let all = match judged {
            Judged::Whole(Outcome::Refused(why)) => vec![Verdict::Refused(why.into()); documents],
            Judged::Whole(outcome) if verdicts.is_empty() => return outcome,
            // The next attempt begins with it, and says why.
            Judged::Whole(_) => break,
            Judged::Verdicts(all) => all,
        };
        let stops = all.contains(&Verdict::Again);
        verdicts.extend(all);
        if stops {
            break;
        }
    }
    Outcome::Judged { verdicts, after: Some(Duration::ZERO) }
}

async fn send(target: &Target, client: &Client, insert: Insert) -> Judged {
    let Some(bytes) = insert.command else {
        return Judged::Whole(Outcome::Refused("the document is larger than 16 MiB".to_owned()));
    };
    let command = match RawDocumentBuf::from_bytes(bytes) {
        Ok(command) => command,
        Err(error) => return Judged::Whole(Outcome::Split(error.to_string())),
    };
    let database = client.database(&target.place.database);
    let answer_max = target.place.answer_max;
    match tokio::time::timeout(answer_max, async { database.run_raw_command(command).await }).await {
        Ok(Ok(said)) => answer(&said, insert.documents, target.unordered),
        Ok(Err(error)) => Judged::Whole(failure(&error)),
        Err(_) => Judged::Whole(Outcome::Unknown("the server does not answer".to_owned())),
    }
}
