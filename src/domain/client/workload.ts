// Workload identity (design 18, part 3): the issuers whose tokens a tenant takes for its programs, as registered, and which tokens a client
// is known by. Pure.
import {
  audiencesPerIssuerMax,
  claimsPerWorkloadMax,
  nameCharsMax,
  urlCharsMax,
  workloadIssuersMax,
  workloadLifetimeSecondsMax,
  workloadsPerClientMax,
} from '../../contract/limits.ts';
import { field, flag, type Json, json, list, seconds, text } from '../field.ts';
import { type Context, defineKind, type KindFault, type Thing } from '../kind.ts';
import { calledUriFault } from './client-uris.ts';
import { type JwkSet, jwkSetShape, keysFault } from './jwk-set.ts';
import { credentialsTab } from './tls-client-auth.ts';

/** Where the keys of an issuer are: its discovery document, at its own address or at another; an address of keys; or the keys themselves. */
type IssuerKeys = { readonly discovery: true | string } | { readonly jwks_uri: string } | { readonly jwks: JwkSet };

const uriShape = text(urlCharsMax).shape;
const keys = json<IssuerKeys>({
  type: 'object',
  properties: {
    discovery: { anyOf: [{ const: true }, uriShape] },
    jwks_uri: uriShape,
    jwks: jwkSetShape,
  },
  additionalProperties: false,
  minProperties: 1,
  maxProperties: 1,
});

/** SPIFFE ID 2.1: a trust domain and nothing after it. */
const trustDomain = /^spiffe:\/\/[a-z0-9._-]{1,255}$/;
const isTrustDomain = (issuer: string): boolean => trustDomain.test(issuer);
const spiffeId = /^(spiffe:\/\/[a-z0-9._-]{1,255})\/./;

// biome-ignore format: a field a line or two
export const workloadIssuerFields = {
  name: field('name', text(nameCharsMax), { required: true, label: 'Name' }),
  issuer: field('issuer', text(urlCharsMax), { required: true, label: 'Issuer', check: issuerFault,
    help: 'The iss of its tokens: an https address, or spiffe://trust-domain.' }),
  keys: field('keys', keys, { default: { discovery: true } as IssuerKeys, label: 'Where its keys are', check: keysOfIssuerFault,
    help: '{"discovery": true}, {"jwks_uri": "https://..."} or {"jwks": {"keys": [...]}}.' }),
  audiences: field('audiences', list(text(urlCharsMax), audiencesPerIssuerMax), { default: [], label: 'Audiences',
    help: 'One a line: what its tokens may be for. None: the address of this tenant.' }),
  lifetimeSecondsMax: field('lifetime_seconds_max', seconds(1, workloadLifetimeSecondsMax), { default: 3600,
    label: 'How long its tokens may live, in seconds' }),
  enabled: field('enabled', flag, { default: true, label: 'Enabled' }),
} as const;

export type WorkloadIssuer = Thing<typeof workloadIssuerFields>;

export const workloadIssuerKind = defineKind({
  noun: 'workload_issuer',
  plural: 'workload_issuers',
  called: 'workload issuer',
  fields: workloadIssuerFields,
  key: 'id',
  unique: [['issuer', 'The issuer is in use.']],
  atMost: { count: workloadIssuersMax, field: 'issuer', of: 'workload issuers' },
  rules: issuerRules,
  power: { read: 'clients:read', write: 'clients:write' },
  searched: ({ name, issuer }) => [name, issuer],
  told: { created: ({ issuer }) => ({ issuer }) },
  defaultsLeftOut: { but: [] },
  summaries: {
    create:
      'Register an issuer whose tokens programs of the tenant may be known by; the caller needs every capability of the clients that name it',
    list: 'List workload issuers, oldest first; `search` is a part of a name or issuer',
    read: 'Read a workload issuer',
    change: 'Change a workload issuer; the caller needs every capability of the clients that name it, before and after',
    remove: 'Delete a workload issuer: its tokens no longer identify the clients that name it',
  },
  pages: {
    singular: 'Workload issuer',
    plural: 'Workload issuers',
    about: 'A platform your programs run on, such as GitHub Actions or Kubernetes: the tokens it gives them stand for secrets.',
    searchHint: 'A part of the name or issuer',
    title: 'name',
    deletion: 'Programs that are known by its tokens alone get no more tokens here.',
  },
});

