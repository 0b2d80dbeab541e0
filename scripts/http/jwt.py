#!/usr/bin/env python3
"""Google's own library on tokens of service accounts. `make FILE` writes the key of an account to FILE and
its public half to FILE.pem; `read FILE AUDIENCE` reads a token and prints what it claims, or fails."""

import json
import sys

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import jwt

word, path = sys.argv[1:3]
if word == "make":
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"client_email": "me@example.com", "private_key_id": "one", "private_key": pem.decode()}, file)
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    with open(path + ".pem", "wb") as file:
        file.write(public)
else:
    with open(path + ".pem", encoding="utf-8") as file:
        public = file.read()
    audience = sys.argv[3] if len(sys.argv) > 3 else None
    print(json.dumps(jwt.decode(sys.stdin.read().strip(), certs=public, audience=audience)))
