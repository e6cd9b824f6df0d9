// As write-first.py: a Go client that writes the whole request, then reads the answer.
package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
)

func main() {
	address, err := url.Parse(os.Args[1])
	if err != nil {
		panic(err)
	}
	size, _ := strconv.Atoi(os.Args[3])
	times, _ := strconv.Atoi(os.Args[4])
	body := make([]byte, size)
	for time := 0; time < times; time++ {
		connection, err := net.Dial("tcp", address.Host)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/scim+json\r\nContent-Length: %d\r\n\r\n", address.Path, address.Host, os.Args[2], size)
		if _, err := connection.Write(body); err != nil {
			fmt.Println(err)
			continue
		}
		answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(answer.StatusCode)
		connection.Close()
	}
}
