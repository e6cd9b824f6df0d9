// What every kind of registered thing keeps to (design 17): it stands in one file, beside what it does besides; its events are in the table
// of events; documents, the Management API and the console have it; what many make is bounded.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { kinds as sections } from '../../src/administration/declaration/kinds/kinds.ts';
import { registered } from '../../src/administration/registered.ts';
import { consoleResources } from '../../src/console/console-resources.ts';
import { eventTypes } from '../../src/contract/events.ts';
import { type Kind, pathOfKind } from '../../src/domain/kind.ts';
import { kinds } from '../../src/domain/kinds.ts';
import { managementEndpoints } from '../../src/management/endpoints.ts';
import { kindStories } from '../support/kind-stories.ts';

const root = join(import.meta.dirname, '..', '..');
const all = Object.entries(kinds) as unknown as readonly (readonly [
  string,
  Pick<Kind, 'noun' | 'plural' | 'fields' | 'secret' | 'told'>,
])[];

/** The lists each kind has a line in. */
const lists = [
  'src/domain/kinds.ts',
  'src/administration/registered.ts',
  'src/administration/declaration/kinds/kinds.ts',
  'src/management/endpoints.ts',
  'src/console/console-resources.ts',
  'src/storage/schema.ts',
];
/** Files besides its own and the lists that read the table of fields of a kind, or the kind itself: 3 at most. */
const besides: Readonly<Record<string, readonly string[]>> = {
  resource: ['src/storage/registry/clients/resources.ts'],
  custom_attribute: ['src/storage/registry/custom-attributes.ts'],
  role: ['src/storage/people/user-roles.ts', 'src/storage/registry/roles.ts', 'src/console/people/role-resource.ts'],
  service_provider: [
    'src/administration/saml/sp-refresh.ts',
    'src/management/saml/service-providers.ts',
    'src/storage/registry/service-providers.ts',
  ],
  identity_provider: [
    'src/console/providers/provider-wizard.ts',
    'src/management/sign-in/identity-providers.ts',
    'src/storage/registry/identity-providers.ts',
  ],
  hook: ['src/management/extending/hooks.ts', 'src/storage/registry/extending/hooks.ts', 'src/console/applications/hook-resource.ts'],
  webhook: [
    'src/management/extending/webhook-deliveries.ts',
    'src/storage/registry/extending/webhooks.ts',
    'src/console/applications/webhook-resource.ts',
  ],
  connector: [
    'src/console/connectors/connector-resource.ts',
    'src/management/extending/connector-runs.ts',
    'src/storage/registry/extending/connectors.ts',
  ],
  directory: [
    'src/console/directories/directory-resource.ts',
    'src/management/extending/directory-runs.ts',
    'src/storage/registry/extending/ldap-directories.ts',
  ],
  organization_role: ['src/console/people/organization-resource.ts', 'src/storage/registry/organization-roles.ts'],
  organization: [
    'src/console/people/organization-resource.ts',
    'src/management/people/organizations.ts',
    'src/storage/registry/organizations.ts',
  ],
  workload_issuer: [
    'src/cli/registry/workload.ts',
    'src/console/applications/workload-issuer-resource.ts',
    'src/storage/registry/clients/workloads.ts',
  ],
};

/** Whose hand changes things beside those of the tenant, whatever their kind: customers set their own organisation and provider up. */
const hands: readonly string[] = ['src/organization-setup/setup-acts.ts', 'src/organization-setup/setup.ts'];

describe('kinds', () => {
  it('each has its name, its rows, its events, a section of documents, endpoints, pages and a story', () => {
    assert.ok(all.length >= 3);
    for (const [name, kind] of all) {
      assert.equal(kind.noun, name);
      assert.ok(Object.hasOwn(registered, name), name);
      const rotated = kind.secret?.made === undefined ? [] : ['secret_rotated'];
      for (const act of ['created', 'updated', 'deleted', ...rotated])
        assert.ok(Object.hasOwn(eventTypes, `${name}.${act}`), `${name}.${act}`);
      assert.ok(sections.some(({ section }) => section === kind.plural));
      const path = pathOfKind(kind);
      const own = managementEndpoints.filter((endpoint) => endpoint.path === path || endpoint.path.startsWith(`${path}/:`));
      assert.ok(own.length >= 5, path);
      assert.ok(consoleResources.some((resource) => resource.path === path));
      assert.ok(kindStories.some(({ noun }) => noun === name));
    }
  });

  it('a kind stands in its own file, in the lists of kinds, and in what it does besides', () => {
    assert.deepEqual(Object.keys(besides).toSorted(), Object.keys(kinds).toSorted());
    const files = globSync('src/**/*.ts', { cwd: root }).map((file) => [file, readFileSync(join(root, file), 'utf8')] as const);
    for (const [name] of all) {
      const camel = name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
      const words = new RegExp(`\\b${camel}(?:Kind|Fields)\\b|\\b(?:kinds|registered)\\.${name}\\b`);
      const found = files
        .filter(([file, text]) => words.test(text) && !lists.includes(file) && !hands.includes(file))
        .map(([file]) => file);
      const own = files.filter(([, text]) => text.includes(`export const ${camel}Kind = `)).map(([file]) => file);
      assert.equal(own.length, 1, name);
      assert.deepEqual(found.filter((file) => file !== own[0]).toSorted(), [...besides[name]!].toSorted(), name);
      assert.ok(besides[name]!.length <= 3, name);
    }
  });
});
