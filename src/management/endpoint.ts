// What one endpoint of the management or system API is: data that dispatch, validation and OpenAPI read alike.
// A resource is one file of endpoints; adding it is one line in endpoints.ts. Schemas are TypeBox; this file loads none of it.

import type { Static, TSchema } from 'typebox';
import type { Administration, By } from '../administration/administration.ts';
import type { DomainDeps } from '../administration/domain-proofs.ts';
import type { RefreshDeps } from '../administration/saml/sp-refresh.ts';
import type { PushParts } from '../approvals/pushed/push-sending.ts';
import type { ConnectorCalls } from '../connectors/engine.ts';
import { type ContractError, reject } from '../contract/contract-error.ts';
import type { TypedEvent } from '../contract/events.ts';
import type { DirectoryCalls } from '../domain/extending/directory-runs.ts';
import type { Capability } from '../domain/people/capabilities.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { HookCalls } from '../hooks/hooks.ts';
import type { Parts } from '../http/services.ts';
import type { RateLimiter } from '../platform/rate-limit.ts';
import type { LongWorkTurns } from '../platform/turns/long-work.ts';
import type { Pace } from '../platform/turns/pace.ts';
import type { Queries } from '../storage/engine/database.ts';
import { type EventFacts, insertAuditEvent } from '../storage/records/audit-events.ts';
import type { KeySupply } from '../tokens/signing-key-supply.ts';

/** What the operations need, and what the endpoints that show how the server does read besides. */
export type ManagementDeps = Administration &
  DomainDeps &
  RefreshDeps &
  PushParts &
  HookCalls &
  KeySupply &
  ConnectorCalls &
  DirectoryCalls &
  LongWorkTurns &
  Parts<'activity' | 'config' | 'mail' | 'metrics' | 'refusals'> & { readonly rateLimiter: RateLimiter };

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
export type Json = Readonly<Record<string, unknown>>;

/** A request that passed authentication, rate limit, capability and validation. */
export interface Call<Query, Body> {
  readonly services: ManagementDeps;
  readonly tenant: Tenant;
  /** `client:<id>`, `user:<id>` or `operator`. */
  readonly actor: string;
  /** What the caller may do: of the token and, for a person, of the roles they hold now. The operator's token has every capability. */
  readonly scopes: readonly string[];
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** True when nobody waits for the answer any more, or the server stops. */
  readonly isGone: () => boolean;
  /** Awaited between the items of whatever has many. */
  readonly pace: Pace;
}

export interface Endpoint {
  readonly method: Method;
  /** Below the surface's prefix, parameters as `:name`. */
  readonly path: string;
  /** Undefined: whoever passed the surface's own authentication. */
  readonly capability?: Capability;
  /** Whoever has this one passes too; what the fields of the body need is the handler's to ask. */
  readonly orCapability?: Capability;
  /**
   * True: of the deployment, not of a tenant. In the management API only an administrator of the root tenant, as a person,
   * may call it; in other tenants there is no such path.
   */
  readonly operatorOnly?: boolean;
  /** Whom a call that writes acts on, beside the user of a path below `/users/:id`: nobody acts on who holds a capability they lack. */
  readonly actsOn?: (queries: Queries, call: Call<unknown, unknown>) => Promise<readonly string[]>;
  readonly summary: string;
  readonly query?: TSchema | undefined;
  readonly body?: TSchema | undefined;
  /** True: it takes as long as there are things, so it takes turns with the other long work of its tenant and of the process. */
  readonly isLong?: boolean;
  /** True: the body is bytes of a content type the surface takes, not JSON. Validation is the endpoint's. */
  readonly takesBytes?: boolean;
  readonly answer: TSchema | undefined;
  readonly status: 200 | 201 | 204;
  /** How the answer is told to who accepts application/x-ndjson: an item a line, and where the next ones are. */
  readonly inLines?: (answer: unknown) => { readonly lines: readonly object[]; readonly link: string };
  readonly handle: (call: Call<never, never>) => Promise<unknown>;
}

type Of<Schema> = Schema extends TSchema ? Static<Schema> : undefined;
type Declared<Query, Body> = Omit<Endpoint, 'query' | 'body' | 'handle'> & {
  readonly query?: Query;
  readonly body?: Body;
  readonly handle: (call: Call<Of<Query>, Of<Body>>) => Promise<unknown>;
};

/** Declares an endpoint; the handler's query and body have the types of their schemas. */
export function endpoint<Query extends TSchema | undefined = undefined, Body extends TSchema | undefined = undefined>(
  declared: Declared<Query, Body>,
): Endpoint {
  return declared as unknown as Endpoint; // dispatch validates query and body by these very schemas before it calls
}

/** The refusal of one field: `kind` names it, `text` says what was expected. */
export function invalidField(field: string, text: string, received?: string): ContractError {
  return reject('management.invalid_request', { reason: 'invalid_field', expected: `${field}: ${text}`, received }, { text, kind: field });
}

export const notFound = (what: string): ContractError => reject('management.not_found', what);

export const conflict = (field: string, text: string): ContractError => reject('management.conflict', 'taken', { text, kind: field });

const statusOf = Symbol('status of this answer');
type AnswerWithStatus = { readonly [statusOf]: 200 | 201; readonly answer: unknown };

/** An answer with another status than its endpoint's own: an upsert answers 201 or 200. */
export const withStatus = (status: 200 | 201, answer: unknown): AnswerWithStatus => ({ [statusOf]: status, answer });

/** The status and body to send for what a handler gave. */
export function settleAnswer(endpoint: Endpoint, given: unknown): { readonly status: number; readonly body: unknown } {
  if (typeof given !== 'object' || given === null || !(statusOf in given)) return { status: endpoint.status, body: given };
  const { [statusOf]: status, answer } = given as AnswerWithStatus; // only withStatus makes objects with this symbol
  return { status, body: answer };
}

/** Refuses to hand out what the caller does not have: nobody makes themselves stronger through an account they make. */
export function requireCapabilities(wanted: readonly string[], scopes: readonly string[]): void {
  const missing = wanted.find((capability) => !scopes.includes(capability));
  if (missing !== undefined) throw missingCapability(missing, scopes);
}

/** Who calls, for acts on things that hand out more than their own capability says. */
export const byOf = ({ actor, requestId, scopes }: Pick<Call<unknown, unknown>, 'actor' | 'requestId' | 'scopes'>): By => ({
  actor,
  requestId,
  require: (needs) => requireCapabilities(needs, scopes),
});

function missingCapability(capability: string, scopes: readonly string[]): ContractError {
  return reject(
    'management.forbidden',
    { reason: 'missing_capability', expected: capability, received: scopes.join(' ') },
    { text: `The token lacks the capability ${capability}.` },
  );
}

/** Writes the audit record of a call in the transaction of its effect. */
export async function audit(
  call: Pick<Call<unknown, unknown>, 'services' | 'tenant' | 'actor' | 'requestId'>,
  queries: Queries,
  event: TypedEvent & Pick<EventFacts, 'target' | 'reason'>,
): Promise<void> {
  const { services, tenant, actor, requestId } = call;
  await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), { ...event, actor, requestId });
}

export const isoTime = (epochMs: number): string => new Date(epochMs).toISOString();
