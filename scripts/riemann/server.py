"""What Riemann's server does with events, read by Google's protobuf and written down as lines of JSON.

server.py PORT FILE [--certificate FILE --key FILE] [--refuse TEXT]

TCP (or TLS) and UDP on one port. A batch with an event whose service is `bad` is answered with an error, and nothing of it is written.
"""
import argparse, json, socketserver, ssl, struct, threading
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.json_format import MessageToDict

words = argparse.ArgumentParser()
words.add_argument("port", type=int)
words.add_argument("file")
words.add_argument("--certificate")
words.add_argument("--key")
words.add_argument("--refuse", help="events with this text in their descriptions are bad too")
words = words.parse_args()

F = descriptor_pb2.FieldDescriptorProto
MESSAGES = {
    "Attribute": [("key", 1, F.TYPE_STRING, 0), ("value", 2, F.TYPE_STRING, 0)],
    "Event": [
        ("time", 1, F.TYPE_INT64, 0), ("state", 2, F.TYPE_STRING, 0), ("service", 3, F.TYPE_STRING, 0),
        ("host", 4, F.TYPE_STRING, 0), ("description", 5, F.TYPE_STRING, 0), ("tags", 7, F.TYPE_STRING, 1),
        ("ttl", 8, F.TYPE_FLOAT, 0), ("attributes", 9, "Attribute", 1), ("time_micros", 10, F.TYPE_INT64, 0),
        ("metric_sint64", 13, F.TYPE_SINT64, 0), ("metric_d", 14, F.TYPE_DOUBLE, 0), ("metric_f", 15, F.TYPE_FLOAT, 0),
    ],
    "Msg": [("ok", 2, F.TYPE_BOOL, 0), ("error", 3, F.TYPE_STRING, 0), ("events", 6, "Event", 1)],
}
file = descriptor_pb2.FileDescriptorProto(name="riemann.proto", package="r", syntax="proto2")
for name, fields in MESSAGES.items():
    message = file.message_type.add(name=name)
    for field, number, kind, repeated in fields:
        added = message.field.add(name=field, number=number, label=F.LABEL_REPEATED if repeated else F.LABEL_OPTIONAL)
        if isinstance(kind, str):
            added.type, added.type_name = F.TYPE_MESSAGE, ".r." + kind
        else:
            added.type = kind
pool = descriptor_pool.DescriptorPool()
pool.Add(file) if hasattr(pool, "Add") else pool.AddSerializedFile(file.SerializeToString())
Msg = message_factory.GetMessageClass(pool.FindMessageTypeByName("r.Msg"))
lock = threading.Lock()


def take(text):
    message = Msg()
    message.ParseFromString(text)
    bad = lambda event: words.refuse in event.description if words.refuse else event.service == "bad"
    if any(map(bad, message.events)):
        return Msg(ok=False, error="java.lang.Exception: a bad event")
    with lock, open(words.file, "a") as out:
        for event in message.events:
            out.write(json.dumps(MessageToDict(event, preserving_proto_field_name=True)) + "\n")
    return Msg(ok=True)


class Stream(socketserver.StreamRequestHandler):
    def handle(self):
        while True:
            head = self.rfile.read(4)
            if len(head) < 4:
                return
            (length,) = struct.unpack(">I", head)
            text = self.rfile.read(length)
            if len(text) < length:
                return
            answer = take(text).SerializeToString()
            self.wfile.write(struct.pack(">I", len(answer)) + answer)
            self.wfile.flush()


class Datagram(socketserver.BaseRequestHandler):
    def handle(self):
        take(self.request[0])


class Tcp(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def finish_request(self, request, address):
        if words.certificate:
            try:
                request = context.wrap_socket(request, server_side=True)
            except ssl.SSLError:
                return
        super().finish_request(request, address)


if words.certificate:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(words.certificate, words.key)
# As much as Riemann reads; Python reads 8 KiB.
socketserver.UDPServer.max_packet_size = 16384
udp = socketserver.UDPServer(("127.0.0.1", words.port), Datagram)
threading.Thread(target=udp.serve_forever, daemon=True).start()
server = Tcp(("127.0.0.1", words.port), Stream)
print("ready", flush=True)
server.serve_forever()
