// A cluster of one API server for tests: etcd and kube-apiserver in one process, without nodes. Pods are what is stored there.
//
//	kube FOLDER PORT
//
// FOLDER gets the data, the certificates (ca.crt is who signs) and the accounts: whoever shows `admin` may do everything, whoever shows
// another token that tokens.csv has, what RBAC says.
package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: kube FOLDER PORT")
		os.Exit(2)
	}
	folder, port := os.Args[1], os.Args[2]
	store := etcd(filepath.Join(folder, "etcd"))
	os.Args = os.Args[:1]
	command := app.NewAPIServerCommand()
	command.SetArgs([]string{
		"--etcd-servers=" + store,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + port,
		"--cert-dir=" + folder,
		"--tls-cert-file=" + filepath.Join(folder, "server.pem"),
		"--tls-private-key-file=" + filepath.Join(folder, "server.key"),
		"--token-auth-file=" + filepath.Join(folder, "tokens.csv"),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kube.test",
		"--service-account-key-file=" + filepath.Join(folder, "server.pem"),
		"--service-account-signing-key-file=" + filepath.Join(folder, "server.key"),
		"--service-cluster-ip-range=10.0.0.0/24",
		"--disable-admission-plugins=ServiceAccount",
		"--allow-privileged=true",
		"--endpoint-reconciler-type=none",
	})
	os.Exit(cli.Run(command))
}

// Starts etcd in a folder, at ports of its own choice; says where it is.
func etcd(folder string) string {
	config := embed.NewConfig()
	config.Dir = folder
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	nowhere := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.ListenClientUrls, config.ListenPeerUrls = []url.URL{nowhere}, []url.URL{nowhere}
	server, err := embed.StartEtcd(config)
	if err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		os.Exit(1)
	}
	<-server.Server.ReadyNotify()
	return "http://" + server.Clients[0].Addr().String()
}
