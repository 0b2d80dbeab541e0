"""Servers of `./x servers`, started with data in a folder that goes with them: what a driver says to reach one, and how many messages it has."""
import json, os, pathlib, pwd, shutil, socket, subprocess, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SERVERS = ROOT / "target/servers"
COLUMNS = 'columns("pri text", "stamp text", "host text", "tag text", "msg text") values("$PRI", "$DATE", "$HOST", "$MSGHDR", "$MSG")'
TEXT = "$DATE $HOST $MSGHDR$MSG"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait(what, reached, seconds=120):
    until = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > until:
            raise SystemExit(f"gave up waiting: {what}")
        time.sleep(0.02)


def listens(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def said(command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


class Server:
    """A process, what the driver says to reach it, how many messages it has."""

    # The driver is a block of the configuration library.
    library = False

    def __init__(self, folder):
        self.folder, self.port, self.process = folder, free_port(), None
        os.chmod(folder, 0o755)

    def start(self, command, port=None, **more):
        log = open(self.folder / "server.log", "ab")
        self.process = subprocess.Popen(command, stdout=log, stderr=log, **more)
        wait("the server", lambda: listens(port or self.port))

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def compared(self, messages):
        """What another client takes for the same messages, where there is one."""
        return ""

    def look(self):
        """How somebody sees what is there."""
        return ""

    def rsyslog(self):
        """The module, and the action of it, that does the same in the distribution's rsyslog."""
        return None

    def syslog_ng(self):
        """The driver, where the distribution's syslog-ng has one without a library of its own beside it."""
        return None


def unprivileged(command):
    return ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"] + command if os.geteuid() == 0 else command


class Postgresql(Server):
    def __init__(self, folder):
        super().__init__(folder)
        self.bin = sorted(pathlib.Path("/usr/lib/postgresql").iterdir())[-1] / "bin"
        data = folder / "data"
        data.mkdir()
        shutil.chown(data, "nobody")
        said(unprivileged([self.bin / "initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "-D", data]))
        self.start(unprivileged([self.bin / "postgres", "-D", data, "-p", str(self.port), "-k", data, "-c", "shared_buffers=256MB", "-c", "max_wal_size=4GB"]))
        wait("PostgreSQL", lambda: subprocess.run([self.bin / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode == 0)

    def driver(self):
        return f'sql(type(pgsql) host("127.0.0.1") port({self.port}) username(postgres) database(postgres) {COLUMNS})'

    def query(self, text):
        return said(["psql", "-XAtq", "-U", "postgres", "-h", "127.0.0.1", "-p", str(self.port), "-c", text]).strip()

    def count(self):
        return int(self.query("SELECT count(DISTINCT msg) FROM messages"))

    def rsyslog(self):
        self.query("CREATE TABLE messages (pri text, stamp text, host text, tag text, msg text)")
        return "ompgsql", (
            'template(name="row" type="string" option.stdsql="on" string="INSERT INTO messages VALUES '
            "('%pri%', '%timestamp%', '%hostname%', '%syslogtag%', '%msg%')\")\n",
            f'type="ompgsql" server="127.0.0.1" port="{self.port}" user="postgres" pass="" db="postgres" template="row"')

    def look(self):
        return f"psql -U postgres -h 127.0.0.1 -p {self.port} -c 'SELECT * FROM messages'"

    def compared(self, messages):
        """psql's own COPY of the same rows into a table like it."""
        rows = self.folder / "rows"
        self.query(f"\\copy messages TO '{rows}'")
        self.query("CREATE TABLE again (LIKE messages)")
        began = time.monotonic()
        self.query(f"\\copy again FROM '{rows}'")
        return f"psql \\copy {messages / (time.monotonic() - began) / 1000:.0f}k/s"


class Mariadb(Server):
    def __init__(self, folder):
        super().__init__(folder)
        data = folder / "data"
        os.chmod(folder, 0o777)
        said(unprivileged(["mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", f"--datadir={data}"]), cwd="/")
        self.start(unprivileged([
            "/usr/sbin/mariadbd", "--no-defaults", "--bind-address=127.0.0.1", f"--datadir={data}", f"--port={self.port}",
            f"--socket={folder}/socket", f"--pid-file={folder}/pid", "--innodb-buffer-pool-size=256M", "--innodb-log-file-size=512M",
        ]))
        self.query("CREATE DATABASE logs; CREATE USER log@'127.0.0.1' IDENTIFIED BY 'secret'; GRANT ALL ON logs.* TO log@'127.0.0.1'")

    def driver(self):
        return f'sql(type(mysql) host("127.0.0.1") port({self.port}) username(log) password(secret) database(logs) {COLUMNS})'

    def query(self, text):
        return said(["mariadb", "--no-defaults", "-N", "-B", "-u", "root", "-S", f"{self.folder}/socket", "-e", text]).strip()

    def count(self):
        return int(self.query("SELECT count(DISTINCT msg) FROM logs.messages"))

    def look(self):
        return f"mariadb -u root -S {self.folder}/socket logs -e 'SELECT * FROM messages'"


class Sqlite(Server):
    def driver(self):
        return f'sql(type(sqlite3) database("{self.folder}/logs.db") {COLUMNS})'

    def count(self):
        return int(said(["sqlite3", self.folder / "logs.db", "SELECT count(DISTINCT msg) FROM messages"]))

    def look(self):
        return f"sqlite3 {self.folder}/logs.db 'SELECT * FROM messages'"


class Redis(Server):
    def __init__(self, folder):
        super().__init__(folder)
        self.start(["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", ""], cwd=folder)

    def driver(self):
        return f'redis(host("127.0.0.1") port({self.port}) command(RPUSH logs "{TEXT}"))'

    def count(self):
        return int(said(["redis-cli", "-p", str(self.port), "LLEN", "logs"]))

    def syslog_ng(self):
        return self.driver()

    def look(self):
        return f"redis-cli -p {self.port} LRANGE logs 0 -1"


class Kafka(Server):
    more = ""

    def java(self, *arguments):
        return ["java", "-Xmx512m", "-XX:+UseSerialGC", "-cp", f"{SERVERS}/kafka/lib/*", *arguments]

    def __init__(self, folder):
        super().__init__(folder)
        controller = free_port()
        (folder / "properties").write_text(
            f"process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:{controller}\n"
            f"listeners=PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller}\nadvertised.listeners=PLAINTEXT://127.0.0.1:{self.port}\n"
            "controller.listener.names=CONTROLLER\nlistener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT\n"
            f"log.dirs={folder}/data\noffsets.topic.replication.factor=1\ntransaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\n"
        )
        said(self.java("kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c", folder / "properties"))
        self.start(self.java("kafka.Kafka", folder / "properties"), cwd=folder)
        said(self.java("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", f"127.0.0.1:{self.port}", "--create", "--topic", "bench", "--partitions", "3"))

    def driver(self):
        return f'kafka(bootstrap-servers("127.0.0.1:{self.port}") topic("bench") message("{TEXT}") {self.more})'

    def count(self):
        text = said(self.java("org.apache.kafka.tools.GetOffsetShell", "--bootstrap-server", f"127.0.0.1:{self.port}", "--topic", "bench"))
        return sum(int(line.rsplit(":", 1)[1]) for line in text.split())

    def syslog_ng(self):
        return self.driver().replace("kafka(", "kafka-c(", 1)

    def rsyslog(self):
        codec = self.more.split('"')[3] if self.more else "none"
        return "omkafka", ("", f'type="omkafka" broker="127.0.0.1:{self.port}" topic="bench" template="RSYSLOG_TraditionalFileFormat" '
                           f'confParam=["compression.codec={codec}","acks=all"]')

    def look(self):
        return (f"java -cp '{SERVERS}/kafka/lib/*' org.apache.kafka.tools.consumer.ConsoleConsumer --bootstrap-server 127.0.0.1:{self.port} "
                "--topic bench --from-beginning")


class KafkaLz4(Kafka):
    more = 'config("compression.codec" => "lz4")'


class KafkaZstd(Kafka):
    more = 'config("compression.codec" => "zstd" "compression.level" => "1")'


class S3(Server):
    def __init__(self, folder):
        super().__init__(folder)
        (folder / "objects/logs").mkdir(parents=True)
        self.start([SERVERS / "s3/bin/versitygw", "--access", "a", "--secret", "s", "--port", f"127.0.0.1:{self.port}", "posix", folder / "objects"])

    def driver(self):
        return (f's3(url("http://127.0.0.1:{self.port}") bucket("logs") access-key("a") secret-key("s") object-key("log") '
                f'template("{TEXT}\\n") max-object-size(16MiB) disk-buffer(reliable(yes) capacity-bytes(4GiB) dir("{self.folder}")))')

    def count(self):
        return sum(path.read_bytes().count(b"\n") for path in (self.folder / "objects/logs").rglob("*") if path.is_file())

    def look(self):
        return f"find {self.folder}/objects/logs -type f"


class Hdfs(Server):
    def __init__(self, folder):
        super().__init__(folder)
        self.web, asked = free_port(), free_port()
        there = SERVERS / "hdfs"
        self.start(["java", "-Xmx768m", "-XX:+UseSerialGC", "-cp", f"{there}:{there}/lib/*", "Cluster", folder / "disks", str(self.port), str(self.web), str(asked), "1"],
                   port=asked, cwd=folder)

    def driver(self):
        return f'hdfs(hdfs-uri("hdfs://127.0.0.1:{self.port}") hdfs-file("/logs/log") template("{TEXT}\\n"))'

    def count(self):
        user = pwd.getpwuid(os.geteuid()).pw_name
        url = f"http://127.0.0.1:{self.web}/webhdfs/v1/logs/log?op=OPEN&user.name={user}"
        return subprocess.run(["curl", "-sL", url], check=True, capture_output=True).stdout.count(b"\n")

    def look(self):
        return f"curl -sL 'http://127.0.0.1:{self.web}/webhdfs/v1/logs/log?op=OPEN&user.name={pwd.getpwuid(os.geteuid()).pw_name}'"


class Opensearch(Server):
    library = True

    def __init__(self, folder):
        super().__init__(folder)
        there, between = SERVERS / "opensearch", free_port()
        shutil.copytree(there / "home/config", folder / "config")
        (folder / "tmp").mkdir()
        (folder / "config/opensearch.yml").write_text(
            f"discovery.type: single-node\nhttp.port: {self.port}\ntransport.port: {between}\nnetwork.host: 127.0.0.1\n"
            f"path.data: {folder}/data\npath.logs: {folder}/logs\ncluster.routing.allocation.disk.threshold_enabled: false\n")
        words = {"JAVA_HOME": (there / "java").read_text().strip(), "PATH_CONF": folder / "config", "TMPDIR": folder / "tmp", "JAVA_OPTS": "-Xms1g -Xmx1g"}
        # It refuses to run as root; here it only believes that it does not.
        away = ["unshare", "--user", "--map-user=1000", "--map-group=1000"] if os.geteuid() == 0 else []
        self.start(away + [there / "home/bin/opensearch"], env={**os.environ, **{f"OPENSEARCH_{name}": str(value) for name, value in words.items()}})
        wait("OpenSearch", lambda: subprocess.run(["curl", "-sf", "-o", "/dev/null", self.url("_cluster/health")]).returncode == 0)

    def url(self, path):
        return f"http://127.0.0.1:{self.port}/{path}"

    def driver(self):
        return f'opensearch(url("{self.url("_bulk")}") index("logs") custom-id(auto) op-type("create") workers(2) batch-lines(5000))'

    def count(self):
        said(["curl", "-sf", "-X", "POST", self.url("logs/_refresh")])
        return json.loads(said(["curl", "-sf", self.url("logs/_count")]))["count"]

    def rsyslog(self):
        return "omelasticsearch", (
            'template(name="document" type="list" option.jsonf="on") { property(outname="DATE" name="timestamp" format="jsonf") property(outname="HOST" '
            'name="hostname" format="jsonf") property(outname="PROGRAM" name="programname" format="jsonf") property(outname="MESSAGE" name="msg" format="jsonf") }\n',
            f'type="omelasticsearch" server="127.0.0.1" serverport="{self.port}" searchIndex="logs" searchType="" bulkmode="on" template="document"')

    def look(self):
        return f"curl '{self.url('logs/_search?pretty')}'"


class Mongodb(Server):
    def __init__(self, folder):
        super().__init__(folder)
        there = SERVERS / "mongodb"
        self.start(["java", "-Xmx256m", "-cp", f"{there}:{there}/lib/*", "Server", str(self.port)], cwd=folder)

    def driver(self):
        return f'mongodb(uri("mongodb://127.0.0.1:{self.port}/syslog") collection("messages"))'

    def asked(self, what):
        text = f"import pymongo; print({what.replace('MESSAGES', f'pymongo.MongoClient(port={self.port}).syslog.messages')})"
        return [SERVERS / "mongodb/python/bin/python", "-c", text]

    def count(self):
        return int(said(self.asked("MESSAGES.count_documents({})")))

    def look(self):
        python, flag, text = self.asked("list(MESSAGES.find())")
        return f"{python} {flag} '{text}'"


class Mosquitto(Server):
    def __init__(self, folder):
        super().__init__(folder)
        (folder / "conf").write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\n")
        self.start(["mosquitto", "-c", folder / "conf"], cwd=folder)

    def driver(self):
        return f'mqtt(address("tcp://127.0.0.1:{self.port}") topic("logs/$HOST") template("{TEXT}") qos(1))'

    def look(self):
        return f"mosquitto_sub -p {self.port} -t 'logs/#'"


class Otelcol(Server):
    def __init__(self, folder):
        super().__init__(folder)
        out = folder / "requests"
        (folder / "conf.yaml").write_text(
            f'receivers: {{otlp: {{protocols: {{grpc: {{endpoint: "127.0.0.1:{self.port}"}}}}}}}}\n'
            f'exporters: {{file: {{path: "{out}", rotation: {{max_megabytes: 10000}}}}}}\n'
            "service: {telemetry: {metrics: {level: none}}, pipelines: {logs: {receivers: [otlp], exporters: [file]}}}\n")
        self.start([SERVERS / "otelcol/otelcol", "--config", f"file:{folder}/conf.yaml"], cwd=folder)

    def driver(self):
        return f'opentelemetry(url("127.0.0.1:{self.port}") batch-lines(10000))'

    def count(self):
        return (self.folder / "requests").read_bytes().count(b'"body":{')

    def look(self):
        return f"tail -n 1 {self.folder}/requests"


class PubSub(Server):
    """Its fake looks through all that it has each time: some 20,000 messages are enough."""

    def __init__(self, folder):
        super().__init__(folder)
        self.start([SERVERS / "pubsub/pubsub", str(self.port), "projects/p/topics/logs", folder / "messages"], cwd=folder)

    def driver(self):
        return f'google-pubsub-grpc(service-endpoint("127.0.0.1:{self.port}") project("p") topic("logs") data("{TEXT}"))'

    def count(self):
        time.sleep(1)
        return (self.folder / "messages").read_bytes().count(b"\n")

    def look(self):
        return f"tail -n 1 {self.folder}/messages"


KINDS = {"postgresql": Postgresql, "mariadb": Mariadb, "sqlite": Sqlite, "redis": Redis, "kafka": Kafka, "kafka-lz4": KafkaLz4,
         "kafka-zstd": KafkaZstd, "s3": S3, "hdfs": Hdfs, "mongodb": Mongodb, "opensearch": Opensearch, "mosquitto": Mosquitto, "kafka-source": Kafka,
         "otelcol": Otelcol, "pubsub": PubSub}
