// Pub/Sub's own fake, for tests: it has the topic that the command line names, and writes down what is published.
// With a subscription and a second port it can be told over HTTP what to publish, and asked what became of it;
// with a third port, a certificate and its key it speaks TLS there.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"cloud.google.com/go/pubsub/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/pstest"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

type message struct {
	ID         string            `json:"id,omitempty"`
	Data       string            `json:"data"`
	Attributes map[string]string `json:"attributes"`
	Key        string            `json:"key,omitempty"`
}

// What became of a message.
type fate struct {
	Data       string `json:"data"`
	Deliveries int    `json:"deliveries"`
	Acks       int    `json:"acks"`
	// Seconds of each request to move its deadline.
	Modified []int32 `json:"modified"`
}

// Acknowledge calls that are still to be refused.
type refusing struct{ left atomic.Int64 }

func (r *refusing) React(any) (bool, any, error) {
	if r.left.Add(-1) >= 0 {
		return true, nil, status.Error(codes.Unavailable, "not now")
	}
	r.left.Store(0)
	return false, nil, nil
}

func main() {
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	out, err := os.Create(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	refused := &refusing{}
	server := pstest.NewServerWithPort(port, pstest.ServerReactorOption{FuncName: "Acknowledge", Reactor: refused})
	if _, err := server.GServer.CreateTopic(context.Background(), &pubsubpb.Topic{Name: os.Args[2]}); err != nil {
		log.Fatal(err)
	}
	if len(os.Args) > 5 {
		subscription := &pubsubpb.Subscription{Name: os.Args[4], Topic: os.Args[2], AckDeadlineSeconds: 10}
		if _, err := server.GServer.CreateSubscription(context.Background(), subscription); err != nil {
			log.Fatal(err)
		}
		go control(server, refused, os.Args[2], os.Args[5])
	}
	if len(os.Args) > 8 {
		go encrypted(os.Args[1], os.Args[6], os.Args[7], os.Args[8])
	}
	written := 0
	for {
		all := server.Messages()
		for ; written < len(all); written++ {
			line, _ := json.Marshal(message{ID: all[written].ID, Data: string(all[written].Data), Attributes: all[written].Attributes})
			out.Write(append(line, '\n'))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// The same server with TLS, on a third port.
func encrypted(plain, port, certificate, key string) {
	identity, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		log.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{identity}, NextProtos: []string{"h2"}}
	listener, err := tls.Listen("tcp", "127.0.0.1:"+port, config)
	if err != nil {
		log.Fatal(err)
	}
	for {
		client, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			defer client.Close()
			inner, err := net.Dial("tcp", "localhost:"+plain)
			if err != nil {
				return
			}
			defer inner.Close()
			go func() {
				io.Copy(inner, client)
				inner.Close()
			}()
			io.Copy(client, inner)
		}()
	}
}

func control(server *pstest.Server, refused *refusing, topic, port string) {
	http.HandleFunc("/publish", func(w http.ResponseWriter, r *http.Request) {
		var messages []message
		if err := json.NewDecoder(r.Body).Decode(&messages); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		for _, m := range messages {
			server.PublishOrdered(topic, []byte(m.Data), m.Attributes, m.Key)
		}
	})
	http.HandleFunc("/fates", func(w http.ResponseWriter, r *http.Request) {
		fates := []fate{}
		for _, m := range server.Messages() {
			f := fate{Data: string(m.Data), Deliveries: m.Deliveries, Acks: m.Acks, Modified: []int32{}}
			for _, modack := range m.Modacks {
				f.Modified = append(f.Modified, modack.AckDeadline)
			}
			fates = append(fates, f)
		}
		json.NewEncoder(w).Encode(fates)
	})
	// Refuses so many calls of Acknowledge.
	http.HandleFunc("/refuse", func(w http.ResponseWriter, r *http.Request) {
		count, _ := strconv.Atoi(r.URL.Query().Get("count"))
		refused.left.Store(int64(count))
	})
	// Ends each stream after so long.
	http.HandleFunc("/end", func(w http.ResponseWriter, r *http.Request) {
		ms, _ := strconv.Atoi(r.URL.Query().Get("ms"))
		server.SetStreamTimeout(time.Duration(ms) * time.Millisecond)
	})
	log.Fatal(http.ListenAndServe(fmt.Sprintf("127.0.0.1:%s", port), nil))
}
