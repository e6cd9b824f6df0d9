// `npm run demo`: a fresh server and its four kinds of clients in one terminal: a relying party (openid-client), a SAML
// service provider (node-saml), a SCIM sync and a simulated phone. Then it stays, so that the pages can be tried;
// with --once it ends after the transcript.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, startGatehouse } from '../bench/process.ts';
import { createTenant } from '../bench/tenant.ts';
import { openBrowser } from './person.ts';
import { addPhone } from './phone.ts';
import { startRelyingParty } from './relying-party.ts';
import { syncDirectory } from './scim-sync.ts';
import { signInToServiceProvider } from './service-provider.ts';
import { openSetup } from './setup.ts';
import { say, title } from './transcript.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-demo-'));
title('A fresh server');
const gatehouse = await startGatehouse(folder);
say(`${gatehouse.url} answers after ${Math.round(gatehouse.readyMs)} ms, with an empty database in a throw-away folder`);
const tenant = await createTenant(gatehouse, 'acme');
say(`tenant acme: issuer ${tenant.baseUrl}`);
const setup = await openSetup(tenant);

title('SCIM: the directory provisions two people and a team');
const people = await syncDirectory(tenant);

title('OpenID Connect: Ada signs in to a relying party with a PIN from her mail');
const party = await startRelyingParty({ issuer: tenant.baseUrl, register: setup.registerClient });
const atDesk = openBrowser({ gatehouse, email: people.ada.email });
describePage(await atDesk.visit(`${party.url}/sign-in`));
describePage(await atDesk.visit(`${party.url}/refresh`), 'after a refresh');

title('Device plane: Grace enrols a phone and approves her sign-in on it');
const phone = await addPhone(tenant, setup, people.grace);
describePage(await openBrowser({ gatehouse, email: people.grace.email, onPhone: phone.approve }).visit(`${party.url}/sign-in`));

title('SAML: Grace signs in to a service provider, again by phone');
await signInToServiceProvider(tenant, setup, openBrowser({ gatehouse, email: people.grace.email, onPhone: phone.approve }));

title('And when something is refused');
const refused = await fetch(`${tenant.baseUrl}/v1/idp/oidc/token`, {
  method: 'POST',
  body: new URLSearchParams({ grant_type: 'client_credentials', client_id: tenant.clientId, client_secret: 'guess' }),
});
const requestId = refused.headers.get('x-request-id') ?? '';
say(`the attacker sees ${refused.status} ${await refused.text()}`);
say(`the operator types: gatehouse explain ${requestId}`);
const explained = spawnSync(join(root, 'bin', 'gatehouse'), ['explain', requestId, '--data', folder], { encoding: 'utf8' });
if (explained.status !== 0) throw new Error(`explain failed: ${explained.stderr}`);
for (const line of explained.stdout.trimEnd().split('\n')) say(`  ${line}`);

if (!process.argv.includes('--once')) {
  title('Try it yourself');
  say(`open ${party.url} and sign in as ${people.ada.email}; the PIN is in the outbox:`);
  say(`  curl -s '${gatehouse.url}/v1/system/outbox?to=${people.ada.email}' -H 'Authorization: Bearer ${gatehouse.operatorToken}'`);
  say('Ctrl-C ends everything.');
  await new Promise<void>((resolve) => process.once('SIGINT', resolve));
}
await party.close();
await gatehouse.stop();
rmSync(folder, { recursive: true, force: true });

/** Shows what the relying party's page says about the person. */
function describePage({ body }: { readonly body: string }, when = 'the relying party now knows'): void {
  const claims = [...body.matchAll(/data-claim="([^"]+)">([^<]*)/g)].map(([, name, value]) => `${name} ${value}`);
  if (claims.length === 0) throw new Error(`expected a signed-in page, found ${body.slice(0, 500)}`);
  say(`${when}: ${claims.join(', ')}`);
}
