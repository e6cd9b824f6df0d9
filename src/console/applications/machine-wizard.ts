// A new machine (design 18, 3): a platform, the few values that name a program there, and what it may do. The issuer of the platform's tokens is
// registered where the tenant has none, and the application's own page says what is written on the platform (machine-start.ts). A program
// without such a platform has a key of its own.
import type { FastifyReply } from 'fastify';
import { reject } from '../../contract/contract-error.ts';
import { federatedMethod } from '../../domain/client/workload.ts';
import {
  isPresetName,
  issuerOfPreset,
  type PresetAsk,
  readPreset,
  type WorkloadPreset,
  whyNotTaken,
  workloadOfPreset,
  workloadPresets,
} from '../../domain/client/workload-presets.ts';
import type { Json } from '../../domain/field.ts';
import { jwtBearerGrantType, machineGrantType } from '../../domain/oidc/grant-types.ts';
import { capabilitiesOfTenant } from '../../domain/people/capabilities.ts';
import type { ApiAnswer } from '../../first-party/app-api.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField } from '../../first-party/app-page.ts';
import { type FormField, type OptionGroup, readFields, renderFields } from '../../first-party/form-field.ts';
import { html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { finish, frameOf, itemsOf, manage, type Refused, refusedBy, refusedField, showPage, type Visit } from '../console-visit.ts';
import { mayChange, maySee } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { pathOf } from '../resource-pages.ts';
import { audiencesOf } from './audiences.ts';
import { capabilityGroup, clients } from './client-resource.ts';
import { loadIssuers } from './machine-start.ts';

export const machinePath = '/clients/machine';

/** A program that signs with a key of its own, as the platforms are asked for. */
const ownKey = {
  label: 'A key of its own',
  asks: {
    jwks: { label: 'Its keys', about: 'the public keys as a JSON Web Key Set, or one key', isOptional: true },
    jwks_uri: {
      label: 'Address of its keys',
      about: 'where it publishes them instead, so that it can change them by itself',
      isOptional: true,
    },
  },
  oneOf: ['jwks', 'jwks_uri'],
} as const satisfies Pick<WorkloadPreset, 'label' | 'asks' | 'oneOf'>;

type Asked = Pick<WorkloadPreset, 'label' | 'asks' | 'oneOf'>;

const platforms: Readonly<Record<string, Asked>> = { ...workloadPresets, key: ownKey };
const platformIn = ({ query }: Visit): string | undefined => {
  const name = query.get('platform');
  return name !== null && Object.hasOwn(platforms, name) ? name : undefined;
};

/** The platforms to choose from, or the questions about one. */
export function machinePage(visit: Visit): FastifyReply | Promise<FastifyReply> {
  if (!mayChange(visit, clients.path)) throw lacking(visit);
  const name = platformIn(visit);
  return name === undefined ? platformsPage(visit) : questionsPage(visit, name);
}

function platformsPage(visit: Visit): FastifyReply {
  const at = (below: string): string => consolePath(visit.request.tenant, below);
  return showPage(
    visit,
    'New machine',
    html`<p class="muted">Where does it run? The tokens that its platform gives it stand for a secret: nothing is stored on either side. <a href="${at('/clients/new?kind=machine')}">One with a secret</a></p><ul class="cards">${Object.entries(
      platforms,
    ).map(
      ([name, platform]) =>
        html`<li class="card"><h2><a id="platform-${name}" href="${at(`${machinePath}?platform=${name}`)}">${platform.label}</a></h2><p>${aboutOf(platform)}</p></li>`,
    )}</ul>`,
  );
}

/** What names a program on a platform. */
function aboutOf({ asks, oneOf = [] }: Asked): string {
  const name = (one: string): string => inSentence(labelOf(one, asks[one]!));
  const needed = Object.entries(asks).flatMap(([one, ask]) => (ask.default === undefined && ask.isOptional !== true ? [name(one)] : []));
  return `Asks for ${[...needed, ...(oneOf.length === 0 ? [] : [oneOf.map(name).join(' or ')])].join(', ')}.`;
}

const inSentence = (label: string): string => label.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());

const sentence = (about: string): string => `${about.charAt(0).toUpperCase()}${about.slice(1)}.`;
const labelOf = (name: string, { label }: PresetAsk): string =>
  label ?? `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`;

const nameField: FormField = {
  path: 'name',
  label: 'Name',
  kind: 'text',
  required: true,
  hint: 'As administrators see it in lists and events.',
};

