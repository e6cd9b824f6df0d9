// The client certificate of a request (RFC 8705): of its own TLS connection, or as a trusted proxy that ended it hands it on
// (RFC 9440, or nginx's variables). Headers of anybody else say nothing.
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config.ts';
import { type ClientCertificate, readCertificate } from '../../crypto/client-certificate.ts';
import { createIsTrustedPeer } from '../client-address.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined without one. */
    readonly clientCertificate: ClientCertificate | undefined;
  }
}

const read = new WeakMap<IncomingMessage, { readonly certificate: ClientCertificate | undefined }>();

/** Gives requests their `clientCertificate`, looked for when it is first asked for. */
export function readClientCertificates(app: FastifyInstance, { mtlsHeader, trustedProxies }: Config): void {
  const isTrustedPeer = createIsTrustedPeer(trustedProxies);
  const certificateOf = (request: IncomingMessage): ClientCertificate | undefined => {
    if (request.socket instanceof TLSSocket) return ofConnection(request.socket);
    return mtlsHeader !== undefined && isTrustedPeer(request) ? headers[mtlsHeader](request) : undefined;
  };
  app.decorateRequest('clientCertificate', {
    getter() {
      let found = read.get(this.raw);
      if (found === undefined) {
        found = { certificate: certificateOf(this.raw) };
        read.set(this.raw, found);
      }
      return found.certificate;
    },
  });
}

function ofConnection(socket: TLSSocket): ClientCertificate | undefined {
  const certificate = socket.getPeerX509Certificate();
  return certificate && readCertificate(certificate.raw, socket.authorized);
}

/** How proxies hand a certificate on; each has verified it, or says so. */
const headers = { rfc9440: ofClientCert, nginx: ofNginx } as const;

/** RFC 9440 2.2: DER as a byte sequence of RFC 8941; only proxies that verified a certificate send it. */
function ofClientCert(request: IncomingMessage): ClientCertificate | undefined {
  const encoded = /^:([A-Za-z0-9+/]+={0,2}):$/.exec(onlyValue(request, 'client-cert') ?? '')?.[1];
  return encoded === undefined ? undefined : readCertificate(Buffer.from(encoded, 'base64'), true);
}

/** `$ssl_client_escaped_cert` and `$ssl_client_verify`. */
function ofNginx(request: IncomingMessage): ClientCertificate | undefined {
  const escaped = onlyValue(request, 'x-ssl-client-cert');
  if (escaped === undefined || onlyValue(request, 'x-ssl-client-verify') !== 'SUCCESS') return undefined;
  try {
    return readCertificate(decodeURIComponent(escaped), true);
  } catch {
    return undefined; // bad percent-encoding
  }
}

/** A header that came once; a second one is somebody else's. */
function onlyValue({ headersDistinct }: IncomingMessage, name: string): string | undefined {
  const values = headersDistinct[name];
  return values?.length === 1 ? values[0] : undefined;
}
