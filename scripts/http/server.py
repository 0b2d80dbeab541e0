"""What is spoken to over HTTP: requests of lines, bulk requests of Elasticsearch, events of Splunk. Each message is written down as a line of JSON
before it is answered.

server.py PORT FILE [--certificate FILE --key FILE] [--token WORD] [--refuse TEXT]

A request without the token is answered as its service does. A message with the text is never taken: a request of lines is refused with all that
is in it, an event of Splunk by its number, a document by itself.
"""
import argparse, gzip, http.server, json, os, ssl, threading, zlib

words = argparse.ArgumentParser()
words.add_argument("port", type=int)
words.add_argument("file")
words.add_argument("--certificate")
words.add_argument("--key")
words.add_argument("--token")
words.add_argument("--refuse")
words = words.parse_args()
lock = threading.Lock()


def known():
    """Ids of documents, over a kill too."""
    if not os.path.exists(words.file):
        return set()
    found = set()
    with open(words.file) as lines:
        for line in lines:
            try:
                found.add(json.loads(line).get("id"))
            except ValueError:
                pass  # cut by a kill
    return found


ids = known()


def write(messages):
    with lock, open(words.file, "a") as out:
        out.write("".join(json.dumps(message) + "\n" for message in messages))


def is_bad(text):
    return words.refuse is not None and words.refuse in text


def events(body):
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(body):
        event, at = decoder.raw_decode(body, at)
        found.append(event)
        while at < len(body) and body[at] in " \r\n":
            at += 1
    return found


def splunk(body):
    found = events(body)
    for number, event in enumerate(found):
        if is_bad(str(event["event"])):
            # Those in front of it are indexed already.
            write({"text": event["event"], "host": event.get("host")} for event in found[:number])
            return 400, {"text": "Invalid data format", "code": 6, "invalid-event-number": number}
    write({"text": event["event"], "host": event.get("host")} for event in found)
    return 200, {"text": "Success", "code": 0}


def bulk(body):
    lines, items, taken = body.splitlines(), [], []
    for action, document in zip(lines[::2], lines[1::2]):
        (kind, about), = json.loads(action).items()
        document, name = json.loads(document), about.get("_id")
        if is_bad(document["text"]):
            reason = {"type": "mapper_parsing_exception", "reason": "failed to parse field [text]"}
            items.append({kind: {"status": 400, "error": reason}})
        elif kind == "create" and name in ids:
            items.append({kind: {"status": 409, "error": {"type": "version_conflict_engine_exception", "reason": "it exists"}}})
        else:
            ids.add(name)
            taken.append({"text": document["text"], "id": name})
            items.append({kind: {"status": 201}})
    write(taken)
    return 200, {"errors": len(taken) < len(items), "items": items}


def lines(body):
    found = body.splitlines()
    if any(map(is_bad, found)):
        return 400, {"error": "not such a line"}
    write({"text": line} for line in found)
    return 200, {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        coding = self.headers.get("Content-Encoding")
        body = gzip.decompress(body) if coding == "gzip" else zlib.decompress(body) if coding == "deflate" else body
        is_splunk = self.path.startswith("/services/collector/")
        if words.token and self.headers.get("Authorization", "").split(" ")[-1] != words.token:
            status, answer = (403, {"text": "Invalid token", "code": 4}) if is_splunk else (401, {"error": "who are you?"})
        else:
            serve = splunk if is_splunk else bulk if self.path.startswith("/_bulk") else lines
            status, answer = serve(body.decode())
        answer = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass


server = Server(("127.0.0.1", words.port), Handler)
if words.certificate:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(words.certificate, words.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
print("ready", flush=True)
server.serve_forever()