function issuerFault(issuer: string): string | undefined {
  if (isTrustDomain(issuer)) return undefined;
  const fault = calledUriFault(issuer);
  if (fault !== undefined) return `${fault}, or spiffe:// with a trust domain`;
  return issuer.includes('?') ? 'must be without a query' : undefined;
}

function keysOfIssuerFault(given: IssuerKeys): string | undefined {
  if ('jwks' in given) return keysFault(given.jwks);
  const address = 'jwks_uri' in given ? given.jwks_uri : given.discovery;
  return address === true ? undefined : calledUriFault(address);
}

function issuerRules({ issuer, keys: where }: Pick<WorkloadIssuer, 'issuer' | 'keys'>, { tenant }: Context): KindFault | undefined {
  if (issuer === tenant.baseUrl) return { field: 'issuer', text: 'must not be this tenant: its tokens are of people' };
  if (isTrustDomain(issuer) && 'discovery' in where && where.discovery === true)
    return { field: 'keys', text: 'must name an address, or be the keys: a trust domain has no address' };
  return undefined;
}

/** A token of an issuer that a client is known by: its subject, and claims with exactly these values. */
export interface Workload {
  readonly issuer: string;
  readonly subject?: string;
  readonly claims?: Readonly<Record<string, string>>;
}

const workloads = json<readonly Workload[]>({
  type: 'array',
  items: {
    type: 'object',
    required: ['issuer'],
    properties: {
      issuer: uriShape,
      subject: { type: 'string', minLength: 1, maxLength: urlCharsMax },
      claims: {
        type: 'object',
        additionalProperties: { type: 'string', minLength: 1, maxLength: urlCharsMax },
        minProperties: 1,
        maxProperties: claimsPerWorkloadMax,
      },
    },
    additionalProperties: false,
  },
  maxItems: workloadsPerClientMax,
});

/** Known by a token of its platform: an administrator registers it, so that no metadata offers it. */
export const federatedMethod = 'federated_jwt' as const;

export const workloadFields = {
  workloads: field('workloads', workloads, {
    default: [],
    label: 'Workloads it is',
    tab: credentialsTab,
    help: 'Tokens of its platform that it is known by: [{"issuer": "https://token.actions.githubusercontent.com", "subject": "repo:acme/shop:environment:production"}]. All that is named must be equal.',
    check: workloadsFault,
  }),
} as const;

function workloadsFault(all: readonly Workload[]): string | undefined {
  for (const { issuer, subject, claims } of all) {
    const fault = issuerFault(issuer);
    if (fault !== undefined) return `has an issuer that ${fault}`;
    // Whoever has any token of a public platform would be it.
    if (subject === undefined && claims === undefined) return 'must name a subject, claims or both of each issuer';
  }
  return undefined;
}

/** Who issued a token by its own word: its `iss`; a JWT-SVID, which needs none, is of the trust domain of its subject (JWT-SVID 3). */
export function issuerIn({ iss, sub }: Json): string | undefined {
  if (iss !== undefined) return typeof iss === 'string' ? iss : undefined;
  return domainIn(sub);
}

const domainIn = (sub: unknown): string | undefined => (typeof sub === 'string' ? spiffeId.exec(sub)?.[1] : undefined);

/** Whether an issuer may speak of a subject: a trust domain of its own alone. */
export const mayNameSubject = (issuer: string, sub: unknown): boolean => !isTrustDomain(issuer) || domainIn(sub) === issuer;

/** Whether a token of the issuer that was verified is this workload: exact text, no patterns. */
export function isWorkload({ issuer, subject, claims = {} }: Workload, tokenIssuer: string, token: Json): boolean {
  if (tokenIssuer !== issuer) return false;
  if (subject !== undefined && token['sub'] !== subject) return false;
  return Object.entries(claims).every(([name, value]) => Object.hasOwn(token, name) && wordOf(token[name]) === value);
}

/** Platforms say ids as numbers and flags as they like; other values are equal to no text. */
function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value) ? String(value) : undefined;
}
