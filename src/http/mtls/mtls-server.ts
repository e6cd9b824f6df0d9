// Where clients with certificates come (GATEHOUSE_MTLS_LISTEN): TLS that asks for one, in front of the same HTTP server with all
// its limits. A certificate of no known authority ends no handshake: a client may have registered that very one.
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type TlsOptions } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { Config, MtlsFiles } from '../../config.ts';

export interface MtlsServer {
  readonly port: number;
  readonly close: () => Promise<void>;
}

const handshakeTimeoutMs = 10_000;

/** FAPI 2.0 5.2.2, RFC 9325 4.2: forward secrecy and authenticated encryption alone. */
const ciphers = [
  ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
].join(':');

/** Starts to listen. */
export async function startMtlsServer(
  app: FastifyInstance,
  { host, port }: NonNullable<Config['mtlsListen']>,
  files: MtlsFiles,
): Promise<MtlsServer> {
  const server = serverWith(app, files);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port, // listens on TCP
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function serverWith(app: FastifyInstance, { key, certificate, authorities }: MtlsFiles): Server {
  const options: TlsOptions = {
    key,
    cert: certificate,
    // Without authorities nobody's are trusted: the machine's own vouch for web sites, not for our clients.
    ca: authorities ?? [],
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    ciphers,
    honorCipherOrder: true,
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: handshakeTimeoutMs,
  };
  return createServer(options, (socket) => app.server.emit('connection', socket));
}
