// What is written on the platforms of a machine, on the application's own page: read back from what it is known by, however it was made; and
// the grants it has and the tenant does not.
import type { FastifyReply } from 'fastify';
import { workloadIssuersMax } from '../../contract/limits.ts';
import type { Workload, WorkloadIssuer } from '../../domain/client/workload.ts';
import { platformOf, snippetsOf } from '../../domain/client/workload-snippets.ts';
import type { Json } from '../../domain/field.ts';
import { extraGrantNames, grantTypes, isGrantType, isOffered } from '../../domain/oidc/grant-types.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { type Html, html } from '../../platform/html.ts';
import { code } from '../cells.ts';
import { itemsOf, manage, type Visit } from '../console-visit.ts';
import { letButton, letGrant } from '../frame/extra-grant.ts';
import { consolePath } from '../frame/navigation.ts';
import { pathOf } from '../resource-pages.ts';
import { clients } from './client-resource.ts';

/** Of an issuer, as the API shows it. */
type Issuer = Pick<WorkloadIssuer, 'id' | 'issuer' | 'keys' | 'audiences' | 'enabled'>;

/** All workload issuers of the tenant. */
export const loadIssuers = async (visit: Visit): Promise<readonly Issuer[]> =>
  itemsOf(await manage(visit, 'GET', `/workload-issuers?limit=${workloadIssuersMax}`)) as unknown as readonly Issuer[]; // the API's shape

/** What each platform of a client is told. */
export async function platformPanels(visit: Visit, client: Json): Promise<readonly Html[]> {
  const workloads = client['workloads'] as readonly Workload[]; // the API's shape
  if (workloads.length === 0) return [];
  const issuers = await loadIssuers(visit);
  return workloads.map((workload, at) => {
    const issuer = issuers.find((one) => one.issuer === workload.issuer);
    return html`<section class="panel" id="workload-${String(at)}">${panelOf(visit, client, { workload, issuer, at: String(at) })}</section>`;
  });
}

interface Place {
  readonly workload: Workload;
  readonly issuer: Issuer | undefined;
  readonly at: string;
}

function panelOf(visit: Visit, client: Json, { workload, issuer, at }: Place): Html {
  const audiences = issuer?.audiences ?? [];
  const known = platformOf(workload, audiences);
  const grants = { clientId: String(client['client_id']), grantTypes: client['grant_types'] as readonly string[] }; // the API's shape
  const snippets = known === undefined ? [] : snippetsOf(visit.request.tenant.baseUrl, { ...known, audiences }, grants);
  const names = Object.entries({ sub: workload.subject, ...workload.claims }).filter(([, value]) => value !== undefined);
  return html`<h2>${known === undefined ? 'On its platform' : `On ${known.preset.label}`}</h2><p>It is known by tokens of ${code(workload.issuer)} with ${names.map(
    ([name, value], one) => html`${one > 0 && ' and '}${code(name)} ${code(value)}`,
  )}.</p>${unusable(visit, issuer, at)}${snippets.map(
    ({ text }, one) => html`<pre id="snippet-${at}-${String(one)}">${text}</pre>`,
  )}${known === undefined && html`<p>Its token is sent as <code>client_assertion</code>, or as <code>assertion</code> for your API. <a href="/docs/how-to/deploy-without-secrets">How</a></p>`}`;
}

/** Why no token of the platform is taken. */
function unusable(visit: Visit, issuer: Issuer | undefined, at: string): Html | undefined {
  const to = (path: string): string => consolePath(visit.request.tenant, path);
  if (issuer === undefined)
    return html`<p class="wrong" id="issuer-${at}-missing">No workload issuer here has this address: its tokens are refused. <a href="${to('/workload-issuers/new')}">Register it</a></p>`;
  return issuer.enabled
    ? undefined
    : html`<p class="wrong" id="issuer-${at}-disabled">The workload issuer is disabled: its tokens are refused. <a href="${to(`/workload-issuers/${issuer.id}`)}">Show it</a></p>`;
}

const startOf = (client: Json): string => `${pathOf(clients, String(client['client_id']))}/start`;
const missingGrants = ({ request: { tenant } }: Visit, client: Json) =>
  extraGrantNames.filter(
    (name) =>
      (client['grant_types'] as readonly string[]).includes(name) && isGrantType(name) && !isOffered(name, tenant.settings.extra_grants), // the API's shape
  );

/** The grants of a client that the tenant does not have, with a button for whoever may change it. */
export const grantPanels = (visit: Visit, client: Json): readonly Html[] =>
  missingGrants(visit, client).map(
    (name, at) =>
      html`<section class="panel" id="needs-grant${at > 0 && `-${at}`}"><h2>This tenant does not give it tokens yet</h2><p>“${isGrantType(name) && grantTypes[name].label}” is not among its ways to get tokens. It is then offered to every application that has it.</p>${letButton(visit, name, { path: startOf(client), label: 'Turn it on', id: `grant-${at}` })}</section>`,
  );

/** Lets the tenant have a grant that its page offers; undefined: it offers none of that name. */
export function letMissing(visit: Visit, client: Json, typed: Typed): Promise<FastifyReply> | undefined {
  const name = missingGrants(visit, client).find((one) => one === typed.get('set'));
  return name && letGrant(visit, name, { path: startOf(client), done: 'The tenant gives tokens in this way too.' });
}
