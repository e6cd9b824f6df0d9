// What whoever runs a SAML application needs of us, to copy from: the address of our metadata for it, and, for those who type it in, entity
// ID, sign-in address and certificate. All of it is public, and read where the application reads it. For the console's page, and for the
// page that is sent to whoever runs it.
import { X509Certificate } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callApi } from '../../first-party/app-api.ts';
import { type Html, html } from '../../platform/html.ts';
import { badge, shownTime } from '../console-page.ts';

const metadataPath = (id: string): string => `/v1/idp/saml/metadata/${encodeURIComponent(id)}`;

interface HandedOver {
  readonly id: string;
  readonly entityId: string;
  /** True: a sign-in may begin that the application did not ask for. */
  readonly startsHere: boolean;
  readonly certificates: readonly X509Certificate[];
  /** Where the certificate is as a file. */
  readonly download: string;
}

export function handoverParts(baseUrl: string, { id, entityId, startsHere, certificates: [current, ...next], download }: HandedOver): Html {
  return html`<section class="panel"><h2>If it takes metadata</h2><p>This address is all it needs, and a new key reaches it by itself.</p>${copied('Metadata address', 'metadata', `${baseUrl}${metadataPath(id)}`)}</section>
<section class="panel"><h2>If it asks for each</h2>
${copied('Entity ID, or Issuer', 'entity-id', `${baseUrl}/v1/idp/saml/metadata`)}
${copied('Sign-in address, or SSO URL (Redirect and POST)', 'sso', `${baseUrl}/v1/idp/saml/sso`)}
${startsHere && copied('Start link, for portals', 'start', `${baseUrl}/v1/idp/saml/sso?sp=${encodeURIComponent(entityId)}`)}
${current !== undefined && certificatePart(current, download)}
${next.length > 0 && html`<p>${badge('next', 'plain')} Another certificate is in the metadata already and signs later. Before it does, give it to applications that took this one by hand.</p>`}</section>`;
}

/** A value to copy; the script puts a button beside it. */
export const copied = (label: string, id: string, value: string): Html => html`<h3>${label}</h3><pre id="${id}">${value}</pre>`;

const certificatePart = (certificate: X509Certificate, download: string): Html =>
  html`<h3>Certificate</h3><pre id="certificate">${certificate.toString()}</pre>
<dl><dt>Fingerprint, SHA-256</dt><dd><code class="copy" id="fingerprint">${certificate.fingerprint256}</code></dd><dt>Valid until</dt><dd>${shownTime(certificate.validToDate.toISOString())}</dd></dl>
<div class="bar"><a class="button quiet" id="download" href="${download}">Download PEM</a></div>`;

/** The certificates in our metadata for the application: first the one that signs. */
export async function certificatesFor(app: FastifyInstance, request: FastifyRequest, id: string): Promise<readonly X509Certificate[]> {
  const { body } = await callApi(app, request, { method: 'GET', path: metadataPath(id) });
  const texts = [...String(body['text'] ?? '').matchAll(/<(?:\w+:)?X509Certificate>([^<]+)</g)].map(([, text]) => text!);
  return [...new Set(texts)].map((text) => new X509Certificate(Buffer.from(text, 'base64')));
}

/** Of the certificate as a file. */
export const certificateHeaders = {
  'content-type': 'application/x-pem-file',
  'content-disposition': 'attachment; filename="gatehouse-saml.pem"',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const;
