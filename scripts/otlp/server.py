"""A collector of OpenTelemetry's protocol for tests, on others' libraries: grpcio and opentelemetry-proto.

What it has taken stands in a file, one line of JSON each, before it answers.
"""

import argparse
import json
import os
import threading
from concurrent import futures

import grpc
from google.protobuf import any_pb2, duration_pb2, json_format
from google.rpc import error_details_pb2, status_pb2
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--out", required=True)
parser.add_argument("--cert")
parser.add_argument("--key")
parser.add_argument("--client-ca")
parser.add_argument("--refuse", help="a request with this text in a body is an invalid argument")
parser.add_argument("--partial", help="records with this text in their bodies are refused, the others taken")
parser.add_argument("--token", help="what the header authorization has to say")
parser.add_argument("--busy", help="while this file is there, clients are to come again after 200 ms")
parser.add_argument("--account", help="the key of a service account is put here, and tokens have to be signed with it")
parser.add_argument("--audience", help="whom these tokens have to be for")
options = parser.parse_args()

if options.account:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa
    from google.auth import jwt

    secret = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = secret.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    pem = secret.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    account = {"client_email": "me@example.com", "private_key_id": "one", "private_key": pem.decode()}
    with open(options.account + ".new", "w", encoding="utf-8") as file:
        json.dump(account, file)
    os.rename(options.account + ".new", options.account)

lock = threading.Lock()
out = open(options.out, "a", encoding="utf-8")


def busy(context):
    delay = error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(nanos=200_000_000))
    detail = any_pb2.Any()
    detail.Pack(delay)
    status = status_pb2.Status(code=8, message="too much", details=[detail])
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too much")


def admit(context):
    metadata = dict(context.invocation_metadata())
    if options.token and metadata.get("authorization") != options.token:
        context.abort(grpc.StatusCode.UNAUTHENTICATED, "who are you?")
    if options.account:
        token = metadata.get("authorization", "").removeprefix("Bearer ")
        try:
            claims = jwt.decode(token, certs=public, audience=options.audience)
            assert claims["iss"] == claims["sub"] == "me@example.com" and jwt.decode_header(token)["kid"] == "one"
        except (ValueError, AssertionError) as error:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, f"no good token: {error}")
    if options.busy and os.path.exists(options.busy):
        busy(context)
    return metadata


def write(lines):
    with lock:
        out.write("".join(lines))
        out.flush()


def entry(signal, metadata, resource, scope, record):
    shown = {k: v for k, v in metadata.items() if k.startswith("x-") or k == "user-agent"}
    for name, value in shown.items():
        if isinstance(value, bytes):
            shown[name] = value.hex()
    return json.dumps({
        "signal": signal,
        "metadata": shown,
        "resource": json_format.MessageToDict(resource),
        "scope": json_format.MessageToDict(scope),
        "record": json_format.MessageToDict(record),
    }) + "\n"


class Logs(logs_service_pb2_grpc.LogsServiceServicer):
    def Export(self, request, context):
        metadata = admit(context)
        lines, refused = [], 0
        for resource in request.resource_logs:
            for scope in resource.scope_logs:
                for record in scope.log_records:
                    text = record.body.string_value
                    if options.refuse and options.refuse in text:
                        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no such body")
                    if options.partial and options.partial in text:
                        refused += 1
                        continue
                    lines.append(entry("log", metadata, resource.resource, scope.scope, record))
        write(lines)
        answer = logs_service_pb2.ExportLogsServiceResponse()
        if refused:
            answer.partial_success.rejected_log_records = refused
            answer.partial_success.error_message = "not these"
        return answer


class Metrics(metrics_service_pb2_grpc.MetricsServiceServicer):
    def Export(self, request, context):
        metadata = admit(context)
        write([
            entry("metric", metadata, resource.resource, scope.scope, metric)
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        ])
        return metrics_service_pb2.ExportMetricsServiceResponse()


class Traces(trace_service_pb2_grpc.TraceServiceServicer):
    def Export(self, request, context):
        metadata = admit(context)
        write([
            entry("span", metadata, resource.resource, scope.scope, span)
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ])
        return trace_service_pb2.ExportTraceServiceResponse()


server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
logs_service_pb2_grpc.add_LogsServiceServicer_to_server(Logs(), server)
metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(Metrics(), server)
trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Traces(), server)
address = f"127.0.0.1:{options.port}"
if options.cert:
    read = lambda path: open(path, "rb").read()
    pair = [(read(options.key), read(options.cert))]
    ca = read(options.client_ca) if options.client_ca else None
    server.add_secure_port(address, grpc.ssl_server_credentials(pair, ca, ca is not None))
else:
    server.add_insecure_port(address)
server.start()
server.wait_for_termination()
