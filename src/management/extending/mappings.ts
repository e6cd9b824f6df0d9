// `/mappings`: the tenant's own table of each kind, and what rules give one person. The rules are domain/mappings.
import Type from 'typebox';
import { closed, oneOf } from '../../administration/schema-pieces.ts';
import type { Client } from '../../domain/client/client.ts';
import type { UserId } from '../../domain/ids.ts';
import { type CompiledRules, layRules, readGroups } from '../../domain/mappings/apply.ts';
import { attributeRulesOf, attributesRoom } from '../../domain/mappings/attributes.ts';
import { claimRulesOf, claimsRoom, placesOf } from '../../domain/mappings/claims.ts';
import { inboundRoom, inboundRulesOf } from '../../domain/mappings/inbound.ts';
import { capabilitiesByInbound } from '../../domain/mappings/inbound-targets.ts';
import { type PreviewedRule, previewRules } from '../../domain/mappings/preview.ts';
import { type MappingKind, type MappingRules, mappingKinds, rulesKind } from '../../domain/mappings/rule.ts';
import { rulesFault, unknownAttributeFault } from '../../domain/mappings/rule-faults.ts';
import { scimRulesOf } from '../../domain/mappings/scim.ts';
import type { Capability } from '../../domain/people/capabilities.ts';
import type { ServiceProvider } from '../../domain/saml/service-provider.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { findMappedPerson } from '../../storage/people/mapped-person.ts';
import { findHeldOrganization } from '../../storage/people/organization-members.ts';
import { findClient } from '../../storage/registry/clients/clients.ts';
import { findConnector } from '../../storage/registry/extending/connectors.ts';
import { readMappings, writeMappings } from '../../storage/registry/extending/mapping-tables.ts';
import { findIdentityProvider } from '../../storage/registry/identity-providers.ts';
import { findServiceProvider } from '../../storage/registry/service-providers.ts';
import { audit, type Call, type Endpoint, endpoint, invalidField, notFound, requireCapabilities } from '../endpoint.ts';

const titles: Readonly<Record<MappingKind, string>> = {
  oidc: 'claims of every client',
  saml: 'attributes of every service provider',
  inbound: 'people from every identity provider',
  scim: 'attributes of every connector',
};

/** What decides who people from elsewhere are is of `sign-in` (design 17, 2.1), as the mappings of each provider are. */
const powers: Readonly<Record<MappingKind, { readonly write: Capability; readonly read: Pick<Endpoint, 'capability' | 'orCapability'> }>> =
  {
    oidc: { write: 'settings:write', read: { capability: 'settings:read' } },
    saml: { write: 'settings:write', read: { capability: 'settings:read' } },
    inbound: { write: 'sign-in:write', read: { capability: 'settings:read', orCapability: 'sign-in:read' } },
    scim: { write: 'settings:write', read: { capability: 'settings:read' } },
  };

/** Whoever tries the rules of one target may read it. */
const readersOfTargets: Readonly<Record<MappingKind, Capability>> = {
  oidc: 'clients:read',
  saml: 'service-providers:read',
  inbound: 'sign-in:read',
  scim: 'connectors:read',
};

/** What rules hand out, as those of one connector and of one provider do. */
const handedOut = (kind: MappingKind, rules: MappingRules): readonly Capability[] => {
  if (kind === 'inbound') return capabilitiesByInbound(rules);
  if (kind !== 'scim') return [];
  return readGroups(rules) ? ['users:read', 'groups:read'] : ['users:read'];
};

