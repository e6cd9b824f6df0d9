package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/xml"
	"errors"

	"github.com/beevik/etree"
	saml2 "github.com/russellhaering/gosaml2"
	"github.com/russellhaering/gosaml2/types"
	dsig "github.com/russellhaering/goxmldsig"
)

type gosaml2 struct{ sp *saml2.SAMLServiceProvider }

func newGosaml2(c command, pair tls.Certificate) (provider, error) {
	sp := &saml2.SAMLServiceProvider{
		ServiceProviderIssuer:       c.EntityID,
		AssertionConsumerServiceURL: c.AcsURL,
		AudienceURI:                 c.EntityID,
		SignAuthnRequests:           c.Sign,
		SPKeyStore:                  dsig.TLSCertKeyStore(pair),
		AllowMissingAttributes:      true,
	}
	if c.Canonical == "exclusive" {
		sp.SignAuthnRequestsCanonicalizer = dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList("")
	}
	return &gosaml2{sp}, nil
}

func (g *gosaml2) metadata() (any, error) {
	return g.sp.MetadataWithSLO(0)
}

// As its own example does it: the descriptor's certificates and address.
func (g *gosaml2) trust(metadata []byte) error {
	var entity types.EntityDescriptor
	if err := xml.Unmarshal(metadata, &entity); err != nil {
		return err
	}
	store := dsig.MemoryX509CertificateStore{Roots: []*x509.Certificate{}}
	for _, descriptor := range entity.IDPSSODescriptor.KeyDescriptors {
		for _, given := range descriptor.KeyInfo.X509Data.X509Certificates {
			der, err := base64.StdEncoding.DecodeString(given.Data)
			if err != nil {
				return err
			}
			certificate, err := x509.ParseCertificate(der)
			if err != nil {
				return err
			}
			store.Roots = append(store.Roots, certificate)
		}
	}
	g.sp.IdentityProviderSSOURL = entity.IDPSSODescriptor.SingleSignOnServices[0].Location
	g.sp.IdentityProviderIssuer = entity.EntityID
	g.sp.IDPCertificateStore = &store
	return nil
}

func (g *gosaml2) request(binding, relayState string) (string, string, string, error) {
	if binding == "post" {
		document, err := g.build(true)
		if err != nil {
			return "", "", "", err
		}
		form, err := g.sp.BuildAuthBodyPostFromDocument(relayState, document)
		return "", string(form), document.Root().SelectAttrValue("ID", ""), err
	}
	document, err := g.build(false)
	if err != nil {
		return "", "", "", err
	}
	location, err := g.sp.BuildAuthURLRedirect(relayState, document)
	return location, "", document.Root().SelectAttrValue("ID", ""), err
}

func (g *gosaml2) build(embedSignature bool) (*etree.Document, error) {
	if embedSignature && g.sp.SignAuthnRequests {
		return g.sp.BuildAuthRequestDocument()
	}
	return g.sp.BuildAuthRequestDocumentNoSig()
}

func (g *gosaml2) consume(response []byte, _ string) (string, map[string][]string, error) {
	info, err := g.sp.RetrieveAssertionInfo(base64.StdEncoding.EncodeToString(response))
	if err != nil {
		return "", nil, err
	}
	if info.WarningInfo.InvalidTime || info.WarningInfo.NotInAudience {
		return "", nil, errors.New("the assertion is of another time or audience")
	}
	attributes := map[string][]string{}
	for name, attribute := range info.Values {
		for _, value := range attribute.Values {
			attributes[name] = append(attributes[name], value.Value)
		}
	}
	return info.NameID, attributes, nil
}
