// Hooks (design 16, 3): an endpoint of the tenant that is asked before tokens are issued or a sign-in ends, and may add claims or
// deny. The table of its fields, which requests it is asked about, and what an answer may say. Pure.
import {
  clientsPerHookMax,
  hookClaimsBytesMax,
  hookClaimsDepthMax,
  hookDeadlineMsMax,
  hookDeadlineMsMin,
  hookReasonCharsMax,
  urlCharsMax,
} from '../../contract/limits.ts';
import { calledUriFault } from '../client/client-uris.ts';
import { consoleClientId } from '../client/own-clients.ts';
import { choice, count, field, flag, list, ownField, text, time } from '../field.ts';
import { defineKind, type Thing } from '../kind.ts';
import { isProtocolClaim } from '../oidc/protocol-claims.ts';
import { fail, type Outcome } from '../outcome.ts';
import { madeSigningSecret, secretKind, signingSecret } from './signing-secret.ts';

export const hookPoints = {
  token: { label: 'Before tokens are issued' },
  sign_in: { label: 'Before a sign-in ends' },
} as const;
export type HookPoint = keyof typeof hookPoints;
const pointNames = Object.keys(hookPoints) as readonly HookPoint[];

const onFailures = {
  refuse: { label: 'Refuse: nobody passes unasked' },
  continue: { label: 'Continue: as if it had nothing to say' },
} as const;

// biome-ignore format: a field a line or two
export const hookFields = {
  point: field('point', choice(pointNames, hookPoints), { required: true, write: 'create', form: 'new', label: 'Asked' }),
  url: field('url', text(urlCharsMax), { required: true, label: 'Address', check: calledUriFault, help: 'An https address. It gets a signed POST.' }),
  onFailure: field('on_failure', choice(['refuse', 'continue'], onFailures), { required: true, label: 'When it does not answer' }),
  deadlineMs: field('deadline_ms', count(hookDeadlineMsMin, hookDeadlineMsMax), { default: 1000, label: 'Deadline, in milliseconds',
    help: 'People and programs wait for it.' }),
  clients: field('clients', list(text(urlCharsMax), clientsPerHookMax), { default: [], label: 'Only for these clients',
    help: 'Client IDs of applications and entity IDs of SAML applications, one a line. None: for all.' }),
  enabled: field('enabled', flag, { default: true, label: 'Enabled' }),
  secret: field('secret', secretKind, { ...signingSecret, column: 'secret_encrypted' }),
  previousSecret: ownField('previous_secret', secretKind, { hidden: true, column: 'previous_secret_encrypted' }),
  previousUntilMs: ownField('previous_secret_until', time, { hidden: true, column: 'previous_until' }),
} as const;

export type Hook = Thing<typeof hookFields>;

export const hookKind = defineKind({
  noun: 'hook',
  plural: 'hooks',
  called: 'hook',
  fields: hookFields,
  key: 'id',
  unique: [['point', 'The point has a hook.']],
  secret: {
    key: 'secret',
    made: {
      ...madeSigningSecret,
      description: 'Standard Webhooks; shown once',
      rotation: {
        summary: 'Make a new secret, shown once; the one before signs too for 24 hours',
        status: 201,
        answer: 'secret',
        confirm: 'Calls are signed with both secrets for 24 hours. The new one is shown for ten minutes.',
      },
    },
  },
  // It is told who signs in, and as what.
  power: { read: 'sign-in:read', write: 'sign-in:write', needs: () => ['users:read'], isFreelyDeleted: true },
  searched: ({ url, point }) => [url, point],
  told: { created: ({ point }) => ({ point }) },
  summaries: {
    create: 'Register a hook; a point has one. Its secret is shown once',
    list: 'List hooks, oldest first; `search` is a part of an address',
    read: 'Read a hook',
    change: 'Change a hook',
    remove: 'Delete a hook: from now on nobody is asked',
  },
  pages: {
    singular: 'Hook',
    plural: 'Hooks',
    about: 'A program of yours that is asked before tokens are issued or a sign-in ends: it adds claims, or denies.',
    searchHint: 'A part of the address',
    title: 'point',
    deletion: 'From now on nobody is asked: what it added is missing, and what it denied passes.',
  },
});

