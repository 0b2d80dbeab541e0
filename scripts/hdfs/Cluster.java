// A cluster of HDFS in one process, for tests: a namenode and datanodes over a folder, which are there again after a kill.
// Arguments: folder, port of the namenode, port of its web interface, port that it listens at when it is ready, number of
// datanodes; with Kerberos a principal and the file of its keys. Told `read PATH` there, it says what is in a file, and `folder PATH`
// makes one that everybody may write to. For trials by hand: `stop` stops its first datanode, and `start` starts it again.

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSCluster.DataNodeProperties;
import org.apache.hadoop.security.SecurityUtil;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.UserGroupInformation.AuthenticationMethod;

public class Cluster {
    /** With Kerberos: everybody of the cluster is this principal, whose keys are in the file. */
    private static void secure(Configuration configuration, String principal, String keytab) throws Exception {
        SecurityUtil.setAuthenticationMethod(AuthenticationMethod.KERBEROS, configuration);
        for (String who : new String[] {"namenode", "datanode", "web.authentication"}) {
            configuration.set("dfs." + who + ".kerberos.principal", principal);
        }
        configuration.set("dfs.namenode.keytab.file", keytab);
        configuration.set("dfs.datanode.keytab.file", keytab);
        configuration.set("dfs.web.authentication.kerberos.keytab", keytab);
        configuration.setBoolean("dfs.block.access.token.enable", true);
        configuration.set("dfs.data.transfer.protection", "authentication,privacy");
        configuration.setBoolean("ignore.secure.ports.for.testing", true);
        UserGroupInformation.setConfiguration(configuration);
        UserGroupInformation.loginUserFromKeytab(principal, keytab);
    }

    public static void main(String[] arguments) throws Exception {
        File folder = new File(arguments[0]);
        Configuration configuration = new HdfsConfiguration();
        configuration.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, folder.getPath());
        // What is dead is noticed in seconds.
        configuration.setLong("dfs.heartbeat.interval", 1);
        configuration.setInt("dfs.namenode.heartbeat.recheck-interval", 1000);
        configuration.setInt("dfs.namenode.safemode.extension", 0);
        if (arguments.length > 5) {
            secure(configuration, arguments[5], arguments[6]);
        }
        MiniDFSCluster cluster = new MiniDFSCluster.Builder(configuration)
            .nameNodePort(Integer.parseInt(arguments[1]))
            .nameNodeHttpPort(Integer.parseInt(arguments[2]))
            .numDataNodes(Integer.parseInt(arguments[4]))
            .format(!new File(folder, "name-0-1").exists())
            .build();
        cluster.waitActive();
        DataNodeProperties stopped = null;
        ServerSocket asked = new ServerSocket(Integer.parseInt(arguments[3]), 8, InetAddress.getLoopbackAddress());
        while (true) {
            try (Socket socket = asked.accept()) {
                String word = new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine();
                if (word != null && word.startsWith("read ")) {
                    try (InputStream file = cluster.getFileSystem().open(new Path(word.substring(5)))) {
                        file.transferTo(socket.getOutputStream());
                    }
                    continue;
                } else if (word != null && word.startsWith("folder ")) {
                    Path path = new Path(word.substring(7));
                    cluster.getFileSystem().mkdirs(path);
                    cluster.getFileSystem().setPermission(path, new FsPermission((short) 0777));
                } else if ("stop".equals(word)) {
                    stopped = cluster.stopDataNode(0);
                } else if ("start".equals(word)) {
                    cluster.restartDataNode(stopped, true);
                    cluster.waitActive();
                }
                socket.getOutputStream().write("done\n".getBytes());
            }
        }
    }
}
