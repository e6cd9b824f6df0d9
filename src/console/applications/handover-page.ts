// The console's page of what whoever runs a SAML application needs of us, with the link of a page to send to them.
import type { FastifyReply } from 'fastify';
import { reject } from '../../contract/contract-error.ts';
import { html } from '../../platform/html.ts';
import { shownTime } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { manage, showMissing, showPage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { pathOf, tabBar } from '../resource-pages.ts';
import { handedOverLink } from './handed-over-link.ts';
import { certificateHeaders, certificatesFor, copied, handoverParts } from './handover-parts.ts';

type Params = Readonly<Record<string, string>>;

const resource = consoleResource('/service-providers');
const tab = '/handover';

export async function handoverPage(visit: Visit, params: Params): Promise<FastifyReply> {
  const id = params['id'] ?? '';
  const answer = await manage(visit, 'GET', pathOf(resource, id));
  if (answer.status !== 200) return showMissing(visit, resource.singular, answer);
  const { app, request, services } = visit;
  const { entity_id: entityId, idp_initiated_allowed: startsHere, last_sign_in_at: signedIn } = answer.body;
  const given = {
    id,
    entityId: String(entityId),
    startsHere: startsHere === true,
    certificates: await certificatesFor(app, request, id),
    download: consolePath(request.tenant, `${pathOf(resource, id)}${tab}/certificate`),
  };
  const state =
    signedIn === undefined
      ? html`<p>Nobody has signed in to it yet.</p>`
      : html`<p class="notice good" id="works">It works: somebody signed in, ${shownTime(signedIn)}.</p>`;
  return showPage(
    visit,
    resource.titleOf(answer.body),
    html`${tabBar(visit, resource, id, tab)}<p>Give these to the administrator of the application. None of it is secret.</p>
<section class="panel"><h2>A page to send</h2>${state}<p>Everybody who has this link sees the values below for 7 days, without signing in. The page turns green when the first person has signed in.</p>${copied('Link', 'link', handedOverLink(services, request.tenant, id))}</section>
${handoverParts(request.tenant.baseUrl, given)}`,
  );
}

/** The certificate that signs, as a file. */
export async function sendCertificate({ app, request, reply }: Visit, params: Params): Promise<FastifyReply> {
  const [current] = await certificatesFor(app, request, params['id'] ?? '');
  if (current === undefined) throw reject('management.not_found', 'unknown_service_provider');
  return reply.headers(certificateHeaders).send(current.toString());
}
