// What the parts of a connector's work share: the deps, who is provisioned, and the work on one connector.
import type { MailDeps } from '../approvals/mailed/mail-delivery.ts';
import type { Connector } from '../domain/extending/connector.ts';
import type { GroupId } from '../domain/ids.ts';
import type { CompiledRules } from '../domain/mappings/apply.ts';
import { scimRulesOf } from '../domain/mappings/scim.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Log } from '../platform/log.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import type { Database } from '../storage/engine/database.ts';
import { listGroupsByIdOrName } from '../storage/people/groups.ts';
import type { Whose } from '../storage/records/connector-links.ts';
import { readMappings } from '../storage/registry/extending/mapping-tables.ts';
import type { TenantDirectory } from '../storage/registry/tenant-directory.ts';
import type { Target, TargetDeps } from './target.ts';

export interface ConnectorParts extends MailDeps, TargetDeps {
  readonly database: Database;
  readonly cache: ConfigCache;
  readonly tenants: TenantDirectory;
  readonly log: Log;
}

/** The work on one connector, with what it needs to know of it. */
export interface Work {
  readonly parts: ConnectorParts;
  readonly tenant: Tenant;
  readonly connector: Connector;
  readonly whose: Whose;
  readonly target: Target;
  readonly rules: CompiledRules;
  /** Those it names that there are. */
  readonly groups: readonly GroupId[];
}

/** The groups a connector names, by id or display name, and the rules of its people. */
export async function factsOf(database: Database, tenant: Tenant, connector: Connector): Promise<Pick<Work, 'rules' | 'groups' | 'whose'>> {
  const { groups, tables } = await database.read(tenant.id, async (queries) => ({
    groups:
      connector.groups.length === 0
        ? []
        : await listGroupsByIdOrName(queries, tenant.id, { ids: connector.groups, names: connector.groups }),
    tables: await readMappings(queries, tenant.id),
  }));
  return {
    rules: scimRulesOf(tables.scim, connector.mappings),
    groups: groups.map(({ id }) => id),
    whose: { tenant: tenant.id, connector: connector.id },
  };
}
