// What somebody else changes between what an administrative write reads and what it writes stays changed: the other change is not committed
// yet when the write reads, and is before it writes.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases, onServer, overtaken } from '../support/databases.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Asked {
  readonly records: readonly { readonly type: string; readonly name: string; readonly value: string }[];
}

if (databases.includes('postgres'))
  describe('what is changed in the middle of a write', () => {
    let dns: TestDns;
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      dns = await startDns();
      server = await startTestServer('postgres', { flags: { dns_servers: dns.address } });
      tenant = await createTestTenant(server);
    });
    after(async () => {
      await server.close();
      await dns.close();
    });

    const beside = <T>(change: Parameters<typeof overtaken<T>>[1], act: () => Promise<T>): Promise<T> =>
      overtaken(server.database, change, act);
    const columnOf = async (table: string, column: string, key: string, id: string): Promise<unknown> => {
      let value: unknown;
      await onServer(server.database.databaseUrl!, async (session) => {
        const { rows } = await session.query(`SELECT ${column} AS value FROM ${table} WHERE tenant_id = $1 AND ${key} = $2`, [
          tenant.id,
          id,
        ]);
        value = rows[0]?.value;
      });
      return value;
    };

    for (const path of ['/domain/check', '/domain/activate'])
      it(`POST ${path} verifies no domain but the one it looked up`, async () => {
        const { pending } = await tenant.make<{ readonly pending: Asked }>('PUT', '/domain', { domain: 'ours.example' });
        const { name, value } = pending.records.find(({ type }) => type === 'TXT')!;
        dns.records.set(name, [value]);
        const other = `UPDATE tenants SET pending_domain = 'https://bank.example', pending_verified_at = NULL WHERE tenant_id = $1`;
        await beside(
          (session) => session.query(other, [tenant.id]),
          () => tenant.call('POST', path),
        );
        const now = await tenant.make<{ readonly domain: unknown; readonly pending: Json }>('GET', '/domain');
        assert.deepEqual([now.domain, now.pending['domain'], now.pending['verified_at']], [null, 'https://bank.example', null]);
        assert.equal((await tenant.call('DELETE', '/domain')).status, 204);
      });

    const owners = [
      {
        path: '/identity-providers',
        table: 'identity_providers',
        made: {
          alias: 'acme',
          kind: 'oidc',
          name: 'Acme',
          issuer: 'https://acme.example',
          client_id: 'us',
          client_secret: 's'.repeat(32),
          domains: ['acme.example'],
        },
        change: `domain_proof_salt = 'of-another-issuer'`,
        proofs: 'provider_domains',
        key: 'provider_id',
      },
      {
        path: '/organizations',
        table: 'organizations',
        made: { name: 'globex', domains: ['globex.example'] },
        change: `domains = '[]'`,
        proofs: 'organization_domains',
        key: 'organization_id',
      },
    ];
    for (const { path, table, made, change, proofs, key } of owners)
      it(`POST ${path}/{id}/check-domains proves nothing for what it is no more`, async () => {
        const owner = await tenant.make<{ readonly id: string; readonly domain_proofs: Asked['records'] }>('POST', path, made);
        for (const { name, value } of owner.domain_proofs) dns.records.set(name, [value]);
        await beside(
          (session) => session.query(`UPDATE ${table} SET ${change} WHERE id = $1`, [owner.id]),
          () => tenant.call('POST', `${path}/${owner.id}/check-domains`),
        );
        assert.equal(await columnOf(proofs, 'domain', key, owner.id), undefined);
      });

    it('a document leaves the secret that a client was given meanwhile', async () => {
      const { client_id: id } = await tenant.make('POST', '/clients', { name: 'Before', grant_types: ['client_credentials'], scopes: [] });
      const client = { client_id: id, name: 'After', grant_types: ['client_credentials'] };
      const answer = await beside(
        (session) => session.query(`UPDATE clients SET secret_hash = 'rotated' WHERE client_id = $1`, [id]),
        () => tenant.call('POST', '/document', { document: { gatehouse: 1, clients: [client] } }),
      );
      assert.equal(answer.status, 200, await answer.text());
      assert.deepEqual(
        [await columnOf('clients', 'name', 'client_id', String(id)), await columnOf('clients', 'secret_hash', 'client_id', String(id))],
        ['After', 'rotated'],
      );
    });

    it('a document leaves the secrets that settings were given meanwhile', async () => {
      const fcm = { project_id: 'p', credentials_encrypted: 'sealed' };
      const answer = await beside(
        (session) => session.query('UPDATE tenants SET settings = $1 WHERE tenant_id = $2', [JSON.stringify({ push: { fcm } }), tenant.id]),
        () => tenant.call('POST', '/document', { document: { gatehouse: 1, settings: { access_token_lifetime_seconds: 601 } } }),
      );
      assert.equal(answer.status, 200, await answer.text());
      const settings = JSON.parse(String(await columnOf('tenants', 'settings', 'slug', tenant.slug))) as Json;
      assert.deepEqual([settings['access_token_lifetime_seconds'], (settings['push'] as Json | undefined)?.['fcm']], [601, fcm]);
    });
  });
