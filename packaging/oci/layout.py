"""Writes an OCI image layout of one layer from a folder: image-spec 1.0, the same bytes for the same folder.

Usage: layout.py FOLDER LAYOUT ARCHITECTURE VERSION EPOCH
"""

import datetime
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile

USER = 10514  # penstock, in /etc/passwd of the image
# Of a line that the image prints; `-e PENSTOCK_TEMPLATE=...` is another.
TEMPLATE = "$ISODATE $HOST $MSGHDR$MSG"
OWNED = ("var/lib/penstock", "var/log/penstock", "run/penstock")


def layer(folder, epoch):
    """The folder as a tar archive: sorted, of root, or of USER where the program writes."""
    text = io.BytesIO()
    with tarfile.open(fileobj=text, mode="w", format=tarfile.GNU_FORMAT) as tar:
        paths = []
        for where, folders, files in os.walk(folder):
            paths += [os.path.join(where, name) for name in folders + files]
        for path in sorted(paths):
            name = os.path.relpath(path, folder)
            info = tar.gettarinfo(path, arcname=name)
            info.mtime, info.uname, info.gname = epoch, "", ""
            info.uid = info.gid = USER if name.startswith(OWNED) else 0
            if info.isreg():
                # Two names of one file are two files, whatever the file system says.
                info.type, info.linkname, info.size = tarfile.REGTYPE, "", os.path.getsize(path)
                with open(path, "rb") as content:
                    tar.addfile(info, content)
            else:
                tar.addfile(info)
    return text.getvalue()


def main(folder, layout, architecture, version, epoch):
    epoch = int(epoch)
    blobs = os.path.join(layout, "blobs", "sha256")
    os.makedirs(blobs, exist_ok=True)

    def blob(data, media_type):
        digest = hashlib.sha256(data).hexdigest()
        with open(os.path.join(blobs, digest), "wb") as out:
            out.write(data)
        return {"mediaType": media_type, "digest": "sha256:" + digest, "size": len(data)}

    def as_json(value):
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()

    archive = layer(folder, epoch)
    packed = blob(gzip.compress(archive, 9, mtime=0), "application/vnd.oci.image.layer.v1.tar+gzip")
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    run = ["/usr/bin/penstock", "run", "--config", "/etc/penstock/penstock.conf", "--state-dir", "/var/lib/penstock"]
    health = ["CMD", "/usr/bin/penstock", "ctl", "healthcheck", "--control", "/var/lib/penstock/penstock.ctl"]
    config = {
        "architecture": architecture,
        "os": "linux",
        "created": created,
        "config": {
            "User": f"{USER}:{USER}",
            "Entrypoint": run,
            "Env": ["PATH=/usr/bin", "SSL_CERT_DIR=/etc/ssl/certs", f"PENSTOCK_TEMPLATE={TEMPLATE}"],
            "ExposedPorts": {"5514/tcp": {}, "5514/udp": {}, "5601/tcp": {}},
            "Volumes": {"/var/lib/penstock": {}, "/var/log/penstock": {}},
            "StopSignal": "SIGTERM",
            "WorkingDir": "/",
            "Healthcheck": {"Test": health, "Interval": 30_000_000_000, "Timeout": 5_000_000_000, "Retries": 3},
            "Labels": {"org.opencontainers.image.title": "penstock", "org.opencontainers.image.version": version,
                       "org.opencontainers.image.licenses": "Apache-2.0"},
        },
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(archive).hexdigest()]},
        "history": [{"created": created, "created_by": "scripts/package oci"}],
    }
    config = blob(as_json(config), "application/vnd.oci.image.config.v1+json")
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
                "layers": [packed]}
    manifest = blob(as_json(manifest), "application/vnd.oci.image.manifest.v1+json")
    manifest["annotations"] = {"org.opencontainers.image.ref.name": version}
    with open(os.path.join(layout, "index.json"), "wb") as out:
        out.write(as_json({"schemaVersion": 2, "manifests": [manifest]}))
    with open(os.path.join(layout, "oci-layout"), "w", encoding="ascii") as out:
        out.write('{"imageLayoutVersion":"1.0.0"}')


main(*sys.argv[1:])
