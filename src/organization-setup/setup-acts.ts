// What is done while an organisation is set up. Each act is an act of the same operations as the Management API's, by a name of its own in
// the audit record, and touches the one organisation and the provider made here. A provider is tried by a real sign-in before it is on; any
// change of it turns it off until it is tried again, and takes away what an administrator had said its acr values are worth.

import { recordAct } from '../administration/administration.ts';
import { makeScimToken } from '../administration/clients/scim-tokens.ts';
import { checkDomains } from '../administration/domain-proofs.ts';
import { changeThing, createThing, type KindRefused, removeThing } from '../administration/kinds.ts';
import { registered } from '../administration/registered.ts';
import type { Json } from '../domain/field.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { enforceRateLimit } from '../http/budgets/rate-limits.ts';
import { listProviderTrials, noteProviderTrial } from '../storage/registry/organization-providers.ts';
import { deleteScimToken } from '../storage/registry/scim-tokens.ts';
import { aliasOf, findOwnProvider, loadSetUp, type Setup } from './setup.ts';

type Done = { readonly ok: true } | { readonly ok: false; readonly field: string; readonly text: string };
const done: Done = { ok: true };

const actingOf = ({ request, by }: Setup) => ({ tenant: request.tenant, by });

function outcomeOf(result: { readonly ok: true } | KindRefused): Done {
  if (result.ok) return done;
  return result.reason === 'faulty'
    ? { ok: false, field: result.fault.field, text: result.fault.text }
    : { ok: false, field: '', text: 'is gone' };
}

const changeOrganization = async (
  setup: Setup,
  change: (before: { readonly domains: readonly string[]; readonly identityProviders: readonly string[] }) => Json,
): Promise<Done> => outcomeOf(await changeThing(registered.organization, setup.services, actingOf(setup), setup.organizationId, change));

export async function addDomain(setup: Setup, domain: string): Promise<Done> {
  await loadSetUp(setup);
  return changeOrganization(setup, ({ domains }) => ({ domains: [...new Set([...domains, domain.trim().toLowerCase()])] }));
}

export async function removeDomain(setup: Setup, domain: string): Promise<Done> {
  await loadSetUp(setup);
  return changeOrganization(setup, ({ domains }) => ({ domains: domains.filter((one) => one !== domain) }));
}

export async function lookUpDomains(setup: Setup): Promise<void> {
  const { services, request, by } = setup;
  const { tenant } = request;
  const owner = await loadSetUp(setup);
  await enforceRateLimit(services.rateLimiter, tenant, 'management', 'login_starts_per_ip', `setup:${owner.id}`);
  await checkDomains(services, tenant.id, { kind: 'organization', owner, hold: registered.organization.rows.hold }, by);
}

export interface WantedProvider {
  readonly kind: 'oidc' | 'saml';
  readonly issuer: string;
  readonly clientId: string;
  /** Empty: as it is. */
  readonly clientSecret: string;
  readonly metadata: string;
}

/** Makes the provider, or another of it; it is off until it is tried. */
export async function saveProvider(setup: Setup, wanted: WantedProvider): Promise<Done> {
  const { services, request, organizationId } = setup;
  const { tenant } = request;
  const organization = await loadSetUp(setup);
  const alias = aliasOf(tenant.id, organizationId);
  if (tenant.settings.administrator_providers.includes(alias)) return { ok: false, field: '', text: 'is for administrators' };
  const before = await findOwnProvider(setup);
  const said: Json =
    wanted.kind === 'saml'
      ? { metadata: wanted.metadata }
      : { issuer: wanted.issuer, client_id: wanted.clientId, ...(wanted.clientSecret !== '' && { client_secret: wanted.clientSecret }) };
  const always = { name: organization.displayName ?? organization.name, enabled: false, acr_map: {} };
  const isSameKind = before?.kind === wanted.kind;
  if (before !== undefined && !isSameKind) {
    const removed = outcomeOf(await removeThing(registered.identity_provider, services, actingOf(setup), before.id));
    if (!removed.ok) return { ...removed, field: 'enabled' };
  }
  const saved =
    before !== undefined && isSameKind
      ? await changeThing(registered.identity_provider, services, actingOf(setup), before.id, { ...always, ...said })
      : await createThing(
          registered.identity_provider,
          services,
          { ...actingOf(setup), organization: organizationId },
          {
            ...{ ...always, ...said, alias, kind: wanted.kind },
            ...{ trust_email: true, create_users: true },
          },
        );
  const result = outcomeOf(saved);
  if (!result.ok) return result;
  return changeOrganization(setup, ({ identityProviders }) => ({ identity_providers: [...new Set([...identityProviders, alias])] }));
}

