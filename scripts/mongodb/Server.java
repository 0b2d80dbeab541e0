// An in-memory server that speaks MongoDB's protocol, for tests: there is no MongoDB in any registry. `Server PORT [KEY CERTIFICATE]`;
// with files of a key and its certificate (PEM) connections are encrypted.
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;

public class Server {
    public static void main(String[] args) throws Exception {
        MemoryBackend backend = new MemoryBackend();
        // Its own newest version is too old for current clients; all that these ask of it is there.
        backend.version(new MongoVersion() {
            public List<Integer> getVersionArray() { return List.of(7, 0, 0); }
            public int getWireVersion() { return 21; }
        });
        MongoServer server = new MongoServer(backend);
        if (args.length == 3) {
            String text = Files.readString(Path.of(args[1])).replaceAll("-----[A-Z ]*-----", "").replaceAll("\\s", "");
            PrivateKey key = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(text)));
            try (var file = Files.newInputStream(Path.of(args[2]))) {
                var all = CertificateFactory.getInstance("X.509").generateCertificates(file);
                server.enableSsl(key, null, all.toArray(new X509Certificate[0]));
            }
        }
        server.bind("127.0.0.1", Integer.parseInt(args[0]));
    }
}
