//! Findings of a text as editors show them, and the changes that cure them.

use super::documents::{Document, Documents, whole};
use diag::{Diagnostic as Finding, Severity};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Diagnostic,
    DiagnosticRelatedInformation, DiagnosticSeverity, NumberOrString, PublishDiagnosticsParams, Range,
    TextEdit, Uri, WorkspaceEdit,
};
use std::collections::HashMap;

pub fn of(documents: &Documents, uri: &Uri) -> PublishDiagnosticsParams {
    let document = documents.get(uri);
    let diagnostics = document.map(all).unwrap_or_default();
    let version = document.and_then(|document| document.version);
    PublishDiagnosticsParams { uri: uri.clone(), diagnostics, version }
}

fn all(document: &Document) -> Vec<Diagnostic> {
    let findings = document.configuration.findings();
    findings.iter().filter_map(|finding| one(document, finding)).collect()
}

/// A finding in this text; one without a place is about the whole of it.
fn one(document: &Document, finding: &Finding) -> Option<Diagnostic> {
    let range = match finding.span {
        Some(span) => document.own_range(document.sources().outermost(span))?,
        None => whole(&document.text),
    };
    let help = finding.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
    let related = finding.labels.iter().filter_map(|label| {
        let location = document.location(label.span)?;
        Some(DiagnosticRelatedInformation { location, message: label.message.clone() })
    });
    let related: Vec<DiagnosticRelatedInformation> = related.collect();
    Some(Diagnostic {
        range,
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Remark => DiagnosticSeverity::HINT,
        }),
        code: Some(NumberOrString::String(finding.code.to_owned())),
        source: Some("penstock".to_owned()),
        message: format!("{}{help}", finding.message),
        related_information: (!related.is_empty()).then_some(related),
        ..Diagnostic::default()
    })
}

/// What would cure the findings of a range.
pub fn actions(documents: &Documents, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
    let Some(document) = documents.get(&params.text_document.uri) else { return Vec::new() };
    let findings = document.configuration.findings().iter();
    findings.filter_map(|finding| action(document, finding, &params.range)).collect()
}

fn action(document: &Document, finding: &Finding, asked: &Range) -> Option<CodeActionOrCommand> {
    let (span, new) = diag::replacement(finding, document.sources())?;
    let range = document.own_range(span)?;
    if range.end < asked.start || asked.end < range.start {
        return None;
    }
    let edit = TextEdit { range, new_text: new.to_owned() };
    #[expect(clippy::mutable_key_type, reason = "the type of the protocol")]
    let changes = HashMap::from([(document.uri.clone(), vec![edit])]);
    Some(CodeActionOrCommand::CodeAction(CodeAction {
        title: finding.help.clone().unwrap_or_else(|| format!("write {new}")),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: one(document, finding).map(|diagnostic| vec![diagnostic]),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        is_preferred: Some(true),
        ..CodeAction::default()
    }))
}
