// {base_url}/ for browsers: a page of links. Whoever else asks, and for a tenant that does not exist, is answered as at any path
// there is not.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { type DeveloperParts, isDeveloper } from '../http/development.ts';
import { pageOnLocalhost } from '../http/loopback.ts';
import { findTenant } from '../http/request-tenant.ts';
import type { Parts } from '../http/services.ts';
import { strictTransport } from '../http/strict-transport.ts';
import { tenantClosed } from '../http/surface-errors.ts';
import { tenantNameOf } from '../http/tenant-name.ts';
import { icons } from '../pages/icons.ts';
import { type Page, renderPage } from '../pages/page.ts';
import { prefersHtml } from '../platform/accept.ts';
import { type Html, html } from '../platform/html.ts';

type HomeParts = DeveloperParts & Parts<'admitLookUp' | 'tenants'>;

export function registerHome(app: FastifyInstance, services: HomeParts): void {
  app.get('/', async (request, reply) => {
    if (!prefersHtml(request.headers.accept)) return reply.callNotFound();
    const location = pageOnLocalhost(request, services.publicUrl);
    if (location !== undefined) return reply.code(302).headers({ location, 'cache-control': 'no-store' }).send();
    const admit = (): (() => void) => services.admitLookUp(request.clientAddress, 'management');
    const tenant = await findTenant(services, tenantNameOf(request.raw, services), { admit });
    if (tenant?.enabled !== true) return reply.callNotFound();
    if (tenant.isMoving) throw tenantClosed('management');
    return sendHome(services, request, reply, tenant);
  });
}

function sendHome(services: HomeParts, request: FastifyRequest, reply: FastifyReply, tenant: Tenant): FastifyReply {
  const page = homePage(tenant, isDeveloper(services, request));
  if (tenant.baseUrl.startsWith('https:')) reply.headers(strictTransport);
  return reply.headers(page.headers).send(page.markup);
}

function homePage(tenant: Tenant, isTrying: boolean): Page {
  const link = (path: string, icon: Html, text: string, hint: string): Html =>
    html`<a class="button choice" href="${tenant.baseUrl}${path}">${icon}<span>${text}<small>${hint}</small></span></a>`;
  return renderPage({
    language: 'en',
    tenant,
    title: 'Welcome',
    body: html`<h1>${tenant.name}</h1>
<p class="lead">This is where people of ${tenant.name} sign in.</p>
<nav class="stack" aria-label="Pages">
${link('/account', icons.person, 'Your account', 'Your phones, passkeys and sessions')}
${link('/console', icons.key, 'Console', 'For administrators')}
${isTrying && link('/try', icons.check, 'Try a sign-in', 'See what an application gets')}
${link('/docs', icons.book, 'Documents', 'How to connect applications')}
</nav>
<p class="hint">For programs: <a href="${tenant.baseUrl}/.well-known/openid-configuration">OpenID Connect discovery</a></p>`,
  });
}
