"""A client of OpenTelemetry's protocol for tests, on others' libraries: grpcio and opentelemetry-proto.

Sends requests one after the other and writes a line for each to the standard output: the status, the first number of its records and how
many they were. Ends when all are sent, or with --stop at the first that is not taken.
"""

import argparse
import sys
import time

import grpc
from google.rpc import error_details_pb2, status_pb2
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--signal", default="log", choices=["log", "metric", "span", "broken"])
parser.add_argument("--first", type=int, default=0)
parser.add_argument("--count", type=int, default=1)
parser.add_argument("--batch", type=int, default=1000)
parser.add_argument("--timeout", type=float, default=30)
parser.add_argument("--retry", action="store_true", help="what is unavailable is sent again, after the time that the server asks for")
parser.add_argument("--stop", action="store_true")
parser.add_argument("--gzip", action="store_true")
parser.add_argument("--size", type=int, default=0, help="bytes that are added to each body")
parser.add_argument("--ca")
parser.add_argument("--cert")
parser.add_argument("--key")
options = parser.parse_args()


def read(path):
    with open(path, "rb") as file:
        return file.read()


limits = [("grpc.max_send_message_length", -1)]
address = f"127.0.0.1:{options.port}"
if options.ca:
    own = (read(options.key), read(options.cert)) if options.cert else (None, None)
    channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(read(options.ca), *own), limits)
else:
    channel = grpc.insecure_channel(address, limits)


def attribute(where, key, **value):
    pair = where.add()
    pair.key = key
    for name, content in value.items():
        setattr(pair.value, name, content)


def around(resource, scope):
    attribute(resource.resource.attributes, "host.name", string_value="sender")
    attribute(resource.resource.attributes, "n", int_value=5)
    resource.schema_url = "https://resource.example"
    scope.scope.name = "tests"
    scope.scope.version = "1"
    scope.schema_url = "https://scope.example"


def logs(first, count):
    request = logs_service_pb2.ExportLogsServiceRequest()
    resource = request.resource_logs.add()
    scope = resource.scope_logs.add()
    around(resource, scope)
    for n in range(first, first + count):
        record = scope.log_records.add()
        record.time_unix_nano = 1794355323123456000 + n
        record.severity_number = 17
        record.severity_text = "bad"
        record.body.string_value = f"message number {n} of connection 0" + "x" * options.size
        record.trace_id = bytes(range(16))
        attribute(record.attributes, "number", int_value=n)
        attribute(record.attributes, "share", double_value=0.5)
    return request


def metrics(first, count):
    request = metrics_service_pb2.ExportMetricsServiceRequest()
    resource = request.resource_metrics.add()
    scope = resource.scope_metrics.add()
    around(resource, scope)
    for n in range(first, first + count):
        metric = scope.metrics.add()
        metric.name = f"metric {n}"
        point = metric.histogram.data_points.add()
        point.count = n
        point.bucket_counts.extend([1, 2, 3])
    return request


def spans(first, count):
    request = trace_service_pb2.ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    scope = resource.scope_spans.add()
    around(resource, scope)
    for n in range(first, first + count):
        span = scope.spans.add()
        span.name = f"span {n}"
        span.trace_id = bytes(range(16))
        span.events.add().name = "event"
    return request


make, call = {
    "log": (logs, logs_service_pb2_grpc.LogsServiceStub(channel).Export),
    "metric": (metrics, metrics_service_pb2_grpc.MetricsServiceStub(channel).Export),
    "span": (spans, trace_service_pb2_grpc.TraceServiceStub(channel).Export),
    "broken": (
        lambda first, count: b"\x0a\xff\xff\xff",
        channel.unary_unary("/opentelemetry.proto.collector.logs.v1.LogsService/Export"),
    ),
}[options.signal]


def delay(error):
    details = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
    for detail in status_pb2.Status.FromString(details).details if details else ():
        info = error_details_pb2.RetryInfo()
        if detail.Unpack(info):
            return info.retry_delay.seconds + info.retry_delay.nanos / 1e9
    return None


first, end = options.first, options.first + options.count
while first < end:
    count = min(options.batch, end - first)
    try:
        compression = grpc.Compression.Gzip if options.gzip else None
        call(make(first, count), timeout=options.timeout, compression=compression)
        status = "OK"
    except grpc.RpcError as error:
        status = error.code().name
        wait = delay(error)
        print(error.details(), file=sys.stderr)
        if options.retry and status == "UNAVAILABLE":
            time.sleep(0.1 if wait is None else wait)
            continue
        if wait is not None:
            status = f"{status}, again after {wait} s:"
    print(f"{status} {first} {count}", flush=True)
    if options.stop and status != "OK":
        break
    first += count
