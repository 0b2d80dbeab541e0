"""An editor's side of `penstock lsp`, on the library pygls: opens a text, asks about it, prints the answers as JSON.

client.py PENSTOCK FILE QUESTIONS: the questions are a JSON list of [METHOD, PARAMS]; `uri` is put into their params. A question
["change", TEXT] changes the text and gives the findings of the new one.
"""

import asyncio
import json
import pathlib
import sys

from lsprotocol import converters, types
from pygls.lsp.client import LanguageClient

PATIENCE = 60


async def main(program, file, questions):
    client = LanguageClient("penstock-tests", "1")
    findings = asyncio.Queue()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params):
        findings.put_nowait(params)

    converter = converters.get_converter()
    await client.start_io(program, "lsp")
    await client.initialize_async(
        types.InitializeParams(capabilities=types.ClientCapabilities(), process_id=None, root_uri=None)
    )
    client.initialized(types.InitializedParams())
    path = pathlib.Path(file)
    uri = path.as_uri()
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "syslog-ng", 1, path.read_text()))
    )
    first = await asyncio.wait_for(findings.get(), PATIENCE)
    answers = [converter.unstructure(first.diagnostics)]
    version = 1
    for method, params in questions:
        if method == "change":
            version += 1
            client.text_document_did_change(
                types.DidChangeTextDocumentParams(
                    types.VersionedTextDocumentIdentifier(version, uri),
                    [types.TextDocumentContentChangeWholeDocument(params)],
                )
            )
            told = await asyncio.wait_for(findings.get(), PATIENCE)
            answers.append(converter.unstructure(told.diagnostics))
            continue
        params["textDocument"] = {"uri": uri}
        asked = converter.structure(params, types.METHOD_TO_TYPES[method][2])
        try:
            answer = await asyncio.wait_for(client.protocol.send_request_async(method, asked), PATIENCE)
            answers.append(converter.unstructure(answer))
        except Exception as error:
            answers.append({"error": str(error)})
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    print(json.dumps(answers))


asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))
