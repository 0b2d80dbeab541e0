"""A mail server on aiosmtpd that writes each mail down as a line of JSON.

server.py PORT FILE [--certificate FILE --key FILE [--whole]] [--login USER PASSWORD] [--refuse TEXT]

Nobody may send to nobody@...; later@... can have nothing while the file FILE.busy is there.
"""
import argparse, email, email.policy, json, os, ssl, threading
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult

words = argparse.ArgumentParser()
words.add_argument("port", type=int)
words.add_argument("file")
words.add_argument("--certificate")
words.add_argument("--key")
words.add_argument("--whole", action="store_true")
words.add_argument("--login", nargs=2)
words.add_argument("--refuse", help="mails with this text are none")
words = words.parse_args()


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 5.1.1 no such user"
        if address.startswith("later@") and os.path.exists(words.file + ".busy"):
            return "450 4.2.0 come again"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        if "bad" in str(mail["subject"]) and not words.refuse or words.refuse and words.refuse in mail.get_content():
            return "554 5.6.0 this is spam"
        line = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "headers": [[name, str(value)] for name, value in mail.items()],
            "body": mail.get_content(),
            "tls": session.ssl is not None or words.whole,
        }
        with open(words.file, "a") as out:
            out.write(json.dumps(line) + "\n")
        return "250 OK"


def log_in(server, session, envelope, mechanism, data):
    good = [data.login.decode(), data.password.decode()] == words.login
    return AuthResult(success=good, handled=good)


context = None
if words.certificate:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(words.certificate, words.key)
more = {"data_size_limit": 1000000}
if words.login:
    more.update(authenticator=log_in, auth_required=True, auth_require_tls=False)
if context and not words.whole:
    more.update(tls_context=context, require_starttls=True)


class Server(Controller):
    def factory(self):
        return SMTP(self.handler, hostname="test", **more)


server = Server(Handler(), hostname="127.0.0.1", port=words.port, ssl_context=context if words.whole else None)
server.start()
print("ready", flush=True)
threading.Event().wait()