/** The hooks of a tenant that are asked; most have none. */
export type TenantHooks = { readonly [Point in HookPoint]?: Hook };

/** The hook that is asked about a client or a service provider; undefined for none. */
export function hookFor(hooks: TenantHooks, point: HookPoint, applicationId: string): Hook | undefined {
  const hook = hooks[point];
  if (hook === undefined || applicationId === consoleClientId) return undefined;
  return hook.clients.length === 0 || hook.clients.includes(applicationId) ? hook : undefined;
}

type ClaimSet = Readonly<Record<string, unknown>>;

/** Claims a hook adds, by the token that carries them. */
export interface HookClaims {
  readonly id_token?: ClaimSet;
  readonly access_token?: ClaimSet;
}

export type HookAnswer = { readonly claims: HookClaims } | { readonly deny: { readonly reason: string } };

const tokenNames: readonly string[] = ['id_token', 'access_token'];

/** What an answer says, or a word for why it says nothing. Whatever the wire form does not name is a fault. */
export function readHookAnswer(status: number, body: string): Outcome<{ readonly answer: HookAnswer | undefined }, string> {
  if (status === 204) return { ok: true, answer: undefined };
  if (status !== 200) return fail(`status_${status}`);
  const json = parseObject(body);
  if (json === undefined) return fail('not_json');
  const names = Object.keys(json);
  if (names.length !== 1) return fail('answer_malformed');
  if (names[0] === 'deny') return readDenial(json['deny']);
  return names[0] === 'claims' ? readClaims(json['claims']) : fail('answer_malformed');
}

function readDenial(given: unknown): Outcome<{ readonly answer: HookAnswer }, string> {
  const { reason, ...rest } = isObject(given) ? given : {};
  if (typeof reason !== 'string' || Object.keys(rest).length > 0) return fail('answer_malformed');
  return reason.length > hookReasonCharsMax ? fail('reason_too_long') : { ok: true, answer: { deny: { reason } } };
}

function readClaims(given: unknown): Outcome<{ readonly answer: HookAnswer }, string> {
  if (!isObject(given) || Object.entries(given).some(([name, claims]) => !tokenNames.includes(name) || !isObject(claims)))
    return fail('answer_malformed');
  const claims = given as HookClaims; // just checked
  const names = Object.values(given).flatMap((one) => Object.keys(one as ClaimSet));
  if (names.some(isProtocolClaim)) return fail('protocol_claim');
  const isTooDeep = Object.values(given).some((one) =>
    Object.values(one as ClaimSet).some((value) => !isWithin(value, hookClaimsDepthMax)),
  );
  if (isTooDeep) return fail('claims_too_deep');
  const isTooLarge = Buffer.byteLength(JSON.stringify(given)) > hookClaimsBytesMax;
  return isTooLarge ? fail('claims_too_large') : { ok: true, answer: { claims } };
}

/** Whether lists and objects in a value stand in one another at most so deep. */
function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((one) => isWithin(one, depth - 1));
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

/** The claims of two answers; the later one's where both name one. */
export const mergeClaims = (first: HookClaims | undefined, second: HookClaims | undefined): HookClaims | undefined =>
  first === undefined || second === undefined
    ? (second ?? first)
    : {
        id_token: { ...first.id_token, ...second.id_token },
        access_token: { ...first.access_token, ...second.access_token },
      };

/** The claims as they are stored; null for none. */
export const storeHookClaims = (claims: HookClaims | undefined): string | null => (claims === undefined ? null : JSON.stringify(claims));

export const loadHookClaims = (stored: string | null): HookClaims | undefined =>
  stored === null ? undefined : (JSON.parse(stored) as HookClaims); // written above
