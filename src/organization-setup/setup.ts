// Setting an organisation up (design 19): whoever manages it on the account page, or whoever opened a set-up link, in the same pages. Says
// whom these pages act for and what they may touch: one organisation, its domains, the one provider that is made here, its sign-in rule
// and its tokens for SCIM. Nothing else of the tenant is read or written.

import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { By } from '../administration/administration.ts';
import { registered } from '../administration/registered.ts';
import type { PinDeps } from '../approvals/mailed/pin.ts';
import { reject } from '../contract/contract-error.ts';
import type { Language } from '../domain/language.ts';
import type { Organization } from '../domain/organizations/organization.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { IdentityProvider } from '../domain/sign-in/identity-provider.ts';
import type { Parts } from '../http/services.ts';
import type { Html } from '../platform/html.ts';
import { findProviderByAlias } from '../storage/registry/identity-providers.ts';
import type { TrialFor } from '../tokens/provider-secret.ts';

export interface Notice {
  readonly kind: 'good' | 'bad';
  readonly text: string;
}

export type SetupDeps = PinDeps & Parts<'cache' | 'database' | 'outbound' | 'rateLimiter' | 'textRecords'>;

/** One request of somebody who sets an organisation up. */
export interface Setup {
  readonly services: SetupDeps;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly organizationId: string;
  readonly by: By;
  readonly language: Language;
  /** Of these pages, below the base URL of the tenant. */
  readonly base: string;
  /** The token of its forms. */
  readonly csrf: string;
  readonly show: (title: string, content: Html, notice?: Notice, status?: number) => FastifyReply;
}

/** How a provider is tried; handed over where a server is composed. */
export interface TrialSteps {
  readonly startTrial: (
    services: SetupDeps,
    request: FastifyRequest,
    id: string,
    trial: TrialFor,
  ) => Promise<Outcome<{ readonly location: string }, string>>;
  readonly finishTrial: (
    services: SetupDeps,
    request: FastifyRequest,
    by: TrialFor['by'],
  ) => Promise<
    Outcome<{ readonly tried: { readonly alias: string; readonly startedAtMs: number; readonly email: string | undefined } }, string>
  >;
}

export const trialOf = ({ organizationId, by, base }: Setup): TrialFor => ({
  by: `${organizationId} ${by.actor}`,
  back: `${base}/return`,
});

export const pathBelow = ({ request, base }: Pick<Setup, 'request' | 'base'>, path = ''): string =>
  `${new URL(request.tenant.baseUrl).pathname.replace(/\/$/, '')}${base}${path}`;

/** What is set up. @throws login.not_found when it is gone or disabled */
export async function loadSetUp({ services, request, organizationId }: Setup): Promise<Organization> {
  const { tenant } = request;
  const found = await services.database.read(tenant.id, (queries) => registered.organization.rows.find(queries, tenant.id, organizationId));
  if (found === undefined || !found.enabled) throw reject('login.not_found', 'unknown_organization');
  return found;
}

/** What the provider that is made here is called in addresses: of the organisation, known before there is one. */
export const aliasOf = (tenant: string, organization: string): string =>
  `org-${createHash('sha256').update(`${tenant} ${organization}`).digest('hex').slice(0, 16)}`;

export const callbackOf = ({ request, organizationId }: Setup): string =>
  `${request.tenant.baseUrl}/login/callback/${aliasOf(request.tenant.id, organizationId)}`;

/** The provider that was made here; undefined: there is none, or it is one that administrators may come by, which nobody touches here. */
export async function findOwnProvider({ services, request, organizationId }: Setup): Promise<IdentityProvider | undefined> {
  const { tenant } = request;
  const alias = aliasOf(tenant.id, organizationId);
  if (tenant.settings.administrator_providers.includes(alias)) return undefined;
  return findProviderByAlias(services.cache, tenant, alias);
}
