// The console's page Server: how the deployment stands, for operators in the root tenant. What takes a look at every tenant is left to
// `gatehouse doctor`.
import type { FastifyReply } from 'fastify';
import { checkDatabase, checkMail, checkPublicUrl } from '../../administration/deployment-checks.ts';
import { reject } from '../../contract/contract-error.ts';
import { table } from '../../first-party/app-page.ts';
import type { Parts } from '../../http/services.ts';
import { html } from '../../platform/html.ts';
import { badge } from '../console-page.ts';
import { showPage, type Visit } from '../console-visit.ts';
import { maySee } from '../frame/allowed.ts';
import { isOperatorTenant } from '../frame/navigation.ts';
import { tabs } from './settings-pages.ts';

/** What is looked at, in words; in this order. */
const names: Readonly<Record<string, string>> = {
  database: 'Database',
  clock: 'Clock of the database',
  search: 'Search by a part of a name',
  public_url: 'Public address',
  proxy: 'Proxy',
  http_clock: 'Clock of the public address',
  mail: 'Mail server',
};

type Deployment = Parts<'canMail' | 'clock' | 'config' | 'database' | 'publicUrl'>;

/** @throws management.not_found outside the root tenant, and for whoever may not see tenants */
export async function serverPage(visit: Visit, services: Deployment): Promise<FastifyReply> {
  if (!isOperatorTenant(visit.request.tenant) || !maySee(visit, '/tenants')) throw reject('management.not_found', 'no_such_path');
  const { database, clock, config, publicUrl, canMail } = services;
  const place = config.databaseUrl === undefined ? 'embedded database' : 'PostgreSQL';
  const found = await Promise.all([
    checkDatabase(database, clock, place),
    checkPublicUrl(publicUrl, config.trustedProxies, clock),
    checkMail(config.smtpUrl, canMail).then((one) => [one]),
  ]);
  const rows = found
    .flat()
    .map(({ check, ok, expected, found: what }) => [
      html`<span class="strong">${names[check] ?? check}</span>`,
      ok ? badge('fine', 'good') : badge('wrong', 'bad'),
      ok ? what : `Expected ${expected}; found ${what}.`,
    ]);
  return showPage(
    visit,
    'Server',
    html`${tabs(visit, 'server')}<p class="muted">Looked at just now, from this process. <code>gatehouse doctor</code> on the machine also looks at files, every key, every name and every redirect URI.</p>${table('Server', ['What', 'State', 'Found'], rows)}`,
  );
}
