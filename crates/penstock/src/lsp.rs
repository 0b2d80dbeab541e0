//! `penstock lsp`: what editors ask of a language, over standard input and output: findings, completion,
//! help, where a name is defined and used, renaming. What it says comes from the tables that `check` reads.

mod completion;
mod documents;
mod expressions;
mod findings;
mod help;
mod names;
mod place;
mod words;

use documents::Documents;
use lsp_server::{Connection, ErrorCode, Message, Notification, ProtocolError, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument,
};
use lsp_types::notification::{Notification as _, PublishDiagnostics};
use lsp_types::request::{
    CodeActionRequest, Completion, DocumentSymbolRequest, GotoDefinition, HoverRequest,
};
use lsp_types::request::{PrepareRenameRequest, References, Rename, Request as _};
use lsp_types::{
    CompletionOptions, InitializeResult, OneOf, RenameOptions, SaveOptions, ServerCapabilities, ServerInfo,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::process::ExitCode;
use stdio::CommandError;

pub fn run() -> ExitCode {
    let (connection, threads) = Connection::stdio();
    let served = serve(&connection);
    // Its threads end with the last one who may send.
    drop(connection);
    match served.and_then(|()| threads.join().map_err(|error| error.to_string().into())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.at("penstock lsp speaks with editors, over standard input and output").report(),
    }
}

/// Whoever is connected has hung up, or is no editor.
fn not_greeted(error: &ProtocolError) -> CommandError {
    match error.channel_is_disconnected() {
        true => CommandError::failed(error.to_string()),
        false => CommandError::usage(error.to_string()),
    }
}

fn serve(connection: &Connection) -> Result<(), CommandError> {
    let (id, _) = connection.initialize_start().map_err(|error| not_greeted(&error))?;
    let result = InitializeResult {
        capabilities: capabilities(),
        server_info: Some(ServerInfo {
            name: "penstock".to_owned(),
            version: Some(crate::version::VERSION.to_owned()),
        }),
    };
    let result = serde_json::to_value(result).map_err(|error| error.to_string())?;
    connection.initialize_finish(id, result).map_err(|error| not_greeted(&error))?;
    let mut server = Server { connection, documents: Documents::default() };
    for message in &connection.receiver {
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request).map_err(|error| error.to_string())? {
                    return Ok(());
                }
                server.answer(request)?;
            }
            Message::Notification(notification) => server.note(notification)?,
            Message::Response(_) => {}
        }
    }
    Ok(())
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

struct Server<'c> {
    connection: &'c Connection,
    documents: Documents,
}

impl Server<'_> {
    fn answer(&self, request: Request) -> Result<(), CommandError> {
        let Request { id, method, params } = request;
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

    fn note(&mut self, notification: Notification) -> Result<(), CommandError> {
        let Notification { method, params } = notification;
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
        Ok(self.connection.sender.send(message).map_err(|error| error.to_string())?)
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