const tableEndpoints = (kind: MappingKind): readonly Endpoint[] => {
  const table = closed({ rules: Type.Unsafe<MappingRules>(rulesKind(kind).shape) });
  return [
    endpoint({
      method: 'GET',
      path: `/mappings/${kind}`,
      ...powers[kind].read,
      summary: `Read the rules of the ${titles[kind]}`,
      answer: table,
      status: 200,
      handle: async ({ services, tenant }) => {
        const tables = await services.database.read(tenant.id, (queries) => readMappings(queries, tenant.id));
        return { rules: tables[kind] };
      },
    }),
    endpoint({
      method: 'PUT',
      path: `/mappings/${kind}`,
      capability: powers[kind].write,
      summary: `Replace the rules of the ${titles[kind]}${kind === 'scim' ? '; needs users:read too, and groups:read where rules read groups' : ''}`,
      body: table,
      answer: table,
      status: 200,
      handle: async (call) => {
        const { services, tenant, body, scopes } = call;
        const { rules } = body;
        requireRules(tenant, kind, 'rules', rules);
        requireCapabilities(handedOut(kind, rules), scopes);
        await services.cache.write(tenant.id, async (queries) => {
          await writeMappings(queries, tenant.id, kind, rules);
          await audit(call, queries, { type: 'mappings.updated', target: `mappings:${kind}`, data: { rules: rules.length } });
        });
        return { rules };
      },
    }),
  ];
};

const value = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Record(Type.String(), Type.String())]);
const previewBody = closed({
  kind: oneOf(mappingKinds),
  target: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'client_id, or id of the service provider, identity provider or connector; without it the default table alone',
    }),
  ),
  user_id: Type.Optional(Type.String({ maxLength: 200, description: 'the person; not for inbound' })),
  upstream: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'claims or attributes that the identity provider gives; for inbound' }),
  ),
  rules: Type.Optional(Type.Array(Type.Object({}), { description: 'tried instead of those of the target, or of the default table' })),
});
const previewAnswer = Type.Object({
  items: Type.Array(
    Type.Object({
      to: Type.String(),
      values: Type.Array(value),
      dropped: Type.Optional(Type.Array(Type.Object({ value: Type.Union([value, Type.Null()]), reason: Type.String() }))),
    }),
  ),
});
type PreviewBody = Type.Static<typeof previewBody>;

export const mappingEndpoints: readonly Endpoint[] = [
  ...mappingKinds.flatMap(tableEndpoints),
  endpoint({
    method: 'POST',
    path: '/mappings/preview',
    capability: 'settings:read',
    summary:
      'What each rule gives one person, and why values are dropped; needs users:read too, groups:read where rules read groups, and for a target what reading it takes',
    body: previewBody,
    answer: previewAnswer,
    status: 200,
    isLong: true,
    handle: (call) => {
      const { kind, target } = call.body;
      if (target !== undefined) requireCapabilities([readersOfTargets[kind]], call.scopes);
      return preview(call);
    },
  }),
];

/** Refuses rules with a mistake, naming rule, member and the nearest known name. */
function requireRules(tenant: Tenant, kind: MappingKind, field: string, rules: unknown): asserts rules is MappingRules {
  const fault = rulesFault(kind, rules);
  if (fault !== undefined) throw invalidField(field, `A mistake in ${fault}.`);
  requireAttributes(tenant, kind, field, rules as MappingRules); // they have no fault
}

/** Refuses rules that read, or write, attributes the tenant does not have. */
export function requireAttributes(tenant: Tenant, kind: MappingKind, field: string, rules: MappingRules): void {
  const fault = unknownAttributeFault(kind, rules, { tenant, field });
  if (fault !== undefined) throw invalidField(fault.field, fault.text);
}

