// Pub/Sub's own fake, for tests: it has the topic that the command line names, and writes down what is published.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"strconv"
	"time"

	"cloud.google.com/go/pubsub/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/pstest"
)

type message struct {
	Data       string            `json:"data"`
	Attributes map[string]string `json:"attributes"`
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
	server := pstest.NewServerWithPort(port)
	if _, err := server.GServer.CreateTopic(context.Background(), &pubsubpb.Topic{Name: os.Args[2]}); err != nil {
		log.Fatal(err)
	}
	written := 0
	for {
		all := server.Messages()
		for ; written < len(all); written++ {
			line, _ := json.Marshal(message{string(all[written].Data), all[written].Attributes})
			out.Write(append(line, '\n'))
		}
		time.Sleep(20 * time.Millisecond)
	}
}
