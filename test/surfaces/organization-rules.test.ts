// What an organisation says of itself and of its people's sign-in (design 19): who joins and with which roles, domains that a TXT record proves,
// providers of its own, what is asked of a sign-in, how its pages look. Each value has its bounds, each name is there, and a domain and a
// provider are one organisation's.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { exportDocument } from '../../src/administration/declaration/export.ts';
import { openSession } from '../../src/administration/declaration/reconcile.ts';
import { organizationRolesMax, providerDomainsMax, providersPerTenantMax } from '../../src/contract/limits.ts';
import { databases } from '../support/databases.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { pngOf, uploadPicture } from '../support/pictures.ts';
import { machineWith } from '../support/roles.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Proof {
  readonly domain: string;
  readonly name: string;
  readonly value: string;
  readonly proven_at: string | null;
}
const proofsIn = (json: Json): readonly Proof[] => json['domain_proofs'] as readonly Proof[];

for (const database of databases)
  describe(`rules of organisations on ${database}`, () => {
    let server: TestServer;
    let dns: TestDns;
    let tenant: Managed;
    let made = 0;
    const slug = (): string => {
      made += 1;
      return `org-${made}`;
    };
    const make = async (fields: Json = {}, of = tenant): Promise<Json> => of.make('POST', '/organizations', { name: slug(), ...fields });
    const change = (organization: Json, fields: Json, of = tenant): Promise<Response> =>
      of.call('PATCH', `/organizations/${String(organization['id'])}`, fields);
    const provider = async (alias = slug(), of = tenant): Promise<string> => {
      await of.make('POST', '/identity-providers', {
        alias,
        kind: 'oidc',
        name: alias,
        issuer: `https://${alias}.example`,
        client_id: 'x',
      });
      return alias;
    };
    const role = async (of = tenant): Promise<string> => {
      const name = slug();
      await of.make('POST', '/organization-roles', { name, scopes: [] });
      return name;
    };
    const check = (organization: Json): Promise<Json> => tenant.make('POST', `/organizations/${String(organization['id'])}/check-domains`);
    const prove = ({ name, value }: Proof): void => void dns.records.set(name, [...(dns.records.get(name) ?? []), value]);
    const eventsOf = async ({ id }: Json): Promise<readonly unknown[]> => {
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/events?target=organization:${String(id)}`);
      return items.map(({ type, data }) => [type, data]).reverse();
    };
    before(async () => {
      dns = await startDns();
      server = await startTestServer(database, { flags: { dns_servers: dns.address } });
      tenant = await createTestTenant(server);
    });
    after(async () => {
      await dns.close();
      await server.close();
    });

    it('whoever lets newcomers manage an organisation, by its default roles or by rules, may do what managers may', async () => {
      const name = slug();
      await tenant.make('POST', '/organization-roles', { name, manage: true });
      const plain = await role();
      const ruling = [{ to: 'org.roles', from: 'upstream.groups' }];
      const [organization, alias] = [await make(), await provider()];
      const inbound = { rules: ruling };
      const { id } = (await tenant.make<{ items: readonly Json[] }>('GET', `/identity-providers?search=${alias}`)).items[0]!;
      const few = [
        'organizations:read',
        'organizations:write',
        'sign-in:read',
        'sign-in:write',
        'users:read',
        'invitations:write',
        'scim:read',
        'scim:write',
      ];
      const machine = await machineWith(tenant, few);
      for (const [method, path, body] of [
        ['PATCH', `/organizations/${String(organization['id'])}`, { default_roles: [plain, name] }],
        ['POST', '/organizations', { name: slug(), default_roles: [name] }],
        ['PATCH', `/identity-providers/${String(id)}`, { mappings: ruling }],
        ['PUT', '/mappings/inbound', inbound],
      ] as const) {
        assert.equal((await machine.call(method, path, body)).status, 403, path);
        const whole = await machineWith(tenant, [...few, 'users:write']);
        const done = await whole.call(method, path, body);
        assert.ok(done.ok, `${path}: ${await done.text()}`);
      }
      // Who may not give it may not take it away either, as with any thing that hands something out.
      assert.equal((await change(organization, { default_roles: [] }, machine)).status, 403);
      // Nor bring newcomers in by a token of its directory, a link for its IT, or a provider of its own.
      const at = `/organizations/${String(organization['id'])}`;
      await tenant.make('PATCH', at, { identity_providers: [alias] });
      await tenant.make('PATCH', `/identity-providers/${String(id)}`, { mappings: [] });
      for (const [method, path, body] of [
        ['POST', `${at}/scim-tokens`, { name: 'Entra', expires_in_days: 1 }],
        ['POST', `${at}/setup-links`, {}],
        ['PATCH', `/identity-providers/${String(id)}`, { issuer: 'https://evil.example' }],
      ] as const) {
        assert.equal((await machine.call(method, path, body)).status, 403, path);
        const done = await (await machineWith(tenant, [...few, 'users:write'])).call(method, path, body);
        assert.ok(done.ok, `${path}: ${await done.text()}`);
      }
      assert.equal((await machine.call('PUT', '/mappings/inbound', { rules: [] })).status, 200);
      assert.equal((await change(await make(), { default_roles: [plain] }, machine)).status, 200);
    });

    it('rules of the tenant’s table let newcomers manage too, by whichever provider an organisation names', async () => {
      const of = await createTestTenant(server);
      const byTable = { rules: [{ to: 'org.roles', from: 'upstream.groups', apply: 'always' }] };
      const ruled = await provider('ruled', of);
      const { items } = await of.make<{ items: readonly Json[] }>('GET', '/identity-providers');
      const at = (json: Json): string => `/identity-providers/${String(json['id'])}`;
      const few = ['organizations:read', 'organizations:write', 'sign-in:read', 'sign-in:write', 'users:read', 'scim:read', 'scim:write'];
      const machine = await machineWith(of, few);
      const whole = await machineWith(of, [...few, 'users:write', 'invitations:write']);
      const refused = async (method: string, path: string, body: Json): Promise<void> => {
        assert.equal((await machine.call(method, path, body)).status, 403, `${method} ${path}`);
        const done = await whole.call(method, path, body);
        assert.ok(done.ok, `${path}: ${await done.text()}`);
      };
      // One that is nobody's own gives no roles, whatever rules say.
      await of.make('PUT', '/mappings/inbound', byTable);
      assert.equal((await machine.call('PATCH', at(items[0]!), { name: 'Ruled' })).status, 200);
      const mine = await make({}, of);
      await refused('PATCH', `/organizations/${String(mine['id'])}`, { identity_providers: [ruled] });
      await refused('PATCH', at(items[0]!), { issuer: 'https://evil.example' });
      await refused('POST', `/organizations/${String((await make({}, of))['id'])}/setup-links`, {});
      assert.equal((await change(mine, { display_name: 'Mine' }, machine)).status, 200, 'what it has already is not given');
      await of.make('PUT', '/mappings/inbound', { rules: [] });
      assert.equal((await machine.call('PATCH', at(items[0]!), { issuer: 'https://other.example' })).status, 200);
      // The same where they are its own.
      const own = { alias: 'own', kind: 'oidc', name: 'Own', issuer: 'https://own.example', client_id: 'x', mappings: byTable.rules };
      await of.make('POST', '/identity-providers', own);
      await refused('POST', '/organizations', { name: slug(), identity_providers: ['own'] });
    });

    it('what a new one says, and what each value may be', async () => {
      const plain = await make();
      const unsaid = {
        join: ['invitation'],
        default_roles: [],
        domains: [],
        domain_proofs: [],
        identity_providers: [],
        sign_in: 'any',
        acr_min: null,
        branding: {},
      };
      assert.deepEqual({ ...plain, ...unsaid }, plain);
      const refused = async (fields: Json): Promise<void> => {
        for (const response of [await tenant.call('POST', '/organizations', { name: slug(), ...fields }), await change(plain, fields)])
          assert.equal((await jsonOf(response, 400))['kind']?.toString().split('.')[0], Object.keys(fields)[0], JSON.stringify(fields));
      };
      for (const join of ['domain', ['anybody'], [1], [null]]) await refused({ join });
      for (const default_roles of [
        'x',
        ['No Role'],
        ['nobody-made-it'],
        [''],
        Array.from({ length: organizationRolesMax + 1 }, (_, at) => `r${at}`),
      ])
        await refused({ default_roles });
      for (const domains of [
        ['corp'],
        ['Corp.example'],
        ['*.corp.example'],
        ['a@corp.example'],
        ['bücher.example'],
        ['corp.example.'],
        [7],
      ])
        await refused({ domains });
      await refused({ domains: Array.from({ length: providerDomainsMax + 1 }, (_, at) => `d${at}.example`) });
      for (const identity_providers of [
        ['nobody'],
        ['a'.repeat(41)],
        [''],
        'x',
        Array.from({ length: providersPerTenantMax + 1 }, () => 'x'),
      ])
        await refused({ identity_providers });
      for (const sign_in of ['own', '', 1, null]) if (sign_in !== null) await refused({ sign_in });
      for (const acr_min of ['fed', 'loa3', '', 1]) await refused({ acr_min });
      for (const branding of [
        { name: '' },
        { logo: 'x' },
        { accent: 'red' },
        { accent: '#ffffff' },
        { style: 'x' },
        [],
        'x',
        { name: null },
        { logo: 'a'.repeat(64) },
      ])
        await refused({ branding });
      const whole = {
        join: ['domain', 'provider'],
        default_roles: [await role()],
        domains: Array.from({ length: providerDomainsMax }, (_, at) => `d${at}.example`),
        identity_providers: [await provider()],
        sign_in: 'own_providers',
        acr_min: 'phone',
        branding: { name: 'Acme Ltd', logo: await uploadPicture(tenant.managementApi, tenant.token), accent: '#4a45d6' },
      };
      const said = await jsonOf(await change(plain, whole), 200);
      assert.deepEqual({ ...said, ...whole }, said);
      assert.equal(proofsIn(said).length, providerDomainsMax);
      const cleared = await jsonOf(await change(plain, { acr_min: null, join: [], branding: {} }), 200);
      assert.deepEqual([cleared['acr_min'], cleared['join'], cleared['branding']], [null, [], {}]);
    });

    it('a provider that an organisation drops is off until an administrator says that it is everybody’s; those of one that goes go with it', async () => {
      const stateOf = async (alias: string): Promise<unknown> => {
        const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/identity-providers?search=${alias}`);
        return items.find((one) => one['alias'] === alias)?.['enabled'];
      };
      const [kept, dropped, left] = [await provider(), await provider(), await provider()];
      const acme = await make({ identity_providers: [kept, dropped] });
      assert.equal((await change(acme, { identity_providers: [kept] })).status, 200);
      assert.deepEqual([await stateOf(kept), await stateOf(dropped)], [true, false]);
      const events = await tenant.make<{ items: readonly Json[] }>('GET', '/events?type=identity_provider.updated&limit=1');
      assert.deepEqual((events.items[0]!['data'] as Json)['fields'], ['enabled']);
      const other = await make({ identity_providers: [left] });
      assert.equal((await tenant.call('DELETE', `/organizations/${String(other['id'])}`)).status, 204);
      assert.equal(await stateOf(left), undefined);
      const gone = await tenant.make<{ items: readonly Json[] }>('GET', '/events?type=identity_provider.deleted&limit=1');
      assert.match(String(gone.items[0]?.['target']), /^identity_provider:/);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/identity-providers?search=${dropped}`);
      await tenant.make('PATCH', `/identity-providers/${String(items[0]?.['id'])}`, { enabled: true });
      assert.equal(await stateOf(dropped), true);
    });

    it('a picture that a brand shows stays, and one that stood before is not asked for again', async () => {
      const logo = await uploadPicture(tenant.managementApi, tenant.token, pngOf(3, 3));
      const acme = await make({ branding: { logo } });
      assert.equal((await tenant.call('DELETE', `/images/${logo}`)).status, 409);
      assert.equal((await change(acme, { branding: { logo, name: 'Acme' } })).status, 200);
      assert.equal((await change(acme, { branding: {} })).status, 200);
      assert.equal((await tenant.call('DELETE', `/images/${logo}`)).status, 204);
    });

    it('its record proves a domain, and not that of a provider or another tenant; one that is gone proves no longer', async () => {
      const acme = await make({ domains: ['acme.example', 'acme.test'] });
      const [proof] = proofsIn(acme);
      assert.deepEqual([proof?.name, proof?.proven_at], ['_gatehouse.acme.example', null]);
      const other = await make({ domains: ['acme.example'] });
      const theirs = await make({ domains: ['acme.example'] }, await createTestTenant(server));
      const provided = await tenant.make('POST', '/identity-providers', {
        ...{ alias: slug(), kind: 'oidc', name: 'A', issuer: 'https://a.example', client_id: 'x' },
        domains: ['acme.example'],
      });
      const others = [other, theirs, provided].map((one) => proofsIn(one)[0]!.value);
      assert.equal(new Set([proof!.value, ...others]).size, 4);
      dns.records.set(proof!.name, [proofsIn(theirs)[0]!.value, proofsIn(provided)[0]!.value]);
      assert.equal(proofsIn(await check(acme))[0]?.proven_at, null);
      prove(proof!);
      const proven = await Promise.all(Array.from({ length: 6 }, () => check(acme)));
      for (const one of proven)
        assert.deepEqual(
          proofsIn(one).map(({ proven_at }) => typeof proven_at),
          ['string', 'object'],
        );
      // The provider's proof is its own.
      assert.notEqual(
        proofsIn(await tenant.make('POST', `/identity-providers/${String(provided['id'])}/check-domains`))[0]?.proven_at,
        null,
      );
      assert.deepEqual(proofsIn(await tenant.make('GET', `/organizations/${String(acme['id'])}`)), proofsIn(proven[0]!));
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/organizations?search=${String(acme['name'])}`);
      assert.deepEqual(proofsIn(items[0]!), proofsIn(proven[0]!));
      dns.records.set(proof!.name, ['v=spf1 -all']);
      assert.equal(proofsIn(await check(acme))[0]?.proven_at, null);
      const told = (await eventsOf(acme)).slice(1);
      assert.deepEqual(told, [
        ['organization.domain_proven', { domain: 'acme.example' }],
        ['organization.domain_lapsed', { domain: 'acme.example' }],
      ]);
      assert.equal((await tenant.call('POST', '/organizations/nobody/check-domains')).status, 404);
    });

    it('a domain claimed by two with a record of each is one’s, whoever is checked at once; it is free when that one names it no more', async () => {
      const all = await Promise.all([1, 2, 3, 4].map(() => make({ domains: ['twice.example'] })));
      for (const one of all) prove(proofsIn(one)[0]!);
      await Promise.all(all.flatMap((one) => [check(one), check(one)]));
      const isProven = async (one: Json): Promise<boolean> =>
        proofsIn(await tenant.make('GET', `/organizations/${String(one['id'])}`))[0]?.proven_at !== null;
      const proven: Json[] = [];
      for (const one of all) if (await isProven(one)) proven.push(one);
      assert.equal(proven.length, 1);
      const other = all.find((one) => one !== proven[0])!;
      assert.equal((await change(proven[0]!, { domains: [] })).status, 200);
      assert.notEqual(proofsIn(await check(other))[0]?.proven_at, null);
      assert.equal((await tenant.call('DELETE', `/organizations/${String(other['id'])}`)).status, 204);
      const third = all.find((one) => one !== proven[0] && one !== other)!;
      assert.notEqual(proofsIn(await check(third))[0]?.proven_at, null);
    });

    it('a provider is one organisation’s, whoever names it at once', async () => {
      const alias = await provider();
      const all = await Promise.all([1, 2, 3, 4].map(() => make()));
      const answers = await Promise.all([
        ...all.map((one) => change(one, { identity_providers: [alias] })),
        tenant.call('POST', '/organizations', { name: slug(), identity_providers: [alias] }),
      ]);
      assert.deepEqual(answers.map(({ status }) => status).filter((status) => status !== 409).length, 1);
      const late = await change(all.find((_, at) => answers[at]!.status === 409)!, { identity_providers: [alias] });
      assert.equal((await jsonOf(late, 409))['kind'], 'identity_providers');
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/organizations?limit=200');
      const holders = items.filter(({ identity_providers: named }) => (named as readonly string[]).includes(alias));
      assert.equal(holders.length, 1);
      assert.equal((await change(holders[0]!, { identity_providers: [] })).status, 200);
      assert.equal((await change(all.find(({ id }) => id !== holders[0]!['id'])!, { identity_providers: [alias] })).status, 200);
    });

    it('a role that whoever joins gets stays', async () => {
      const name = await role();
      const one = await make({ default_roles: [name] });
      assert.equal((await tenant.call('DELETE', `/organization-roles/${name}`)).status, 409);
      assert.equal((await change(one, { default_roles: [] })).status, 200);
      assert.equal((await tenant.call('DELETE', `/organization-roles/${name}`)).status, 204);
    });

    it('how people sign in for one is said by who may say how people sign in', async () => {
      const [writer, both] = [
        await machineWith(tenant, ['organizations:read', 'organizations:write']),
        await machineWith(tenant, ['organizations:read', 'organizations:write', 'sign-in:write']),
      ];
      const aliases = [await provider(), await provider()];
      const rules: readonly Json[] = [
        { identity_providers: [aliases[0]], sign_in: 'own_providers' },
        { acr_min: 'otp' },
        { identity_providers: [aliases[1]] },
      ];
      for (const rule of rules) {
        assert.equal((await writer.call('POST', '/organizations', { name: slug(), ...rule })).status, 403, JSON.stringify(rule));
        const one = await make(rule);
        assert.equal((await change(one, { display_name: 'Other', join: ['domain'] }, writer)).status, 200);
        assert.equal((await change(one, { sign_in: 'any', acr_min: null, identity_providers: [] }, writer)).status, 403);
        const isProvider = rule['identity_providers'] !== undefined;
        assert.equal((await writer.call('DELETE', `/organizations/${String(one['id'])}`)).status, isProvider ? 403 : 204);
        if (isProvider) assert.equal((await both.call('DELETE', `/organizations/${String(one['id'])}`)).status, 204);
      }
      const alias = await provider();
      // What administrators come in by is of those who have all of it.
      await tenant.make('PATCH', '/settings', { administrator_providers: [alias] });
      assert.equal((await both.call('POST', '/organizations', { name: slug(), identity_providers: [alias] })).status, 403);
      assert.equal((await tenant.call('POST', '/organizations', { name: slug(), identity_providers: [alias] })).status, 201);
    });

    it('documents carry the rules, and refuse names that nobody has; proofs are made anew', async () => {
      const from = await createTestTenant(server);
      const to = await createTestTenant(server);
      const { services } = server.gatehouse;
      const alias = await provider('acme-idp', from);
      await from.make('POST', '/organization-roles', { name: 'approver', scopes: [] });
      const rules = {
        join: ['provider'],
        default_roles: ['approver'],
        domains: ['acme.example'],
        identity_providers: [alias],
        sign_in: 'own_providers',
        acr_min: 'phr',
        branding: { name: 'Acme Ltd', accent: '#4a45d6' },
      };
      const acme = await make(rules, from);
      const open = async ({ slug: name }: Managed) => openSession(services, (await services.tenants.bySlug(name))!, { actor: 'operator' });
      let text = '';
      for await (const part of exportDocument(await open(from), { withSecrets: false, asJson: false })) text += part;
      const sectionOf = (name: string): string => new RegExp(`^${name}:\\n(?: .*\\n)*`, 'm').exec(text)?.[0] ?? '';
      const whole = ['identity_providers', 'organization_roles', 'organizations'].map(sectionOf).join('');
      const apply = (document: string) => applyDocument(services, to.slug, `gatehouse: 1\n${document}`.split('\n'));
      for (let twice = 0; twice < 2; twice += 1) await apply(whole);
      const copy = await to.make('GET', `/organizations/${String(acme['id'])}`);
      assert.deepEqual({ ...copy, ...rules }, copy);
      for (const wrong of ['default_roles: [nobody]', 'identity_providers: [nobody]', 'sign_in: own', 'acr_min: fed', 'domains: [corp]'])
        await assert.rejects(apply(`organizations:\n  - name: wrong\n    ${wrong}\n`), new RegExp(wrong.split(':')[0]!));
      await assert.rejects(apply(`organizations:\n  - name: wrong\n    identity_providers: [${alias}]\n`), /identity_providers is in use/);
    });
  });