const fieldOf = (name: string, ask: PresetAsk): FormField => ({
  path: name,
  label: labelOf(name, ask),
  kind: name === 'jwks' ? 'keys' : 'text',
  hint: sentence(ask.about),
  ...(name.startsWith('jwks') && { apiPath: 'keys' }),
  ...(ask.default === undefined && ask.isOptional !== true && { required: true }),
});

/** What the tenant has that a program may call. */
interface Api {
  readonly identifier: string;
  readonly name: string;
  readonly scopes: OptionGroup['options'];
  readonly areOurs?: true;
}

const apisMax = 100;

async function apisOf(visit: Visit): Promise<readonly Api[]> {
  const { tenant } = visit.request;
  const { name, areOurs, options: scopes } = capabilityGroup(tenant);
  const others = maySee(visit, '/resources') ? itemsOf(await manage(visit, 'GET', `/resources?limit=${apisMax}`)) : [];
  return [
    { identifier: tenant.managementApi, name, areOurs, scopes },
    ...others.map((api) => ({
      identifier: text(api['identifier']),
      name: text(api['name']),
      scopes: (api['scopes'] as readonly { readonly name: string; readonly description?: string | null }[]) // the API's shape
        .map(({ name, description }) => [name, description ?? ''] as const),
    })),
  ];
}

const everythingField: FormField = {
  path: 'everything',
  label: 'Everything in this tenant',
  kind: 'checkbox',
  hint: 'What a job needs that applies documents on this server (gatehouse apply --server), instead of the list above.',
};

/** Whoever may do everything can let a machine do it. */
const mayGiveEverything = ({ allowed, request }: Visit): boolean =>
  capabilitiesOfTenant(request.tenant).every((capability) => allowed.has(capability));

function fieldsOf(visit: Visit, { asks }: Asked, apis: readonly Api[]): readonly FormField[] {
  const api: FormField = {
    path: 'resource',
    label: 'What it calls',
    kind: 'select',
    options: apis.map(({ identifier }) => identifier),
    optionLabels: Object.fromEntries(apis.map(({ identifier, name }) => [identifier, { label: name }])),
    hint: 'Its tokens are for this API alone.',
  };
  const may: FormField = {
    path: 'scopes',
    label: 'What it may do there',
    kind: 'picker',
    groups: apis.filter(({ scopes }) => scopes.length > 0).map(({ scopes: options, identifier: _of, ...group }) => ({ ...group, options })),
    hint: 'Give it no more than it needs.',
  };
  const everything = mayGiveEverything(visit) ? [everythingField] : [];
  return [nameField, ...Object.entries(asks).map(([name, ask]) => fieldOf(name, ask)), api, may, ...everything];
}

async function questionsPage(visit: Visit, name: string, typed?: Typed, refused?: Refused): Promise<FastifyReply> {
  const platform = platforms[name]!;
  const at = (below: string): string => consolePath(visit.request.tenant, below);
  const defaults = Object.fromEntries(Object.entries(platform.asks).map(([asked, { default: value }]) => [asked, value]));
  const fields = fieldsOf(visit, platform, await apisOf(visit));
  return showPage(
    visit,
    `New machine: ${platform.label}`,
    html`<p class="muted"><a href="${at(machinePath)}">Another platform</a></p><form class="card" method="post" action="${at(`${machinePath}?platform=${name}`)}">${csrfField(frameOf(visit))}
${renderFields(fields, { ...defaults, scopes: [] }, typed, refused?.fault)}<div class="bar end"><button id="save">Create</button> <a class="button quiet" href="${at(clients.path)}">Cancel</a></div></form>`,
    refused?.notice,
  );
}

export async function createMachine(visit: Visit, typed: Typed): Promise<FastifyReply> {
  if (!mayChange(visit, clients.path)) throw lacking(visit);
  const name = platformIn(visit);
  if (name === undefined) return platformsPage(visit);
  const apis = await apisOf(visit);
  const fields = fieldsOf(visit, platforms[name]!, apis);
  const refuse = (refused: Refused): Promise<FastifyReply> => questionsPage(visit, name, typed, refused);
  const at = (path: string, why: string): Promise<FastifyReply> =>
    refuse(refusedField({ field: fields.find((field) => field.path === path)!, text: why }));
  const read = readFields(fields, typed);
  if (!read.ok) return refuse(refusedField(read.fault));
  const wrong = givenFault(name, apis, read.json);
  if (wrong !== undefined) return at(wrong.path, wrong.text);
  const speaking = await spokenOf(visit, name, read.json, (answer) => refusedBy(answer, fieldsOfIssuer(fields, read.json), typed));
  if ('refused' in speaking) return refuse(speaking.refused);
  const answer = await manage(visit, 'POST', clients.path, { ...clientOf(visit, read.json), ...speaking.values });
  if (answer.status !== 201) return refuse(refusedBy(answer, fieldsOfClient(fields), typed));
  return finish(
    visit,
    `${pathOf(clients, text(answer.body['client_id']))}/start`,
    `The application ${text(answer.body['name'])} was created.`,
  );
}

