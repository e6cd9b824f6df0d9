// SPIFFE as its Go library speaks it, unmodified: `go-spiffe serve <socket> <SPIFFE ID>` is a Workload API that makes JWT-SVIDs of one workload,
// as an agent does (no iss, no jti); `go-spiffe bundle <socket>` prints the keys of the trust domain as go-spiffe publishes them;
// `go-spiffe token <socket> <audience>` prints a JWT-SVID, fetched and checked by the library.
package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/spiffe/go-spiffe/v2/bundle/jwtbundle"
	"github.com/spiffe/go-spiffe/v2/proto/spiffe/workload"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/svid/jwtsvid"
	"github.com/spiffe/go-spiffe/v2/workloadapi"
	"google.golang.org/grpc"
)

const keyID = "authority-1"

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

type agent struct {
	workload.UnimplementedSpiffeWorkloadAPIServer
	id     spiffeid.ID
	signer jose.Signer
	bundle []byte
}

func (a *agent) FetchJWTSVID(_ context.Context, request *workload.JWTSVIDRequest) (*workload.JWTSVIDResponse, error) {
	now := time.Now()
	token, err := jwt.Signed(a.signer).Claims(jwt.Claims{
		Subject:  a.id.String(),
		Audience: request.Audience,
		IssuedAt: jwt.NewNumericDate(now),
		Expiry:   jwt.NewNumericDate(now.Add(5 * time.Minute)),
	}).Serialize()
	if err != nil {
		return nil, err
	}
	return &workload.JWTSVIDResponse{Svids: []*workload.JWTSVID{{SpiffeId: a.id.String(), Svid: token}}}, nil
}

func (a *agent) FetchJWTBundles(_ *workload.JWTBundlesRequest, stream workload.SpiffeWorkloadAPI_FetchJWTBundlesServer) error {
	bundles := map[string][]byte{a.id.TrustDomain().IDString(): a.bundle}
	if err := stream.Send(&workload.JWTBundlesResponse{Bundles: bundles}); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

func serve(socket string, id spiffeid.ID) {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	options := (&jose.SignerOptions{}).WithType("JWT")
	signing := jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: keyID}}
	bundle := jwtbundle.FromJWTAuthorities(id.TrustDomain(), map[string]crypto.PublicKey{keyID: key.Public()})
	server := grpc.NewServer()
	workload.RegisterSpiffeWorkloadAPIServer(server, &agent{
		id:     id,
		signer: must(jose.NewSigner(signing, options)),
		bundle: must(bundle.Marshal()),
	})
	listener := must(net.Listen("unix", socket))
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-stopped
		server.Stop()
	}()
	fmt.Println("ready")
	if err := server.Serve(listener); err != nil {
		panic(err)
	}
}

func main() {
	verb, socket := os.Args[1], os.Args[2]
	if verb == "serve" {
		serve(socket, must(spiffeid.FromString(os.Args[3])))
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := must(workloadapi.New(ctx, workloadapi.WithAddr("unix://"+socket)))
	defer client.Close()
	if verb == "token" {
		fmt.Println(must(client.FetchJWTSVID(ctx, jwtsvid.Params{Audience: os.Args[3]})).Marshal())
		return
	}
	for _, bundle := range must(client.FetchJWTBundles(ctx)).Bundles() {
		fmt.Println(string(must(bundle.Marshal())))
	}
}
