// A new other provider, by what it is: first the address it must know, then only the fields it needs, in its own words and menus. It is made
// without its button, and its page "Try it" comes next. The whole form is behind "Every field".
import type { FastifyReply } from 'fastify';
import type { Json } from '../../domain/field.ts';
import { kinds } from '../../domain/kinds.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField } from '../../first-party/app-page.ts';
import { type FormField, formOf, readFields, renderFields } from '../../first-party/form-field.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { consoleResource } from '../console-resources.ts';
import { finish, frameOf, itemsOf, manage, type Refused, refusedBy, refusedField, showPage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { pathOf } from '../resource-pages.ts';

const resource = consoleResource('/identity-providers');
const path = `${resource.path}/new`;
const aliasesRead = 200;

const form = formOf(kinds.identity_provider.fields);
const fieldAt = (path: string, asked: Partial<FormField> = {}): FormField => {
  const { tab: _tab, ...field } = form.find((one) => one.path === path)!;
  return { ...field, ...asked };
};

interface Guide {
  readonly about: string;
  /** Where its side is set up, and what the callback address is called there. */
  readonly steps: readonly string[];
  /** What is asked for here, beside its name, with the other side's words. */
  readonly asks: Readonly<Record<string, Partial<FormField>>>;
}

const secretOf = (called: string): Partial<FormField> => ({ label: called, hint: 'Kept encrypted and never shown again.' });

// biome-ignore format: a provider a few lines
const guides: Readonly<Record<string, Guide>> = {
  google: { about: 'Accounts of Google and of companies on Google Workspace.',
    steps: ['Google Cloud console, APIs & Services, Credentials: Create credentials, OAuth client ID, Web application.', 'Put the address above under Authorised redirect URIs.'],
    asks: { client_id: { label: 'Client ID' }, client_secret: secretOf('Client secret') } },
  microsoft: { about: 'People of directories of Microsoft Entra.',
    steps: ['Entra admin centre, App registrations: New registration. Under Redirect URI choose Web, and put the address above there.', 'Certificates & secrets: New client secret; copy its Value, not its Secret ID.', 'Token configuration: add the optional claims email and xms_edov, so that its word on emails counts.'],
    asks: { client_id: { label: 'Application (client) ID' }, client_secret: secretOf('Client secret, its Value'),
      tenants: { label: 'Directory (tenant) IDs', hint: 'One a line: whose people may sign in.' } } },
  github: { about: 'Accounts of GitHub.',
    steps: ['GitHub, Settings, Developer settings, OAuth Apps: New OAuth App.', 'Put the address above under Authorization callback URL.'],
    asks: { client_id: { label: 'Client ID' }, client_secret: secretOf('Client secret') } },
  oidc: { about: 'Anything that speaks OpenID Connect: Okta, Auth0, Keycloak, Ping, another Gatehouse.',
    steps: ['Make an application of the kind “web” there, and put the address above where it asks for a redirect or callback URI.'],
    asks: { issuer: { label: 'Issuer', hint: 'The address that its discovery document is below, without /.well-known/….' }, client_id: { label: 'Client ID' }, client_secret: secretOf('Client secret') } },
  saml: { about: 'A company’s own sign-in that speaks SAML 2.0: ADFS, Entra, Okta, Shibboleth.',
    steps: ['Make a SAML application there. The address above is its ACS or reply URL, and ends with /metadata where it asks for the entity ID or our metadata.', 'Download its metadata and paste it here.'],
    asks: { metadata: { label: 'Its metadata', hint: 'The whole XML.' } } },
};

/** What is asked for again where nobody answers: a secret is for one issuer, and given again for another. */
export const fieldsOfIssuer: readonly FormField[] = [
  fieldAt('issuer', guides['oidc']!.asks['issuer']),
  fieldAt('client_secret', { hint: 'Again, because it is sent to the issuer.' }),
];

const common = ['trust_email', 'create_users'];

type Preset = NonNullable<typeof resource.presets>[number];

const presetOf = (name: string | null): Preset | undefined => resource.presets?.find((one) => one.name === name);

/** What a new one of the kind is asked for, in the order of the form. */
function fieldsOf({ name }: Preset): readonly FormField[] {
  const asks = guides[name]?.asks ?? {};
  const paths = ['name', ...Object.keys(asks), ...common];
  return paths.map((at) => fieldAt(at, asks[at]));
}

/** A choice of what it is; then what that needs. */
export async function providerWizard(visit: Visit, typed?: Typed, refused?: Refused): Promise<FastifyReply> {
  const preset = presetOf(visit.query.get('preset'));
  const { tenant } = visit.request;
  const byHand = html`<p class="muted"><a href="${consolePath(tenant, `${resource.path}/by-hand`)}${preset !== undefined && `?preset=${preset.name}`}">Every field</a>, if you know what you need.</p>`;
  if (preset === undefined) {
    const cards = (resource.presets ?? []).map(
      ({ name, label }) =>
        html`<li class="card"><h2><a href="${consolePath(tenant, `${path}?preset=${name}`)}">${label}</a></h2><p class="muted">${guides[name]?.about}</p></li>`,
    );
    return showPage(visit, 'New other provider', html`<ul class="cards">${cards}</ul>${byHand}`, refused?.notice);
  }
  const alias = typed?.get('alias') ?? (await freeAlias(visit, String(preset.initial['alias'] ?? preset.name)));
  return showPage(
    visit,
    `New other provider: ${preset.label}`,
    html`${setUp(visit, preset, alias)}
<form class="card" method="post" action="${consolePath(tenant, path)}?preset=${preset.name}">${csrfField(frameOf(visit))}<input type="hidden" name="alias" value="${alias}"><h2>2. Here</h2>
${renderFields(fieldsOf(preset), { ...resource.initial, ...preset.initial }, typed, refused?.fault)}<div class="bar end"><button id="save">Create, and try it</button> <a class="button quiet" href="${consolePath(tenant, path)}">Another kind</a></div></form>${byHand}`,
    refused?.notice,
  );
}

/** Its side, with the address it must know. */
function setUp({ request }: Visit, { name }: Preset, alias: string): Html {
  return html`<section class="panel"><h2>1. At its side</h2><p>The address it sends people back to:</p><pre id="callback">${request.tenant.baseUrl}/login/callback/${alias}</pre><ol class="lines">${guides[name]?.steps.map((step) => html`<li>${step}</li>`)}</ol></section>`;
}

/** The name in the callback address: what the kind is called, with a number where that is taken. */
async function freeAlias(visit: Visit, wished: string): Promise<string> {
  const taken = new Set(itemsOf(await manage(visit, 'GET', `${resource.path}?limit=${aliasesRead}`)).map(({ alias }) => text(alias)));
  if (!taken.has(wished)) return wished;
  let number = 2;
  while (taken.has(`${wished}-${number}`)) number += 1;
  return `${wished}-${number}`;
}

export async function createProvider(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const preset = presetOf(visit.query.get('preset'));
  if (preset === undefined) return providerWizard(visit);
  const fields = fieldsOf(preset);
  const read = readFields(fields, typed);
  if (!read.ok) return providerWizard(visit, typed, refusedField(read.fault));
  const given = Object.entries({ ...preset.initial, ...read.json, alias: typed.get('alias') ?? '' }).filter(([, value]) => value !== null);
  const answer = await manage(visit, 'POST', resource.path, { ...(Object.fromEntries(given) as Json), enabled: false });
  if (answer.status !== 201) return providerWizard(visit, typed, refusedBy(answer, fields, typed));
  return finish(
    visit,
    `${pathOf(resource, text(answer.body['id']))}/try`,
    `${text(answer.body['name'])} was made. Try it before people see it.`,
  );
}
