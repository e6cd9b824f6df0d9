// The files by which phones let an app open our links instead of a browser (design 12, 4): Apple's apple-app-site-association and
// Android's assetlinks.json. Phones read them at the root of a host only, so a host that tenants share names the root tenant's
// apps, which open the links of all: an app of one tenant there could take its neighbour's.
import type { FastifyReply } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import type { Settings } from '../domain/tenant/settings.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { rootTenantSlug } from '../domain/tenant/tenant.ts';
import type { Route } from '../http/surface.ts';

type Apps = Settings['app_links'];

/** Adds both files; 404 where the tenant names no app of that kind, and below a path. */
export function addAppLinkFiles(route: Route): void {
  route('/apple-app-site-association', {
    GET: ({ tenant }, reply) => send(reply, tenant, ({ apple }) => (apple.length === 0 ? undefined : siteAssociation(tenant, apple))),
  });
  route('/assetlinks.json', {
    GET: ({ tenant }, reply) => send(reply, tenant, ({ android }) => (android.length === 0 ? undefined : assetLinks(android))),
  });
}

function send(reply: FastifyReply, tenant: Tenant, make: (apps: Apps) => unknown): FastifyReply {
  const isHost = new URL(tenant.baseUrl).pathname === '/';
  const file = isHost ? make(tenant.settings.app_links) : undefined;
  if (file === undefined) throw reject('oauth.not_found', isHost ? 'no_apps' : 'shared_host');
  return reply
    .headers({ 'cache-control': 'public, max-age=300', 'content-type': 'application/json; charset=utf-8' })
    .send(JSON.stringify(file));
}

function siteAssociation({ slug }: Tenant, appIDs: Apps['apple']): unknown {
  const pages = ['/enroll', '/scan'];
  const paths = slug === rootTenantSlug ? [...pages, ...pages.map((page) => `/t/*${page}`)] : pages;
  return { applinks: { details: [{ appIDs, components: paths.map((path) => ({ '/': path })) }] } };
}

function assetLinks(apps: Apps['android']): unknown {
  return apps.map(({ package: name, sha256_cert_fingerprints: fingerprints }) => ({
    relation: ['delegate_permission/common.handle_all_urls'],
    target: { namespace: 'android_app', package_name: name, sha256_cert_fingerprints: fingerprints },
  }));
}
