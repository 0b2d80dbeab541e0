"""Loki's push and ClickHouse's insert for tests, from the protocols' public documents, on others' libraries: grpcio and protobuf.

What it has taken stands in a file, one line of JSON each, before it answers.
"""

import argparse
import json
import struct
import threading
from concurrent import futures

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--out", required=True)
parser.add_argument("--cert")
parser.add_argument("--key")
parser.add_argument("--refuse", help="a line or a row with this text is refused, with all that came with it")
parser.add_argument("--unnamed", action="store_true", help="it is not said which row it was")
parser.add_argument("--password", default="")
parser.add_argument("--token", help="what the header authorization has to say")
options = parser.parse_args()

F = descriptor_pb2.FieldDescriptorProto
KINDS = {"string": F.TYPE_STRING, "bytes": F.TYPE_BYTES, "int32": F.TYPE_INT32, "int64": F.TYPE_INT64}
MESSAGES = {
    "Timestamp": [("seconds", 1, "int64", 0), ("nanos", 2, "int32", 0)],
    "Entry": [("timestamp", 1, "Timestamp", 0), ("line", 2, "string", 0)],
    "Stream": [("labels", 1, "string", 0), ("entries", 2, "Entry", 1)],
    "PushRequest": [("streams", 1, "Stream", 1)],
    "PushResponse": [],
    "Setting": [("key", 1, "string", 0), ("value", 2, "string", 0)],
    "QueryInfo": [
        ("query", 1, "string", 0), ("settings", 3, "Setting", 1), ("database", 4, "string", 0), ("input_data", 5, "bytes", 0),
        ("user_name", 9, "string", 0), ("password", 10, "string", 0),
    ],
    "Exception": [("code", 1, "int32", 0), ("name", 2, "string", 0), ("display_text", 3, "string", 0)],
    "Result": [("output", 1, "bytes", 0), ("exception", 7, "Exception", 0)],
}
file = descriptor_pb2.FileDescriptorProto(name="pushed.proto", package="pushed", syntax="proto3")
for name, fields in MESSAGES.items():
    message = file.message_type.add(name=name)
    for field, number, kind, repeated in fields:
        made = message.field.add(name=field, number=number, label=F.LABEL_REPEATED if repeated else F.LABEL_OPTIONAL)
        if kind in KINDS:
            made.type = KINDS[kind]
        else:
            made.type, made.type_name = F.TYPE_MESSAGE, ".pushed." + kind
pool = descriptor_pool.DescriptorPool()
pool.Add(file)
classes = {name: message_factory.GetMessageClass(pool.FindMessageTypeByName("pushed." + name)) for name in MESSAGES}

lock = threading.Lock()
out = open(options.out, "a", encoding="utf-8")
seen, tokens = set(), set()


def write(entries):
    with lock:
        out.write("".join(json.dumps(entry) + "\n" for entry in entries))
        out.flush()


def admit(context):
    if options.token and dict(context.invocation_metadata()).get("authorization") != options.token:
        context.abort(grpc.StatusCode.UNAUTHENTICATED, "who are you?")


def push(request, context):
    """As Loki: what is good is stored, and the answer is an error all the same; what is there already is passed over."""
    admit(context)
    tenant = dict(context.invocation_metadata()).get("x-scope-orgid")
    entries, refused = [], 0
    for stream in request.streams:
        for entry in stream.entries:
            if options.refuse and options.refuse in entry.line:
                refused += 1
                continue
            time = entry.timestamp.seconds * 10**9 + entry.timestamp.nanos
            known = (stream.labels, time, entry.line)
            with lock:
                if known in seen:
                    continue
                seen.add(known)
            entries.append({"labels": stream.labels, "time": time, "line": entry.line, "tenant": tenant})
    write(entries)
    if refused:
        context.set_code(grpc.StatusCode.INVALID_ARGUMENT)
        context.set_details("entry too far behind")
    return classes["PushResponse"]()


def varint(data, at):
    number, shift = 0, 0
    while True:
        number |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return number, at


def fields(data):
    """What stands in a message of protobuf, by the numbers of its fields, as JSON."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at : at + length].decode("utf-8", "replace"), at + length
        else:
            length = {1: 8, 5: 4}[tag & 7]
            value, at = struct.unpack({8: "<d", 4: "<f"}[length], data[at : at + length])[0], at + length
        found[tag >> 3] = value
    return json.dumps(found, ensure_ascii=False)


def messages(data):
    at = 0
    while at < len(data):
        length, at = varint(data, at)
        yield fields(data[at : at + length])
        at += length


def insert(request, context):
    admit(context)
    result = classes["Result"]()

    def failed(code, text):
        result.exception.code, result.exception.display_text = code, text
        return result

    if request.password != options.password:
        return failed(516, "Code: 516. writer: Authentication failed: password is incorrect")
    settings = {setting.key: setting.value for setting in request.settings}
    token = settings.pop("insert_deduplication_token", None)
    if request.query.endswith("FORMAT Protobuf"):
        rows = list(messages(request.input_data))
    else:
        rows = request.input_data.decode("utf-8", "replace").splitlines()
    for number, row in enumerate(rows, 1):
        if options.refuse and options.refuse in row:
            where = "" if options.unnamed else f": (at row {number})"
            return failed(27, "Code: 27. Cannot parse input: expected '\\t'" + where)
    with lock:
        if token in tokens:
            return result
        if token is not None:
            tokens.add(token)
    common = {"query": request.query, "database": request.database, "user": request.user_name, "token": token}
    common["schema"] = settings.get("format_schema")
    write([{"row": row, **common} for row in rows])
    return result


def handler(method, request, response):
    return grpc.unary_unary_rpc_method_handler(
        method, request_deserializer=classes[request].FromString, response_serializer=lambda answer: answer.SerializeToString()
    )


server = grpc.server(futures.ThreadPoolExecutor(max_workers=4), options=[("grpc.max_receive_message_length", -1)])
server.add_generic_rpc_handlers((
    grpc.method_handlers_generic_handler("logproto.Pusher", {"Push": handler(push, "PushRequest", "PushResponse")}),
    grpc.method_handlers_generic_handler("clickhouse.grpc.ClickHouse", {"ExecuteQuery": handler(insert, "QueryInfo", "Result")}),
))
address = f"127.0.0.1:{options.port}"
if options.cert:
    pair = [tuple(open(path, "rb").read() for path in (options.key, options.cert))]
    server.add_secure_port(address, grpc.ssl_server_credentials(pair))
else:
    server.add_insecure_port(address)
server.start()
server.wait_for_termination()
