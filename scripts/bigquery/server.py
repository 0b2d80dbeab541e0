"""BigQuery's Storage Write API for tests, as Google's documents describe it, on Google's own types and descriptors.

Rows that were taken stand in a file, one line of JSON each, before the answer: with the stream and the place that they have in it.
"""

import argparse
import json
import os
import threading
import uuid
from concurrent import futures

import grpc
from google.cloud.bigquery_storage_v1 import types
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--out", required=True)
parser.add_argument("--cert")
parser.add_argument("--key")
parser.add_argument("--token", help="what the header authorization has to say")
parser.add_argument("--refuse", help="rows with this text are wrong: the answer names them, and none of their call is taken")
parser.add_argument("--lose", type=int, help="of so many calls that were taken one is answered with UNAVAILABLE")
parser.add_argument("--forget", type=int, help="streams end after so many rows")
parser.add_argument("--missing", help="while this file is there, the table is not")
parser.add_argument("--columns", help="a file with what the table has, with commas: other fields are none of its schema")
options = parser.parse_args()

lock = threading.Lock()
out = open(options.out, "a", encoding="utf-8")
streams = {}
calls = 0


def rows_of(data):
    """The messages, read by the description that came with them."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{uuid.uuid4()}.proto", package=f"p{uuid.uuid4().hex}")
    described = file.message_type.add()
    described.ParseFromString(types.ProtoSchema.pb(data.writer_schema).proto_descriptor.SerializeToString())
    if options.columns:
        with open(options.columns, encoding="utf-8") as file_of_columns:
            extra = {field.name for field in described.field} - set(file_of_columns.read().split(","))
        if extra:
            raise KeyError(f"Input schema has more fields than BigQuery schema, extra fields: {sorted(extra)}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{file.package}.{described.name}"))
    return [kind.FromString(row) for row in data.rows.serialized_rows]


def routed(context, name, value):
    """Google's servers find their way by this header."""
    if options.token and dict(context.invocation_metadata()).get("authorization") != options.token:
        context.abort(grpc.StatusCode.UNAUTHENTICATED, "who are you?")
    said = [text for key, text in context.invocation_metadata() if key == "x-goog-request-params"]
    if f"{name}={value}" not in said:
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"x-goog-request-params is {said}")


def create(request, context):
    routed(context, "parent", request.parent)
    if options.missing and os.path.exists(options.missing):
        context.abort(grpc.StatusCode.NOT_FOUND, f"Not found: Table {request.parent}")
    if request.write_stream.type_ != types.WriteStream.Type.COMMITTED:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "only COMMITTED streams")
    with lock:
        name = f"{request.parent}/streams/s{len(streams)}-{uuid.uuid4().hex}"
        streams[name] = 0
    return types.WriteStream(name=name, type_=request.write_stream.type_)


def error(code, text):
    return types.AppendRowsResponse(error={"code": code.value[0], "message": text})


def append_one(request, context):
    global calls
    name = request.write_stream
    routed(context, "write_stream", name)
    if name not in streams:
        context.abort(grpc.StatusCode.NOT_FOUND, f"Requested entity was not found: {name}")
    try:
        rows = rows_of(request.proto_rows)
    except KeyError as wrong:
        return error(grpc.StatusCode.INVALID_ARGUMENT, str(wrong))
    offset = types.AppendRowsRequest.pb(request).offset.value
    with lock:
        here = streams[name]
        if offset < here:
            return error(grpc.StatusCode.ALREADY_EXISTS, f"The offset is within stream, expected offset {here}, received {offset}")
        if offset > here:
            return error(grpc.StatusCode.OUT_OF_RANGE, f"The offset is beyond stream, expected offset {here}, received {offset}")
        if options.forget and here >= options.forget:
            return error(grpc.StatusCode.FAILED_PRECONDITION, f"STREAM_FINALIZED: {name}")
        texts = [json_format.MessageToDict(row, preserving_proto_field_name=True) for row in rows]
        if options.refuse:
            wrong = [at for at, row in enumerate(texts) if any(options.refuse in str(value) for value in row.values())]
            if wrong:
                answer = error(grpc.StatusCode.INVALID_ARGUMENT, "Errors found while processing rows.")
                answer.row_errors = [{"index": at, "code": 1, "message": "a wrong value"} for at in wrong]
                return answer
        for at, row in enumerate(texts):
            out.write(json.dumps({"stream": name, "offset": here + at, "row": row}) + "\n")
        out.flush()
        streams[name] = here + len(rows)
        calls += 1
        if options.lose and calls % options.lose == 0:
            context.abort(grpc.StatusCode.UNAVAILABLE, "the answer is lost")
    return types.AppendRowsResponse(append_result={"offset": offset})


def append(requests, context):
    for request in requests:
        yield append_one(request, context)


def handler(kind, function, request, response):
    return kind(function, request_deserializer=request.deserialize, response_serializer=response.serialize)


server = grpc.server(futures.ThreadPoolExecutor(max_workers=8), options=[("grpc.max_receive_message_length", 10 << 20)])
methods = {
    "CreateWriteStream": handler(grpc.unary_unary_rpc_method_handler, create, types.CreateWriteStreamRequest, types.WriteStream),
    "AppendRows": handler(grpc.stream_stream_rpc_method_handler, append, types.AppendRowsRequest, types.AppendRowsResponse),
}
server.add_generic_rpc_handlers(
    (grpc.method_handlers_generic_handler("google.cloud.bigquery.storage.v1.BigQueryWrite", methods),)
)
address = f"127.0.0.1:{options.port}"
if options.cert:
    pair = [tuple(open(path, "rb").read() for path in (options.key, options.cert))]
    server.add_secure_port(address, grpc.ssl_server_credentials(pair))
else:
    server.add_insecure_port(address)
server.start()
server.wait_for_termination()
