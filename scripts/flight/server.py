"""A server of Arrow Flight for tests: pyarrow's own. Rows that were put stand in a file, one line of JSON each, before the answer."""

import argparse
import json
import os

import pyarrow.flight as flight

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--out", required=True)
parser.add_argument("--refuse", help="a call with this text in a value is refused")
parser.add_argument("--busy", help="while this file is there, the server is not available")
parser.add_argument("--token", help="what the header authorization has to say")
parser.add_argument("--cert")
parser.add_argument("--key")
options = parser.parse_args()


def plain(value):
    return value.isoformat() if hasattr(value, "isoformat") else value


class Guard(flight.ServerMiddlewareFactory):
    def start_call(self, info, headers):
        if headers.get("authorization") != [options.token]:
            raise flight.FlightUnauthenticatedError("who are you?")


class Server(flight.FlightServerBase):
    def do_put(self, context, descriptor, reader, writer):
        if options.busy and os.path.exists(options.busy):
            raise flight.FlightUnavailableError("busy")
        table = reader.read_all()
        rows = [{name: plain(value) for name, value in row.items()} for row in table.to_pylist()]
        if options.refuse and any(options.refuse in str(value) for row in rows for value in row.values()):
            raise ValueError("a wrong value")
        path = "/".join(part.decode() for part in descriptor.path)
        types = {field.name: str(field.type) for field in table.schema}
        with open(options.out, "a", encoding="utf-8") as out:
            out.writelines(json.dumps({"path": path, "types": types, "row": row}) + "\n" for row in rows)


scheme = "grpc+tls" if options.cert else "grpc"
pairs = []
if options.cert:
    pairs = [(open(options.cert, "rb").read(), open(options.key, "rb").read())]
guard = {"guard": Guard()} if options.token else None
Server(f"{scheme}://127.0.0.1:{options.port}", tls_certificates=pairs, middleware=guard).serve()