/** An issuer is refused for its keys, wherever they are. */
const fieldsOfIssuer = (fields: readonly FormField[], { jwks }: Json): readonly FormField[] =>
  fields.filter(({ path }) => path !== (jwks === null ? 'jwks' : 'jwks_uri'));
/** A client is refused for its keys under another name than an issuer is. */
const fieldsOfClient = (fields: readonly FormField[]): readonly FormField[] => fields.map(({ apiPath: _of, ...field }) => field);

interface Fault {
  readonly path: string;
  readonly text: string;
}

const wordsOf = (json: Json, asks: Asked['asks']): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.keys(asks).flatMap((name) => {
      const value = json[name];
      return value === null || value === undefined ? [] : [[name, name === 'jwks' ? JSON.stringify(value) : String(value)]];
    }),
  );

/** What can be told before anything is made. */
function givenFault(name: string, apis: readonly Api[], json: Json): Fault | undefined {
  const { asks, oneOf } = platforms[name]!;
  if (json['name'] === null) return { path: 'name', text: 'is required' };
  const words = wordsOf(json, asks);
  const read = readPreset({ asks, ...(oneOf !== undefined && { oneOf }) }, words);
  if (!read.ok) {
    const isChoice = words[read.name] === undefined && oneOf?.includes(read.name) === true;
    const wanted = isChoice ? oneOf.map((one) => labelOf(one, asks[one]!)).join(' or ') : asks[read.name]!.about;
    return { path: read.name, text: `must be given: ${wanted}` };
  }
  const api = apis.find(({ identifier }) => identifier === json['resource']);
  if (api === undefined) return { path: 'resource', text: 'must be one of those that are listed' };
  if (json['everything'] === true && api !== apis[0]) return { path: 'everything', text: `is of the ${apis[0]!.name} alone` };
  const known = new Set(api.scopes.map(([scope]) => scope));
  const unknown = ((json['scopes'] ?? []) as readonly string[]).find((scope) => !known.has(scope)); // a picker
  return unknown === undefined ? undefined : { path: 'scopes', text: `${unknown} is no scope of ${api.name}` };
}

type Speaking = { readonly values: Json } | { readonly refused: Refused };

/** How the program says who it is: by its keys, or by its platform, whose issuer is there afterwards. */
async function spokenOf(visit: Visit, name: string, json: Json, refused: (answer: ApiAnswer) => Refused): Promise<Speaking> {
  const { jwks, jwks_uri } = json;
  if (!isPresetName(name))
    return { values: { token_endpoint_auth_method: 'private_key_jwt', ...(jwks === null ? { jwks_uri } : { jwks, jwks_uri }) } };
  const preset = workloadPresets[name];
  const read = readPreset(preset, wordsOf(json, preset.asks));
  if (!read.ok) throw new Error('it was read before');
  const wanted = issuerOfPreset(preset, read.given);
  const found = (await loadIssuers(visit)).find(({ issuer }) => issuer === wanted['issuer']);
  const why = found && whyNotTaken(found, wanted);
  if (why !== undefined)
    return { refused: { notice: { kind: 'bad', text: `The workload issuer ${text(wanted['issuer'])} was expected ${why}.` } } };
  // It stays where the client is refused: nobody is known by it, and the next one takes it.
  const made = found === undefined ? await manage(visit, 'POST', '/workload-issuers', wanted) : undefined;
  if (made !== undefined && made.status !== 201) return { refused: refused(made) };
  return { values: { token_endpoint_auth_method: federatedMethod, workloads: [workloadOfPreset(preset, read.given)] } };
}

function clientOf(visit: Visit, { name, resource, scopes: ticked, everything }: Json): Json {
  const { tenant } = visit.request;
  const scopes = everything === true ? capabilitiesOfTenant(tenant) : ticked;
  if (resource === tenant.managementApi) return { name, scopes, grant_types: [machineGrantType], ...audiencesOf(visit, { scopes }) };
  return { name, scopes, grant_types: [jwtBearerGrantType], resources: [resource] };
}

const lacking = ({ allowed }: Visit): Error =>
  reject(
    'management.forbidden',
    { reason: 'missing_capability', expected: 'clients:write', received: [...allowed].join(' ') },
    { text: 'Only administrators who may change applications register them.' },
  );
