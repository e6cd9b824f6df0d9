// The attributes one provider is told of a person (design 06, "Response"; design 16, section 1). Called by postback.ts. The rules, and what
// they make, are domain/mappings.
import { tellSpills } from '../audit/mapping-spills.ts';
import { compareCodePoints } from '../crypto/xml/characters.ts';
import type { CompiledRules } from '../domain/mappings/apply.ts';
import { attributeRulesOf, attributesOf, attributesRoom, type SamlAttribute } from '../domain/mappings/attributes.ts';
import type { MappedPerson } from '../domain/mappings/paths.ts';
import type { HeldOrganization } from '../domain/organizations/tenant-organizations.ts';
import type { CustomValues } from '../domain/people/custom-attributes.ts';
import type { ServiceProvider } from '../domain/saml/service-provider.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Parts } from '../http/services.ts';
import { findMappedPerson } from '../storage/people/mapped-person.ts';
import type { UserEmail, UserRow } from '../storage/people/user-rows.ts';

/** Who an assertion is about. */
export interface AssertionSubject {
  readonly user: UserRow;
  readonly emails: readonly UserEmail[];
  readonly custom: CustomValues;
}

const ofProviders = new WeakMap<ServiceProvider, { readonly tenant: Tenant; readonly rules: CompiledRules }>();

/** The rules of a provider, compiled once for each registration of it. */
function rulesOf(tenant: Tenant, provider: ServiceProvider): CompiledRules {
  const known = ofProviders.get(provider);
  if (known?.tenant === tenant) return known.rules;
  const rules = attributeRulesOf(tenant.mappings.saml, provider);
  ofProviders.set(provider, { tenant, rules });
  return rules;
}

interface Asserting {
  readonly provider: ServiceProvider;
  readonly organization: HeldOrganization | undefined;
  readonly subject: AssertionSubject;
  readonly authnContextClass: string;
  readonly requestId: string;
}

/** What the provider is told of the subject; administrators hear of rules that would have told too much. */
export async function attributesFor(
  services: Parts<'clock' | 'database'>,
  tenant: Tenant,
  asserting: Asserting,
): Promise<readonly SamlAttribute[]> {
  const { provider, organization, subject, authnContextClass, requestId } = asserting;
  const rules = rulesOf(tenant, provider);
  const person = await personFor(services, tenant, subject, rules);
  const { attributes, spilled } = attributesOf(rules, {
    person,
    clientId: provider.entityId,
    tenantSlug: tenant.slug,
    acr: authnContextClass,
    organization,
  });
  const about = { target: `service_provider:${provider.id}`, place: 'assertion', bytesMax: attributesRoom.bytesMax };
  await tellSpills(services, tenant, { ...about, userId: subject.user.id, requestId, spilled });
  return attributes;
}

/** The subject as the rules need it, groups by code points; what is known already is not read again. */
async function personFor(
  { database }: Parts<'database'>,
  tenant: Tenant,
  { user, emails, custom }: AssertionSubject,
  rules: CompiledRules,
): Promise<MappedPerson | undefined> {
  const sources = new Set(rules.flatMap((rule) => rule.sources));
  const primaryFirst = emails.toSorted((left, right) => right.is_primary - left.is_primary || left.position - right.position);
  const known = { user, lists: { emails: primaryFirst }, address: undefined, groups: [], custom };
  if ([...sources].every((source) => source === 'list:emails' || source === 'custom')) return known;
  const person = await database.read(tenant.id, (queries) =>
    findMappedPerson(queries, tenant.id, user.id, tenant.customAttributes, sources),
  );
  return person && { ...person, groups: person.groups.toSorted((one, other) => compareCodePoints(one.name, other.name)) };
}
