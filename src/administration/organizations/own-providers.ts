// The providers of organisations as their organisations and they themselves are written. One rule has its place here: no write leaves an
// organisation whose people sign in by its own providers alone without one that is on. It is asked of the state after the write, in its
// transaction, and of whatever writes a provider or an organisation (kind-effects.ts, `guard`). Whoever does holds the organisation's row, so
// that two writes, each of which leaves another way in, go one after another. What was so before is mended step by step.
import type { Fields, Json } from '../../domain/field.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Thing } from '../../domain/kind.ts';
import { noWayFault, type Organization, onlyWayFault } from '../../domain/organizations/organization.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { holdOrganization } from '../../storage/organizations/organization-hold.ts';
import { findProviderOwner, findShutOrganization, holdProvidersNamed } from '../../storage/registry/organization-providers.ts';
import type { Verdict, Writing } from '../kind-effects.ts';
import { dropThing, type Registered, replaceThing, requirePower } from '../kinds.ts';

/** Of a provider: one that is turned off or deleted was not the last that is on. */
export async function guardProvider(
  queries: Queries,
  tenant: TenantId,
  before: { readonly alias: string; readonly enabled: boolean } | undefined,
): Promise<Verdict<{ readonly enabled: boolean }>> {
  return async (after) => {
    if (before?.enabled !== true || after?.enabled === true) return undefined;
    const owner = await findProviderOwner(queries, tenant, before.alias);
    // It was given to one meanwhile: whoever turns off another of its providers is waited for too.
    if (owner === undefined || !(await holdOrganization(queries, tenant, owner))) return undefined;
    const name = await findShutOrganization(queries, tenant, owner);
    return name === undefined ? undefined : onlyWayFault(name, after === undefined ? 'alias' : 'enabled');
  };
}

/** Of an organisation, which is shut no more than it was. */
export async function guardOrganization(
  queries: Queries,
  tenant: TenantId,
  before: Organization | undefined,
): Promise<Verdict<Organization>> {
  const wasShut = before !== undefined && (await findShutOrganization(queries, tenant, before.id)) !== undefined;
  return async (after) => {
    if (after?.signIn !== 'own_providers' || wasShut) return undefined;
    await holdProvidersNamed(queries, tenant, newIn(after.identityProviders, before?.identityProviders));
    if ((await findShutOrganization(queries, tenant, after.id)) === undefined) return undefined;
    return noWayFault(after.name, after.signIn === before?.signIn ? 'identity_providers' : 'sign_in');
  };
}

/** Those of a list that were not in it before. */
export const newIn = (values: readonly string[], before: readonly string[] = []): readonly string[] =>
  values.filter((one) => !before.includes(one));

/** The provider of that alias, its row held; undefined: an organisation may name one that there is not. */
async function holdCalled<T extends Fields>(
  queries: Queries,
  { acting: { tenant } }: Writing,
  { rows }: Registered<T>,
  alias: string,
): Promise<Thing<T> | undefined> {
  const named = await rows.findBy(queries, tenant.id, 'alias', alias);
  return named && rows.hold(queries, tenant.id, named.id);
}

/** A provider that no organisation names any more would be everybody's: it is off until an administrator says whose it is. */
export async function turnOffDropped<T extends Fields>(
  queries: Queries,
  writing: Writing,
  providers: Registered<T>,
  aliases: readonly string[],
): Promise<void> {
  for (const alias of aliases) {
    const before = await holdCalled(queries, writing, providers, alias);
    if (before === undefined || (before as Json)['enabled'] !== true) continue;
    const wanted = { values: { ...before, enabled: false }, clear: undefined };
    await replaceThing(providers, queries, writing, { before, wanted, fields: ['enabled'] });
  }
}

/** Those of an organisation that has gone go with it; one that a document says besides is dropped. @throws the caller's own refusal */
export async function removeLeft<T extends Fields>(
  queries: Queries,
  writing: Writing,
  providers: Registered<T>,
  aliases: readonly string[],
): Promise<void> {
  for (const alias of aliases) {
    const before = await holdCalled(queries, writing, providers, alias);
    if (before === undefined) continue;
    requirePower(providers.kind, writing.acting, before);
    if (writing.keeps?.(providers.kind.plural, before.id) === true) await turnOffDropped(queries, writing, providers, [alias]);
    else await dropThing(providers, queries, writing, before);
  }
}