/** Writes that somebody signed in by it as it was when they were sent there. */
export async function noteTrial(
  { services, request, organizationId }: Setup,
  tried: { readonly alias: string; readonly startedAtMs: number },
): Promise<boolean> {
  return services.database.write(request.tenant.id, (queries) => noteProviderTrial(queries, request.tenant.id, organizationId, tried));
}

/** Whether the provider was tried since it is as it is. */
export async function isTried(setup: Setup): Promise<boolean> {
  const { services, request, organizationId } = setup;
  const provider = await findOwnProvider(setup);
  if (provider === undefined) return false;
  const trials = await services.database.read(request.tenant.id, (queries) =>
    listProviderTrials(queries, request.tenant.id, organizationId),
  );
  const at = trials.get(provider.alias);
  return at !== undefined && at >= provider.updatedAtMs;
}

/** Turns the provider on, which was tried, or off. */
export async function switchProvider(setup: Setup, enabled: boolean): Promise<Outcome<object, 'unknown' | 'untried' | 'only'>> {
  await loadSetUp(setup);
  const provider = await findOwnProvider(setup);
  if (provider === undefined) return fail('unknown');
  if (enabled && !(await isTried(setup))) return fail('untried');
  const changed = await changeThing(registered.identity_provider, setup.services, actingOf(setup), provider.id, (before) => {
    // Whoever changed it meanwhile turned it off, and nobody tried that.
    return before.updatedAtMs === provider.updatedAtMs ? { enabled } : {};
  });
  return changed.ok ? { ok: true } : fail(changed.reason === 'faulty' ? 'only' : 'unknown');
}

/** How people sign in for the organisation; by its own providers alone where the one made here is on. */
export async function setRule(setup: Setup, rule: 'any' | 'own_providers'): Promise<Outcome<object, 'unknown' | 'off'>> {
  await loadSetUp(setup);
  if (rule === 'own_providers' && (await findOwnProvider(setup))?.enabled !== true) return fail('off');
  const changed = await changeOrganization(setup, () => ({ sign_in: rule }));
  if (changed.ok) return { ok: true };
  return fail(changed.field === 'sign_in' ? 'off' : 'unknown');
}

/** A token for the organisation's SCIM, shown once. */
export async function addToken(setup: Setup, name: string): Promise<string | 'full'> {
  const { services, request, organizationId, by } = setup;
  await loadSetUp(setup);
  const { id } = request.tenant;
  const made = await services.database.write(id, (queries) =>
    makeScimToken(queries, services, { tenant: id, organization: organizationId }, { name, days: null }, by),
  );
  return made === 'full' ? made : made.token;
}

export async function revokeToken({ services, request, organizationId, by }: Setup, token: string): Promise<boolean> {
  const { id } = request.tenant;
  return services.database.write(id, async (queries) => {
    if (!(await deleteScimToken(queries, { tenant: id, organization: organizationId }, token))) return false;
    const data = { organization: organizationId };
    await recordAct(queries, services, id, by, { type: 'scim_token.deleted', target: `scim_token:${token}`, data });
    return true;
  });
}
