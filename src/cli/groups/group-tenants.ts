// What each group says that it has, as the map of all.
import { GroupMapFault, type ListedTenant, mapGroups } from '../../domain/tenant/group-map.ts';
import { CommandFailure } from '../failure.ts';
import { type GroupCaller, loaded } from './group-calls.ts';

const pageRows = 100;

/** The map of these groups, of which `seenAs` may see a tenant otherwise than it is listed. @throws CommandFailure */
export async function loadMap(
  callers: readonly GroupCaller[],
  seenAs: (tenant: ListedTenant, caller: GroupCaller) => ListedTenant = (tenant) => tenant,
): Promise<ReturnType<typeof mapGroups>> {
  const groups = [];
  for (const caller of callers) {
    const tenants = (await listTenants(caller)).map((tenant) => seenAs(tenant, caller));
    groups.push({ name: caller.group.name, tenants });
  }
  try {
    return mapGroups(groups);
  } catch (error) {
    throw error instanceof GroupMapFault ? new CommandFailure(error.message) : error;
  }
}

async function listTenants(caller: GroupCaller): Promise<readonly ListedTenant[]> {
  const tenants: ListedTenant[] = [];
  let cursor = '';
  do {
    const query = new URLSearchParams({ limit: String(pageRows), ...(cursor === '' ? {} : { cursor }) });
    const page = loaded(caller, 'list its tenants', await caller.call('GET', `/tenants?${query}`));
    const { items, next_cursor: next } = page as { readonly items?: unknown; readonly next_cursor?: string };
    if (!Array.isArray(items) || !items.every(isListed))
      throw new CommandFailure(`${caller.group.url}: expected the tenants of a Gatehouse of this release, found another answer`);
    tenants.push(...items);
    cursor = next ?? '';
  } while (cursor !== '');
  return tenants;
}

function isListed(value: unknown): value is ListedTenant {
  const { id, slug, domain, base_url, moving } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return (
    [id, slug, base_url].every((text) => typeof text === 'string') &&
    (domain === null || typeof domain === 'string') &&
    (moving === null || moving === 'to' || moving === 'from')
  );
}
