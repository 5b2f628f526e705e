package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
)

// The size of a message of ping-pong.
const message = 64

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func echo(connection net.Conn) {
	buffer := make([]byte, message)
	for {
		if _, err := io.ReadFull(connection, buffer); err != nil {
			return
		}
		if _, err := connection.Write(buffer); err != nil {
			return
		}
	}
}

func hold(connection net.Conn) {
	buffer := make([]byte, 256)
	for {
		if _, err := connection.Read(buffer); err != nil {
			return
		}
	}
}

// Answers with the bytes that the other servers answer with, by the server of the standard library.
func hello(writer http.ResponseWriter, _ *http.Request) {
	header := writer.Header()
	header["Date"] = nil
	header["Content-Type"] = []string{"text/plain"}
	io.WriteString(writer, "Hello, world!")
}

// A server: prints its port, and serves until the process ends. See ../src/net/servers.
func serve(workload string) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	if workload == "http" {
		check(http.Serve(listener, http.HandlerFunc(hello)))
	}
	handler := map[string]func(net.Conn){"accept": func(net.Conn) {}, "echo": echo, "hold": hold}[workload]
	for {
		connection, err := listener.Accept()
		check(err)
		go func() {
			defer connection.Close()
			handler(connection)
		}()
	}
}
