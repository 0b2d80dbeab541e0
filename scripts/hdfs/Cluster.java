// A cluster of HDFS in one process, for tests: a namenode and datanodes over a folder, which are there again after a kill.
// Arguments: folder, port of the namenode, port of its web interface, port that it listens at when it is ready, number of
// datanodes. For trials by hand: told `stop` there, it stops its first datanode, and `start` starts it again.

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSCluster.DataNodeProperties;

public class Cluster {
    public static void main(String[] arguments) throws Exception {
        File folder = new File(arguments[0]);
        Configuration configuration = new HdfsConfiguration();
        configuration.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, folder.getPath());
        // What is dead is noticed in seconds.
        configuration.setLong("dfs.heartbeat.interval", 1);
        configuration.setInt("dfs.namenode.heartbeat.recheck-interval", 1000);
        configuration.setInt("dfs.namenode.safemode.extension", 0);
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
                if ("stop".equals(word)) {
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
