// A stored secret belongs to the address, and to the name, it was given for: whoever changes one of them gives it again. What was proven
// of a provider is not the next one's.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { readDeclarations } from '../../src/administration/declaration/reader.ts';
import { openSession, reconcile } from '../../src/administration/declaration/reconcile.ts';
import { databases } from '../support/databases.ts';
import { startDns } from '../support/dns-server.ts';
import { openExternalWorld } from '../support/external.ts';
import type { Json } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import { idpEntityId, idpMetadata } from '../support/saml-upstream.ts';
import { startUpstream } from '../support/upstream.ts';

const refusedText = 'This field must be given again, because the issuer or the client id is another.';

for (const database of databases) {
  describe(`where secrets go on ${database}`, async () => {
    const dns = await startDns();
    const world = await openExternalWorld(database, { dns_servers: dns.address });
    const { server, managed, tenant, upstream, register, begin, visit, jsonOf, links } = world;
    const next = await startUpstream(server.clock.nowMs);
    after(async () => {
      await next.close();
      await upstream.close();
      await dns.close();
      await server.close();
    });
    const person = { sub: 'ada', email: 'ada@corp.example', email_verified: true };
    let provider: Json & { readonly id: string };
    const patch = (change: Json) => managed.call('PATCH', `/identity-providers/${provider.id}`, change);

    it('a provider’s secret is given again with another issuer or client id; the rest changes without it', async () => {
      provider = await register({ domains: ['corp.example'], trust_email: true, create_users: true });
      for (const change of [{ issuer: next.issuer }, { issuer: `${upstream.issuer}/realm` }, { client_id: 'another' }])
        await assertRefusal(await patch(change), 'management.invalid_request', { kind: 'client_secret', text: refusedText });
      await jsonOf(await patch({ name: 'Acme 2', scopes: ['openid', 'email'], issuer: upstream.issuer }));
      assert.equal((await managed.make('GET', `/identity-providers/${provider.id}`))['issuer'], upstream.issuer);
      assert.equal((await jsonOf(await visit(await begin(), person)))['state'], 'approved');
      assert.equal((await links()).length, 1);
    });

    it('documents too', async () => {
      const { services } = server.gatehouse;
      const apply = async (item: Json) => {
        const document = JSON.stringify({
          gatehouse: 1,
          identity_providers: [{ alias: provider['alias'], kind: 'oidc', name: 'Acme', ...item }],
        });
        const session = await openSession(services, tenant, { actor: 'operator' });
        return reconcile(session, readDeclarations(document.split('\n')), { write: true, prune: false });
      };
      const known = { client_id: String(provider['client_id']), domains: ['corp.example'], trust_email: true, create_users: true };
      const { conflicts } = await apply({ ...known, issuer: next.issuer });
      assert.deepEqual(
        conflicts.map(({ text }) => text),
        ['client_secret is not given, and the one that is known would be told somewhere else'],
      );
      assert.equal((await managed.make('GET', `/identity-providers/${provider.id}`))['issuer'], upstream.issuer);
      assert.deepEqual((await apply({ ...known, issuer: upstream.issuer })).conflicts, []);
    });

    it('an owner moves a provider by giving the secret; its domains are to be proven again, and links stay with the issuer before', async () => {
      const [{ name, value }] = (await managed.make('GET', `/identity-providers/${provider.id}`))['domain_proofs'] as [
        Record<string, string>,
      ];
      dns.records.set(name!, [value!]);
      const proven = (shown: Json) => (shown['domain_proofs'] as readonly Json[]).map(({ proven_at: at }) => at !== null);
      assert.deepEqual(proven(await managed.make('POST', `/identity-providers/${provider.id}/check-domains`)), [true]);
      const moved = await jsonOf(await patch({ issuer: next.issuer, client_secret: 'the secret there' }));
      assert.deepEqual(proven(moved), [false]);
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/events?type=identity_provider.domain_lapsed');
      assert.equal(items.length, 1);
      const answer = await jsonOf(await visit(await begin(), person, next));
      assert.notEqual(answer['state'], 'approved', 'the account linked before is not signed in by the next issuer');
      const check = () => managed.make('POST', `/identity-providers/${provider.id}/check-domains`);
      assert.deepEqual(proven(await check()), [false], 'the record of the issuer before, which still stands, proves nothing for this one');
      const [proof] = moved['domain_proofs'] as [Record<string, string>];
      assert.notEqual(proof['value'], value);
      dns.records.set(name!, [value!, proof['value']!]);
      assert.deepEqual(proven(await check()), [true]);
      const back = await jsonOf(await patch({ issuer: upstream.issuer, client_secret: 'the secret here' }));
      assert.deepEqual(proven(back), [false]);
      assert.deepEqual(proven(await check()), [false], 'nor does the first one once more, since others had it meanwhile');
    });

    it('a SAML provider is the same one by its entityID and a key it had: with another of them its domains are to be proven again', async () => {
      const ours = await idpMetadata();
      const certificateIn = (metadata: string): string => /<md:KeyDescriptor.*?<\/md:KeyDescriptor>/s.exec(metadata)![0];
      const another = certificateIn(ours).replace(
        /(?<=X509Certificate>)[^<]+/,
        (await certificatePem(rsaKeys('saml-elsewhere'))).replace(/-.*-\n|\n/g, ''),
      );
      const domains = ['saml.example'];
      const fields = { alias: 'saml', kind: 'saml', name: 'Saml', metadata: ours, domains };
      const { id } = await managed.make('POST', '/identity-providers', fields);
      const path = `/identity-providers/${id}`;
      const proofOf = (shown: Json) => (shown['domain_proofs'] as readonly Readonly<Record<string, string | null>>[])[0]!;
      const prove = async (): Promise<void> => {
        const { name, value } = proofOf(await managed.make('GET', path));
        dns.records.set(name!, [value!]);
        assert.notEqual(proofOf(await managed.make('POST', `${path}/check-domains`))['proven_at'], null);
      };
      const became = async (metadata: string): Promise<boolean> =>
        proofOf(await managed.make('PATCH', path, { metadata }))['proven_at'] !== null;
      await prove();
      const both = ours.replace(certificateIn(ours), `${certificateIn(ours)}${another}`);
      assert.equal(await became(both), true, 'a key is added beside the one it had');
      assert.equal(
        await became(ours.replace(certificateIn(ours), another)),
        true,
        'and the first one taken away, once the second was known',
      );
      assert.equal(await became(ours), false, 'the same entityID with none of the keys it has');
      assert.equal(proofOf(await managed.make('POST', `${path}/check-domains`))['proven_at'], null, 'nor by the record of before');
      await prove();
      assert.equal(await became(ours.replace(idpEntityId, 'https://idp.elsewhere.example')), false, 'the same key with another entityID');
    });

    it('a connector’s secret is given again with another username or client id', async () => {
      const basic = { type: 'basic', username: 'a' };
      const fields = { name: 'Target', enabled: false, base_url: 'https://scim.example/v2' };
      const { id } = await managed.make('POST', '/connectors', { ...fields, auth: { ...basic, password: 'secret' } });
      await assertRefusal(
        await managed.call('PATCH', `/connectors/${id}`, { auth: { ...basic, username: 'b' } }),
        'management.invalid_request',
        {
          kind: 'auth',
          text: 'This field must be given again with its password, which would be told somewhere else.',
        },
      );
      await managed.make('PATCH', `/connectors/${id}`, { auth: basic, rate: 3 });
      await managed.make('PATCH', `/connectors/${id}`, { auth: { ...basic, username: 'b', password: 'secret' } });
    });

    it('a mail server’s password is given again with another username', async () => {
      const host = { host: 'mail.example', port: 587, security: 'starttls', from: 'mail@corp.example' };
      await managed.make('PUT', '/mail-server', { ...host, username: 'a', password: 'secret' });
      await assertRefusal(await managed.call('PUT', '/mail-server', { ...host, username: 'b' }), 'management.invalid_request', {
        kind: 'password',
        text: 'This field must be given again, because the username is another.',
      });
      await managed.make('PUT', '/mail-server', { ...host, username: 'a', from: 'post@corp.example' });
      await managed.make('PUT', '/mail-server', { ...host, username: 'b', password: 'secret' });
      await managed.make('PUT', '/mail-server', host);
    });
  });
}
