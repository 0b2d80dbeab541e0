//! `penstock lsp`: what editors ask of a language, over standard input and output: findings, completion,
//! help, where a name is defined and used, renaming. What it says comes from the tables that `check` reads.

mod completion;
mod documents;
mod expressions;
mod findings;
mod help;
mod names;
mod place;
mod wire;
mod words;

use documents::Documents;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument,
};
use lsp_types::notification::{Exit, Notification as _, PublishDiagnostics};
use lsp_types::request::{
    CodeActionRequest, Completion, DocumentSymbolRequest, GotoDefinition, HoverRequest, Initialize,
};
use lsp_types::request::{PrepareRenameRequest, References, Rename, Request as _, Shutdown};
use lsp_types::{
    CompletionOptions, InitializeResult, OneOf, RenameOptions, SaveOptions, ServerCapabilities, ServerInfo,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{self, BufRead};
use std::process::ExitCode;
use stdio::CommandError;
use wire::Arrival;

pub fn run() -> ExitCode {
    match serve(&mut io::stdin().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.at("penstock lsp speaks with editors, over standard input and output").report(),
    }
}

/// Answers what comes until the editor says that it is done, or hangs up.
fn serve(input: &mut impl BufRead) -> Result<(), CommandError> {
    let mut server = Server { stage: Stage::New, documents: Documents::default() };
    while let Some(arrival) = wire::next(input)? {
        match arrival {
            Arrival::Message(Message::Notification(note)) if note.method == Exit::METHOD => {
                return match server.stage {
                    Stage::Done => Ok(()),
                    Stage::New | Stage::Greeted => {
                        Err(CommandError::failed("it was told to exit without `shutdown` before".to_owned()))
                    }
                };
            }
            Arrival::Message(Message::Request(request)) => server.answer(request)?,
            Arrival::Message(Message::Notification(note)) => server.note(note)?,
            Arrival::Message(Message::Response(_)) => {}
            Arrival::NoMessage(refusal) => {
                wire::refuse(&mut io::stdout().lock(), &refusal).map_err(|error| error.to_string())?;
            }
        }
    }
    match server.stage {
        Stage::New => {
            Err(CommandError::failed("the input has ended, and no `initialize` was in it".to_owned()))
        }
        Stage::Greeted | Stage::Done => Ok(()),
    }
}

fn greeting() -> InitializeResult {
    InitializeResult {
        capabilities: capabilities(),
        server_info: Some(ServerInfo {
            name: "penstock".to_owned(),
            version: Some(crate::version::VERSION.to_owned()),
        }),
    }
}

fn capabilities() -> ServerCapabilities {
    let triggers = ["(", "{", "$", " "].map(str::to_owned).to_vec();
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::FULL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
            ..TextDocumentSyncOptions::default()
        })),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(triggers),
            ..CompletionOptions::default()
        }),
        hover_provider: Some(true.into()),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(true.into()),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: lsp_types::WorkDoneProgressOptions::default(),
        })),
        ..ServerCapabilities::default()
    }
}

/// How far the conversation is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nobody has asked for anything.
    New,
    Greeted,
    /// The editor has said `shutdown`.
    Done,
}

struct Server {
    stage: Stage,
    documents: Documents,
}

impl Server {
    fn answer(&mut self, request: Request) -> Result<(), CommandError> {
        let Request { id, method, params } = request;
        match (self.stage, method.as_str()) {
            (Stage::New, Initialize::METHOD) => {
                self.stage = Stage::Greeted;
                let greeting = serde_json::to_value(greeting()).map_err(|error| error.to_string())?;
                return self.send(Response::new_ok(id, greeting).into());
            }
            (Stage::New, other) => {
                let text = format!("{other} before initialize");
                return self.refuse(id, ErrorCode::ServerNotInitialized, text);
            }
            (Stage::Greeted, Shutdown::METHOD) => {
                self.stage = Stage::Done;
                return self.send(Response::new_ok(id, ()).into());
            }
            (Stage::Greeted, Initialize::METHOD) => {
                return self.refuse(id, ErrorCode::InvalidRequest, "a second initialize".to_owned());
            }
            (Stage::Done, other) => {
                return self.refuse(id, ErrorCode::InvalidRequest, format!("{other} after shutdown"));
            }
            (Stage::Greeted, _) => {}
        }
        let documents = &self.documents;
        let answer: Result<Value, (ErrorCode, String)> = match method.as_str() {
            Completion::METHOD => asked(params, |params| Ok(completion::at(documents, &params))),
            HoverRequest::METHOD => asked(params, |params| Ok(help::at(documents, &params))),
            GotoDefinition::METHOD => asked(params, |params| Ok(names::definition(documents, &params))),
            References::METHOD => asked(params, |params| Ok(names::references(documents, &params))),
            DocumentSymbolRequest::METHOD => asked(params, |params| Ok(names::symbols(documents, &params))),
            PrepareRenameRequest::METHOD => {
                asked(params, |params| Ok(names::prepare_rename(documents, &params)))
            }
            Rename::METHOD => asked(params, |params| names::rename(documents, &params)),
            CodeActionRequest::METHOD => asked(params, |params| Ok(findings::actions(documents, &params))),
            other => Err((ErrorCode::MethodNotFound, format!("{other} is not answered"))),
        };
        self.send(match answer {
            Ok(result) => Response::new_ok(id, result).into(),
            Err((code, text)) => Response::new_err(id, code as i32, text).into(),
        })
    }

    fn refuse(&self, id: RequestId, code: ErrorCode, text: String) -> Result<(), CommandError> {
        self.send(Response::new_err(id, code as i32, text).into())
    }

    fn note(&mut self, notification: Notification) -> Result<(), CommandError> {
        let Notification { method, params } = notification;
        if self.stage != Stage::Greeted {
            return Ok(());
        }
        let changed = match method.as_str() {
            DidOpenTextDocument::METHOD => read(params).map(|params| self.documents.opened(params)),
            DidChangeTextDocument::METHOD => read(params).map(|params| self.documents.changed(params)),
            DidSaveTextDocument::METHOD => read(params).map(|params| self.documents.saved(params)),
            DidCloseTextDocument::METHOD => read(params).map(|params| self.documents.closed(params)),
            _ => return Ok(()),
        };
        // What a server does not understand of these it leaves alone: there is no answer to them.
        let Ok(changed) = changed else { return Ok(()) };
        let told = findings::of(&self.documents, &changed);
        let params = serde_json::to_value(told).map_err(|error| error.to_string())?;
        self.send(Notification { method: PublishDiagnostics::METHOD.to_owned(), params }.into())
    }

    fn send(&self, message: Message) -> Result<(), CommandError> {
        Ok(message.write(&mut io::stdout().lock()).map_err(|error| error.to_string())?)
    }
}

fn read<P: DeserializeOwned>(params: Value) -> Result<P, (ErrorCode, String)> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn asked<P: DeserializeOwned, R: Serialize>(
    params: Value,
    answer: impl FnOnce(P) -> Result<R, String>,
) -> Result<Value, (ErrorCode, String)> {
    let answer = answer(read(params)?).map_err(|text| (ErrorCode::RequestFailed, text))?;
    serde_json::to_value(answer).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}