async function preview(call: Call<undefined, PreviewBody>): Promise<unknown> {
  const { services, tenant, body, scopes } = call;
  const { kind, target, user_id: userId, upstream, rules } = body;
  if (kind === 'inbound') return previewInbound(call);
  if (userId === undefined) throw invalidField('user_id', 'This field is required.');
  if (upstream !== undefined) throw invalidField('upstream', 'This field is for inbound.');
  requireCapabilities(['users:read'], scopes);
  if (rules !== undefined) requireRules(tenant, kind, 'rules', rules);
  const found = await services.database.read(tenant.id, async (queries) => ({
    client: target !== undefined && kind === 'oidc' ? await findClient(queries, tenant.id, target) : undefined,
    provider: target !== undefined && kind === 'saml' ? await findServiceProvider(queries, tenant.id, target) : undefined,
    connector: target !== undefined && kind === 'scim' ? await findConnector(queries, tenant.id, target) : undefined,
    tables: await readMappings(queries, tenant.id),
  }));
  if (target !== undefined && found.client === undefined && found.provider === undefined && found.connector === undefined)
    throw notFound('unknown_target');
  const table = target === undefined ? (rules ?? found.tables[kind]) : found.tables[kind];
  const own = target === undefined ? undefined : rules;
  const ofTarget = own ?? found.client?.mappings ?? found.provider?.mappings ?? found.connector?.mappings ?? [];
  if (readGroups([...table, ...ofTarget])) requireCapabilities(['groups:read'], scopes);
  const { organization } = found.provider ?? {};
  if (organization !== undefined) requireCapabilities(['organizations:read'], scopes);
  const compiled =
    kind === 'oidc'
      ? rulesForClient(tenant, table, found.client, own)
      : kind === 'saml'
        ? rulesForProvider(table, found.provider, own)
        : scimRulesOf(table, own ?? found.connector?.mappings ?? []);
  // The claim `groups` that clients have without any rule is empty for whoever may not read groups.
  const readable = compiled.flatMap((rule) => rule.sources).filter((source) => source !== 'groups' || scopes.includes('groups:read'));
  const sources = new Set(readable);
  const person = await services.database.read(
    tenant.id,
    (queries) => findMappedPerson(queries, tenant.id, userId as UserId, tenant.customAttributes, sources), // a look-up key
  );
  if (person === undefined) throw notFound('unknown_user');
  const held =
    organization &&
    (await services.database.read(tenant.id, (queries) => findHeldOrganization(queries, tenant.id, organization, userId as UserId))); // a look-up key
  const ofTenant = { tenantSlug: tenant.slug, acr: undefined, ...(held && { organization: held }) };
  const facts = { person, clientId: found.provider?.entityId ?? target ?? '', ...ofTenant };
  const previewed =
    kind === 'oidc' ? previewRules(compiled, facts, claimsRoom, placesOf) : previewRules(compiled, facts, attributesRoom, () => ['there']);
  return { items: await paced(call, previewed) };
}

/** What the provider's words give; nobody is read. */
async function previewInbound(call: Call<undefined, PreviewBody>): Promise<unknown> {
  const { services, tenant, body } = call;
  const { target, user_id: userId, upstream, rules } = body;
  if (userId !== undefined) throw invalidField('user_id', 'This field is not for inbound: give what the provider says in upstream.');
  if (upstream === undefined) throw invalidField('upstream', 'This field is required for inbound.');
  if (rules !== undefined) requireRules(tenant, 'inbound', 'rules', rules);
  const { provider, tables } = await services.database.read(tenant.id, async (queries) => ({
    provider: target === undefined ? undefined : await findIdentityProvider(queries, tenant.id, target),
    tables: await readMappings(queries, tenant.id),
  }));
  if (target !== undefined && provider === undefined) throw notFound('unknown_target');
  const compiled = inboundRulesOf(target === undefined ? (rules ?? tables.inbound) : tables.inbound, {
    attributeMap: provider?.attributeMap ?? {},
    mappings: provider === undefined ? [] : (rules ?? provider.mappings),
  });
  const facts = { person: undefined, clientId: '', tenantSlug: tenant.slug, acr: undefined, upstream };
  return {
    items: await paced(
      call,
      previewRules(compiled, facts, inboundRoom, () => ['sign_in']),
    ),
  };
}

/** Goes from rule to rule: each may give, and drop, as many values as there is room for. */
async function paced(
  { pace }: Pick<Call<unknown, unknown>, 'pace'>,
  previewed: Iterable<PreviewedRule>,
): Promise<readonly PreviewedRule[]> {
  const items: PreviewedRule[] = [];
  for (const item of previewed) {
    items.push(item);
    await pace();
  }
  return items;
}

const rulesForClient = (tenant: Tenant, table: MappingRules, client: Client | undefined, own: MappingRules | undefined): CompiledRules =>
  layRules(claimRulesOf(tenant.customAttributes, table), own ?? client?.mappings ?? []);

const rulesForProvider = (table: MappingRules, provider: ServiceProvider | undefined, own: MappingRules | undefined): CompiledRules =>
  attributeRulesOf(table, { attributeMap: provider?.attributeMap ?? {}, mappings: own ?? provider?.mappings ?? [] });
