// What whoever runs a SAML application needs of us, on one page to copy from: the address of our metadata for it, and, for those who type
// it in, entity ID, sign-in address and certificate. All of it is public, and read where the application reads it.
import { X509Certificate } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { reject } from '../../contract/contract-error.ts';
import { callApi } from '../../first-party/app-api.ts';
import { type Html, html } from '../../platform/html.ts';
import { badge, shownTime } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { manage, showMissing, showPage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { pathOf, tabBar } from '../resource-pages.ts';

type Json = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, string>>;

const resource = consoleResource('/service-providers');
const tab = '/handover';
const metadataPath = (id: string): string => `/v1/idp/saml/metadata/${encodeURIComponent(id)}`;

export async function handoverPage(visit: Visit, params: Params): Promise<FastifyReply> {
  const id = params['id'] ?? '';
  const answer = await manage(visit, 'GET', pathOf(resource, id));
  if (answer.status !== 200) return showMissing(visit, resource.singular, answer);
  const [current, ...next] = await certificatesFor(visit, id);
  const { baseUrl } = visit.request.tenant;
  return showPage(
    visit,
    resource.titleOf(answer.body),
    html`${tabBar(visit, resource, id, tab)}<p>Give these to whoever runs the application. None of it is secret.</p>
<section class="panel"><h2>If it takes metadata</h2><p>This address is all it needs, and a new key reaches it by itself.</p>${copied('Metadata address', 'metadata', `${baseUrl}${metadataPath(id)}`)}</section>
<section class="panel"><h2>If it asks for each</h2>
${copied('Entity ID, or Issuer', 'entity-id', `${baseUrl}/v1/idp/saml/metadata`)}
${copied('Sign-in address, or SSO URL (Redirect and POST)', 'sso', `${baseUrl}/v1/idp/saml/sso`)}
${startLink(baseUrl, answer.body)}
${current !== undefined && certificatePart(visit, id, current)}
${next.length > 0 && html`<p>${badge('next', 'plain')} Another certificate is in the metadata already and signs later. Before it does, give it to applications that took this one by hand.</p>`}</section>`,
  );
}

/** A value to copy; the script puts a button beside it. */
const copied = (label: string, id: string, value: string): Html => html`<h3>${label}</h3><pre id="${id}">${value}</pre>`;

/** Where a sign-in begins that the application did not ask for. */
const startLink = (baseUrl: string, { idp_initiated_allowed: allowed, entity_id: entityId }: Json): Html | undefined =>
  allowed === true
    ? copied('Start link, for portals', 'start', `${baseUrl}/v1/idp/saml/sso?sp=${encodeURIComponent(String(entityId))}`)
    : undefined;

function certificatePart(visit: Visit, id: string, certificate: X509Certificate): Html {
  const download = consolePath(visit.request.tenant, `${pathOf(resource, id)}${tab}/certificate`);
  return html`<h3>Certificate</h3><pre id="certificate">${certificate.toString()}</pre>
<dl><dt>Fingerprint, SHA-256</dt><dd><code class="copy" id="fingerprint">${certificate.fingerprint256}</code></dd><dt>Valid until</dt><dd>${shownTime(certificate.validToDate.toISOString())}</dd></dl>
<div class="bar"><a class="button quiet" id="download" href="${download}">Download PEM</a></div>`;
}

/** The certificates in our metadata for the application: first the one that signs. */
async function certificatesFor({ app, request }: Visit, id: string): Promise<readonly X509Certificate[]> {
  const { body } = await callApi(app, request, { method: 'GET', path: metadataPath(id) });
  const texts = [...String(body['text'] ?? '').matchAll(/<(?:\w+:)?X509Certificate>([^<]+)</g)].map(([, text]) => text!);
  return [...new Set(texts)].map((text) => new X509Certificate(Buffer.from(text, 'base64')));
}

/** The certificate that signs, as a file. */
export async function sendCertificate(visit: Visit, params: Params): Promise<FastifyReply> {
  const [current] = await certificatesFor(visit, params['id'] ?? '');
  if (current === undefined) throw reject('management.not_found', 'unknown_service_provider');
  return visit.reply
    .headers({
      'content-type': 'application/x-pem-file',
      'content-disposition': 'attachment; filename="gatehouse-saml.pem"',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    .send(current.toString());
}
