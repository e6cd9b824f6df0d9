// The page of a link to what a SAML application needs of us, and its certificate as a file.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../../contract/contract-error.ts';
import type { ServiceProviderId } from '../../domain/ids.ts';
import type { DefineRoutes } from '../../http/lazy-surface.ts';
import type { Services } from '../../http/services.ts';
import { html } from '../../platform/html.ts';
import { listLastSignIns } from '../../storage/registry/last-sign-ins.ts';
import { findServiceProvider } from '../../storage/registry/service-providers.ts';
import { consolePage, shownTime } from '../console-page.ts';
import { handedOverPrefix, openHandedOverLink } from './handed-over-link.ts';
import { certificateHeaders, certificatesFor, handoverParts } from './handover-parts.ts';

export function handedOverRoutes(app: FastifyInstance, services: Services): DefineRoutes {
  return (route) => {
    route('/:link', { GET: (request, reply) => showHandedOver(app, services, request, reply) });
    route('/:link/certificate', { GET: (request, reply) => sendHandedOver(app, services, request, reply) });
  };
}

const linkOf = ({ params }: FastifyRequest): string => (params as { readonly link: string }).link; // the route's own parameter

async function showHandedOver(
  app: FastifyInstance,
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { tenant } = request;
  const { provider, lastMs } = await providerOf(services, request);
  const { name, entityId, idpInitiatedAllowed } = provider;
  const here = `${tenant.baseUrl}${handedOverPrefix}/${linkOf(request)}`;
  const given = {
    id: provider.id,
    entityId,
    startsHere: idpInitiatedAllowed,
    certificates: await certificatesFor(app, request, provider.id),
  };
  const state =
    lastMs === undefined
      ? html`<h2>Waiting for the first sign-in</h2><p>Enter what stands below in ${name}, then sign in to it. This page says so when somebody has.</p><p><a class="button quiet" id="look-again" href="${here}">Look again</a></p>`
      : html`<p class="notice good" id="works">It works: somebody signed in to ${name}, ${shownTime(new Date(lastMs).toISOString())}.</p>`;
  const page = consolePage(
    { tenant, person: undefined, csrf: '', at: '' },
    `Connect ${name} to ${tenant.name}`,
    html`<section class="panel" id="waiting" role="status"${lastMs === undefined && html` data-waits="yes"`}>${state}</section>
<p>You need this to let people of ${tenant.name} sign in to ${name} (<code>${entityId}</code>) by SAML. None of it is secret. The link to this page ends after 7 days.</p>
${handoverParts(tenant.baseUrl, { ...given, download: `${here}/certificate` })}`,
  );
  return reply.headers({ ...page.headers, 'referrer-policy': 'no-referrer' }).send(page.markup);
}

async function sendHandedOver(
  app: FastifyInstance,
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { provider } = await providerOf(services, request);
  const [current] = await certificatesFor(app, request, provider.id);
  if (current === undefined) throw reject('management.not_found', 'unknown_service_provider');
  return reply.headers(certificateHeaders).send(current.toString());
}

/** The application of the link, and when somebody last signed in to it. @throws management.not_found for every link that is none any more */
async function providerOf(services: Services, request: FastifyRequest) {
  const { tenant } = request;
  const id = openHandedOverLink(services, tenant, linkOf(request));
  if (id === undefined) throw reject('management.not_found', 'link_ended_or_unknown');
  const { dialect } = services.database;
  const { provider, times } = await services.database.read(tenant.id, async (queries) => ({
    provider: await findServiceProvider(queries, tenant.id, id as ServiceProviderId), // of our own link
    times: await listLastSignIns(queries, dialect, tenant.id, { kind: 'service_provider', ids: [id] }),
  }));
  if (provider === undefined) throw reject('management.not_found', 'link_ended_or_unknown');
  return { provider, lastMs: times.get(id) };
}
