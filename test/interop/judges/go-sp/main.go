// A service provider made of crewjam/saml or gosaml2, asked one JSON line at a time on standard input. It knows the identity
// provider by its metadata alone; its own keys come with the first line. Installed by scripts/install-judges.
package main

import (
	"bufio"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"net/url"
	"os"
)

// What the tests ask for.
type command struct {
	Do          string `json:"do"`
	Library     string `json:"library"`
	EntityID    string `json:"entity_id"`
	AcsURL      string `json:"acs_url"`
	PrivateKey  string `json:"private_key"`
	Certificate string `json:"certificate"`
	Sign        bool   `json:"sign"`
	Encrypt     bool   `json:"encrypt"`
	Canonical   string `json:"canonicalizer"`
	Metadata    string `json:"metadata"`
	Binding     string `json:"binding"`
	RelayState  string `json:"relay_state"`
	Response    string `json:"response"`
	RequestID   string `json:"request_id"`
}

type answer map[string]any

type provider interface {
	metadata() (any, error)
	trust(metadata []byte) error
	// A redirect address, or a form as HTML, and the id of the request.
	request(binding, relayState string) (location, form, id string, err error)
	// The name and the attributes of whoever signed in; an empty request id is an IdP-initiated answer.
	consume(response []byte, requestID string) (name string, attributes map[string][]string, err error)
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	var sp provider
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var c command
		if err = json.Unmarshal(line, &c); err == nil {
			var given answer
			if given, err = do(&sp, c); err == nil {
				_ = out.Encode(given)
				continue
			}
		}
		_ = out.Encode(answer{"error": describe(err)})
	}
}

func do(sp *provider, c command) (answer, error) {
	switch c.Do {
	case "start":
		pair, err := tls.X509KeyPair([]byte(c.Certificate), []byte(c.PrivateKey))
		if err != nil {
			return nil, err
		}
		certificate, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			return nil, err
		}
		if c.Library == "crewjam" {
			*sp, err = newCrewjam(c, pair.PrivateKey.(*rsa.PrivateKey), certificate)
		} else {
			*sp, err = newGosaml2(c, pair)
		}
		return answer{}, err
	case "metadata":
		descriptor, err := (*sp).metadata()
		if err != nil {
			return nil, err
		}
		text, err := xml.MarshalIndent(descriptor, "", "  ")
		return answer{"metadata": string(text)}, err
	case "trust":
		return answer{}, (*sp).trust([]byte(c.Metadata))
	case "request":
		location, form, id, err := (*sp).request(c.Binding, c.RelayState)
		return answer{"location": location, "form": form, "id": id}, err
	default:
		response, err := base64.StdEncoding.DecodeString(c.Response)
		if err != nil {
			return nil, err
		}
		name, attributes, err := (*sp).consume(response, c.RequestID)
		return answer{"name_id": name, "attributes": attributes}, err
	}
}

func mustURL(text string) url.URL {
	parsed, err := url.Parse(text)
	if err != nil {
		panic(err)
	}
	return *parsed
}
