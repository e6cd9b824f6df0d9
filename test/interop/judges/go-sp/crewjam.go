package main

import (
	"crypto/rsa"
	"crypto/x509"
	"errors"

	"github.com/crewjam/saml"
	"github.com/crewjam/saml/samlsp"
	dsig "github.com/russellhaering/goxmldsig"
)

type crewjam struct{ sp saml.ServiceProvider }

func newCrewjam(c command, key *rsa.PrivateKey, certificate *x509.Certificate) (provider, error) {
	sp := saml.ServiceProvider{
		EntityID:          c.EntityID,
		Key:               key,
		Certificate:       certificate,
		AcsURL:            mustURL(c.AcsURL),
		MetadataURL:       mustURL(c.EntityID),
		AllowIDPInitiated: true,
	}
	if c.Sign {
		sp.SignatureMethod = dsig.RSASHA256SignatureMethod
	}
	return &crewjam{sp}, nil
}

func (c *crewjam) metadata() (any, error) { return c.sp.Metadata(), nil }

func (c *crewjam) trust(metadata []byte) (err error) {
	c.sp.IDPMetadata, err = samlsp.ParseMetadata(metadata)
	return err
}

func (c *crewjam) request(binding, relayState string) (string, string, string, error) {
	name := saml.HTTPRedirectBinding
	if binding == "post" {
		name = saml.HTTPPostBinding
	}
	request, err := c.sp.MakeAuthenticationRequest(c.sp.GetSSOBindingLocation(name), name, saml.HTTPPostBinding)
	if err != nil {
		return "", "", "", err
	}
	if binding == "post" {
		return "", string(request.Post(relayState)), request.ID, nil
	}
	location, err := request.Redirect(relayState, &c.sp)
	if err != nil {
		return "", "", "", err
	}
	return location.String(), "", request.ID, nil
}

func (c *crewjam) consume(response []byte, requestID string) (string, map[string][]string, error) {
	ids := []string{}
	if requestID != "" {
		ids = append(ids, requestID)
	}
	assertion, err := c.sp.ParseXMLResponse(response, ids, c.sp.AcsURL)
	if err != nil {
		return "", nil, err
	}
	attributes := map[string][]string{}
	for _, statement := range assertion.AttributeStatements {
		for _, attribute := range statement.Attributes {
			for _, value := range attribute.Values {
				attributes[attribute.Name] = append(attributes[attribute.Name], value.Value)
			}
		}
	}
	return assertion.Subject.NameID.Value, attributes, nil
}

// The reason, which crewjam/saml keeps from browsers.
func describe(err error) string {
	var invalid *saml.InvalidResponseError
	if errors.As(err, &invalid) {
		return invalid.PrivateErr.Error()
	}
	return err.Error()
}
