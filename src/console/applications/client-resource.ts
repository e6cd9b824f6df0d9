// The pages of OIDC clients, and of the tokens with which clients register themselves.

import { authMethodChoices, clientFields } from '../../domain/client/client.ts';
import { signingIn } from '../../domain/client/client-kinds.ts';
import { redirectUriFault } from '../../domain/client/client-uris.ts';
import { isOwnClient } from '../../domain/client/own-clients.ts';
import { initialAccessTokenFields } from '../../domain/client/registration-policy.ts';
import { hostOfStranger, type Origin } from '../../domain/client/stranger.ts';
import { defaultsOf, type Json } from '../../domain/field.ts';
import type { ClientId } from '../../domain/ids.ts';
import { scopeMeanings, standardScopes } from '../../domain/oidc/standard-scopes.ts';
import { organizationScopeMeanings } from '../../domain/organizations/tenant-organizations.ts';
import { capabilitiesOfTenant, capabilityWords } from '../../domain/people/capabilities.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { type FormField, formOf, type OptionGroup } from '../../first-party/form-field.ts';
import { type Html, html } from '../../platform/html.ts';
import { code, created, enabled, lastSignIn, lastUsed, text, worded } from '../cells.ts';
import { shownTime } from '../console-page.ts';
import { itemsOf, manage, type Visit } from '../console-visit.ts';
import { maySee } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import type { ConsoleResource } from '../frame/resource.ts';

const clientForm = formOf(clientFields).map((field): FormField => {
  if (field.path === clientFields.scopes.name) return { ...field, kind: 'picker', hint: 'What it may ask for.' };
  return field.path.endsWith('redirect_uris')
    ? { ...field, isLineWrong: (line: string, typed: Typed) => redirectUriFault(line, typed.get('type') === 'public') !== undefined }
    : field;
});

export const clients: ConsoleResource = {
  path: '/clients',
  canChange: (json) => !isOwnClient({ clientId: String(json['client_id']) }),
  canDelete: (json) => !isOwnClient({ clientId: String(json['client_id']) }),
  singular: 'Application',
  plural: 'Applications',
  about: 'An application people sign in to, or a program that calls an API.',
  searchHint: 'A part of the name, or a client ID',
  idField: 'client_id',
  titleOf: (json) => text(json['name']),
  columns: [
    ['Client ID', (json) => code(json['client_id'])],
    ['Type', (json) => text(json['type']), 'type'],
    ['Authentication', (json) => worded(json['token_endpoint_auth_method'], authMethodChoices)],
    ['State', enabled],
    lastUsed,
  ],
  firstTab: 'Settings',
  formTabs: [
    ['/credentials', 'Credentials'],
    ['/sign-in', 'Sign-in'],
    ['/tokens', 'Tokens & claims'],
    ['/acts-for', 'Acts for'],
    ['/logout', 'Logout'],
  ],
  tabs: [
    ['/access', 'Access'],
    ['/activity', 'Activity'],
    ['/start', 'Start'],
  ],
  links: [
    ['/client-hosts', 'Agents by host'],
    ['/initial-access-tokens', 'Applications that register themselves'],
    ['/workload-issuers', 'Programs known by their platform'],
  ],
  facts: [
    ['Where it comes from', comesFrom],
    lastUsed,
    lastSignIn,
    created,
    ['Made by', (json) => code(json['created_by'])],
    ['Secret made by', (json) => code(json['secret_by'])],
  ],
  fields: clientForm,
  withChoices,
  besideForm: { '/tokens': claimsPanel },
  initial: {
    ...defaultsOf(clientFields),
    ...signingIn,
  },
  actions: [
    {
      name: 'Make a new secret',
      path: '/secret',
      tab: '/credentials',
      ask: 'Make a new secret for',
      done: 'has a new secret',
      confirm: 'The present secret stops working at once. The new one is shown for ten minutes.',
      applies: (json) => text(json['token_endpoint_auth_method']).startsWith('client_secret'),
    },
  ],
  holds: '/assignments',
  deletion: 'You can’t undo this. Its grants and tokens end at once, and nobody signs in to it any more.',
  shownOnce: ['client_secret'],
};

