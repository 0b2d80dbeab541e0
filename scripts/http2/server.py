"""A server of HTTP/2 on the library h2 that writes each line it takes down as a line of JSON, before it answers.

server.py PORT FILE [--certificate FILE --key FILE] [--only-http1] [--leave N] [--refuse N] [--large BYTES] [--slow SECONDS]

Without a certificate HTTP/2 is expected in the clear. With --only-http1 the server chooses HTTP/1.1 where it may. --leave: a connection is left
after so many requests, with GOAWAY, and what comes behind them is not looked at. --refuse: of so many requests one is reset before it is looked
at. --large: what says that its body is larger is answered with 413 before any of it is read.
"""
import argparse, contextlib, json, socket, ssl, threading, time
import h2.config, h2.connection, h2.errors, h2.events, h2.exceptions

words = argparse.ArgumentParser()
words.add_argument("port", type=int)
words.add_argument("file")
words.add_argument("--certificate")
words.add_argument("--key")
words.add_argument("--only-http1", action="store_true")
words.add_argument("--leave", type=int, default=0)
words.add_argument("--refuse", type=int, default=0)
words.add_argument("--large", type=int, default=1 << 40)
words.add_argument("--slow", type=float, default=0)
words = words.parse_args()
lock = threading.Lock()
counted = {"connections": 0, "requests": 0}


def count(what):
    with lock:
        counted[what] += 1
        return counted[what]


def write(body, about):
    lines = [json.dumps({"text": line, **about}) + "\n" for line in body.decode().splitlines()]
    with lock, open(words.file, "a") as out:
        out.write("".join(lines))


class Speaker:
    """One connection of HTTP/2."""

    def __init__(self, stream):
        self.stream, self.number = stream, count("connections")
        self.state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.asked, self.answered, self.is_left = {}, 0, False

    def run(self):
        self.state.initiate_connection()
        self.flush()
        while data := self.stream.recv(1 << 16):
            for event in self.state.receive_data(data):
                # What came together with the head of a request that is answered already needs nothing more.
                with contextlib.suppress(h2.exceptions.StreamClosedError):
                    self.hear(event)
            self.flush()
            if self.is_left:
                return

    def flush(self):
        self.stream.sendall(self.state.data_to_send())

    def hear(self, event):
        if isinstance(event, h2.events.RequestReceived):
            headers = dict(event.headers)
            if words.refuse and count("requests") % words.refuse == 0:
                self.state.reset_stream(event.stream_id, h2.errors.ErrorCodes.REFUSED_STREAM)
            elif int(headers.get("content-length", 0)) > words.large:
                self.answer(event.stream_id, 413)
                self.state.reset_stream(event.stream_id, h2.errors.ErrorCodes.NO_ERROR)
            else:
                self.asked[event.stream_id] = (headers, bytearray())
        elif isinstance(event, h2.events.DataReceived):
            self.state.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if event.stream_id in self.asked:
                self.asked[event.stream_id][1].extend(event.data)
        elif isinstance(event, h2.events.StreamReset):
            self.asked.pop(event.stream_id, None)
        elif isinstance(event, h2.events.StreamEnded) and event.stream_id in self.asked:
            headers, body = self.asked.pop(event.stream_id)
            time.sleep(words.slow)
            about = {name: headers.get(name) for name in (":authority", ":path", ":scheme", "host", "user-agent", "x-own")}
            write(body, {"version": "2", "connection": self.number, **about})
            self.answer(event.stream_id, 200)
            self.answered += 1
            if words.leave and self.answered >= words.leave:
                self.state.close_connection(last_stream_id=event.stream_id)
                self.is_left = True

    def answer(self, stream, status):
        self.state.send_headers(stream, [(":status", str(status)), ("content-length", "2")])
        self.state.send_data(stream, b"{}", end_stream=True)


def speak_http1(stream):
    """One connection of HTTP/1.1, as far as penstock needs it."""
    reader, number = stream.makefile("rb"), count("connections")
    while head := reader.readline():
        headers = {}
        while line := reader.readline().strip():
            name, value = line.decode().split(":", 1)
            headers[name.lower()] = value.strip()
        body = reader.read(int(headers["content-length"]))
        write(body, {"version": head.split()[-1].decode(), "connection": number, ":authority": headers.get("host")})
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")


def serve(stream, context):
    try:
        if context:
            stream = context.wrap_socket(stream, server_side=True)
        with stream:
            if context and stream.selected_alpn_protocol() != "h2":
                speak_http1(stream)
            else:
                Speaker(stream).run()
    except (OSError, h2.exceptions.ProtocolError):
        pass  # the other end is gone


context = None
if words.certificate:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(words.certificate, words.key)
    context.set_alpn_protocols(["http/1.1"] if words.only_http1 else ["h2", "http/1.1"])
listener = socket.create_server(("127.0.0.1", words.port))
print("ready", flush=True)
while True:
    taken = listener.accept()[0]
    threading.Thread(target=serve, args=(taken, context), daemon=True).start()
