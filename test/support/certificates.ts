// Certificates of clients for tests, made as real ones are: an authority, what it issues, and self-signed ones; and HTTPS with them.
import 'reflect-metadata';
import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BasicConstraintsExtension,
  Extension,
  type JsonGeneralName,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { TestServer } from './server.ts';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A key with its certificate, as PEM. */
export interface Identity {
  readonly key: string;
  readonly cert: string;
  readonly der: Buffer;
  /** `x5t#S256`. */
  readonly thumbprint: string;
  /** The public JWK with the certificate (RFC 7517 4.7). */
  readonly jwk: Readonly<Record<string, unknown>>;
}

export interface IdentityOptions {
  /** In the order of the certificate, the most significant part first. */
  readonly subject: string;
  readonly names?: readonly JsonGeneralName[];
  /** Absent: signed by itself. */
  readonly issuer?: Identity & { readonly subject: string };
  readonly isAuthority?: boolean;
  readonly notAfter?: Date;
  /** Bytes of an extension that means nothing. */
  readonly padding?: number;
}

export async function makeIdentity(options: IdentityOptions): Promise<Identity & { readonly subject: string }> {
  const { subject, issuer } = options;
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKey = keys.publicKey.toCryptoKey(algorithm, true, ['verify']);
  const signingKey = issuer === undefined ? keys.privateKey : await privateKeyOf(issuer);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: `00${randomBytes(8).toString('hex')}`,
    subject,
    issuer: issuer?.subject ?? subject,
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: options.notAfter ?? new Date(Date.now() + 86_400_000),
    signingAlgorithm: algorithm,
    publicKey,
    signingKey: signingKey.toCryptoKey(algorithm, false, ['sign']),
    extensions: [
      new BasicConstraintsExtension(options.isAuthority === true, undefined, true),
      ...(options.names === undefined ? [] : [new SubjectAlternativeNameExtension([...options.names])]),
      ...(options.padding === undefined ? [] : [new Extension('1.3.6.1.4.1.99999.1', false, new Uint8Array(options.padding))]),
    ],
  });
  const cert = certificate.toString('pem');
  const der = Buffer.from(certificate.rawData);
  return {
    subject,
    key: String(keys.privateKey.export({ type: 'pkcs8', format: 'pem' })),
    cert,
    der,
    thumbprint: Buffer.from(new X509Certificate(der).fingerprint256.replaceAll(':', ''), 'hex').toString('base64url'),
    jwk: { ...keys.publicKey.export({ format: 'jwk' }), x5c: [der.toString('base64')] },
  };
}

async function privateKeyOf({ key }: Identity) {
  const { createPrivateKey } = await import('node:crypto');
  return createPrivateKey(key);
}

/** The files of GATEHOUSE_MTLS_TLS: a server at 127.0.0.1 and localhost, and the authority of its clients. */
export function writeTlsFiles(server: Identity, authority: Identity): { readonly setting: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-mtls-'));
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const files = [write('key.pem', server.key), write('chain.pem', server.cert), write('authorities.pem', authority.cert)];
  return { setting: files.join(','), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface HttpsRequest {
  readonly method?: 'GET' | 'POST';
  readonly body?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  /** The certificate of the caller, if any. */
  readonly identity?: Identity | undefined;
}

/** Sends a request over TLS, whoever the server says it is. */
export function sendHttps(url: string, { method = 'POST', body, headers = {}, identity }: HttpsRequest): Promise<Response> {
  return new Promise((resolve, reject) => {
    const form = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
    const credentials = identity === undefined ? {} : { key: identity.key, cert: identity.cert };
    const sent = request(
      url,
      { method, headers: { ...form, ...headers }, rejectUnauthorized: false, agent: false, ...credentials },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          const given = Object.entries(answer.headersDistinct).flatMap(([name, values]) =>
            (values ?? []).map((value): [string, string] => [name, value]),
          );
          resolve(new Response(Buffer.concat(chunks), { status: answer.statusCode ?? 0, headers: given }));
        });
      },
    );
    sent.on('error', reject);
    sent.end(body?.toString());
  });
}

/** fetch for a library: what it asks of `host`, the name of the mTLS aliases, goes to the server's TLS port with the certificate. */
export const certificateFetch =
  (server: TestServer, host: string, identity: Identity | undefined) =>
  async (url: string, options: { method?: string; headers?: object; body?: unknown }): Promise<Response> => {
    const asked = new URL(url);
    if (asked.host !== host) return fetch(url, options as RequestInit);
    return sendHttps(`https://127.0.0.1:${server.gatehouse.mtlsPort}${asked.pathname}${asked.search}`, {
      method: options.method === 'GET' ? 'GET' : 'POST',
      headers: { ...Object.fromEntries(new Headers(options.headers as Record<string, string>)), host },
      ...(options.body === undefined || options.body === null ? {} : { body: new URLSearchParams(String(options.body)) }),
      identity,
    });
  };