/** Of a program that nobody registered, the hosts that are facts. */
function comesFrom({ origin, client_id: id, redirect_uris: uris }: Json): Html | string {
  if (origin === null) return 'Somebody registered it here';
  const host = hostOfStranger({ clientId: id as ClientId, origin: origin as Origin, redirectUris: uris as readonly string[] }); // the API's shape
  const how = origin === 'document' ? 'Nobody registered it: by the document at' : 'Nobody registered it: answers go to';
  return html`${how} ${code(host ?? 'a program on the person’s computer')}`;
}

/** Capabilities to tick. */
export const capabilityGroup = (tenant: Tenant): OptionGroup & { readonly areOurs: true } => ({
  name: 'Management API and SCIM',
  areOurs: true,
  options: capabilitiesOfTenant(tenant).map((capability) => [capability, capabilityWords[capability]]),
});

const scopesOfApisMax = 100;

/** Scopes to tick: ours, those of the tenant's APIs, and capabilities. */
async function withChoices(visit: Visit, fields: readonly FormField[]): Promise<readonly FormField[]> {
  if (!fields.some(({ kind }) => kind === 'picker')) return fields;
  const apis = maySee(visit, '/resources') ? itemsOf(await manage(visit, 'GET', `/resources?limit=${scopesOfApisMax}`)) : [];
  const groups: readonly OptionGroup[] = [
    {
      name: 'People',
      areOurs: true,
      options: [
        ...standardScopes.map((scope) => [scope, scopeMeanings[scope]] as const),
        ...(visit.request.tenant.organizations.exist ? Object.entries(organizationScopeMeanings) : []),
      ],
    },
    ...apis.flatMap((api): readonly OptionGroup[] => {
      const scopes = api['scopes'] as readonly { readonly name: string; readonly description?: string | null }[]; // the API's shape
      return scopes.length === 0
        ? []
        : [{ name: text(api['name']), options: scopes.map(({ name, description }) => [name, description ?? '']) }];
    }),
    capabilityGroup(visit.request.tenant),
  ];
  return fields.map((field) => (field.kind === 'picker' ? { ...field, groups } : field));
}

/** Where the claims of its tokens are ruled. */
function claimsPanel(visit: Visit, json: Json): Html {
  const rules = (json['mappings'] as readonly unknown[]).length; // the API's shape
  const said =
    rules === 0
      ? 'It has no rules of its own: those of all applications hold.'
      : `It has ${rules} ${rules === 1 ? 'rule' : 'rules'} of its own.`;
  const query = new URLSearchParams({ kind: 'oidc', target: text(json['client_id']) });
  return html`<section class="panel"><h2>Claims</h2><p>${said}</p><p><a class="button quiet" id="claims" href="${consolePath(visit.request.tenant, '/mappings')}?${query.toString()}">Claims of this application</a></p></section>`;
}

export const initialAccessTokens: ConsoleResource = {
  path: '/initial-access-tokens',
  singular: 'Initial access token',
  plural: 'Initial access tokens',
  about: 'Lets this number of applications register themselves, within its policy, if the settings of tokens allow it.',
  searchHint: 'A part of a host',
  idField: 'id',
  titleOf: (json) => text(json['id']),
  columns: [
    ['Used', (json) => `${text(json['used'])} of ${text(json['count'])}`],
    ['Ends', (json) => shownTime(json['expires_at'])],
    created,
  ],
  facts: [
    ['Used', (json) => text(json['used'])],
    ['Ends', (json) => shownTime(json['expires_at'])],
    created,
    ['Made by', (json) => code(json['created_by'])],
  ],
  fields: formOf(initialAccessTokenFields),
  initial: defaultsOf(initialAccessTokenFields),
  shownOnce: ['token'],
  deletion: 'No application can register with it any more. Applications that registered stay.',
};
