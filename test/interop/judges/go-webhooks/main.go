// The Standard Webhooks library for Go, unmodified: takes {secret, headers, body} on standard input and says what it verified, or why not.
package main

import (
	"encoding/json"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	var given struct {
		Secret  string            `json:"secret"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		panic(err)
	}
	webhook, err := standardwebhooks.NewWebhook(given.Secret)
	if err != nil {
		panic(err)
	}
	headers := http.Header{}
	for name, value := range given.Headers {
		headers.Set(name, value)
	}
	answer := map[string]any{}
	if err := webhook.Verify([]byte(given.Body), headers); err != nil {
		answer["refused"] = err.Error()
	} else {
		answer["verified"] = json.RawMessage(given.Body)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		panic(err)
	}
}
