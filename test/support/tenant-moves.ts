// Two deployments behind one router, each with a database and a master key of its own, and a tenant with everything in it that is
// to go on working where it moves to.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { queueMessage } from '../../src/approvals/mailed/mail-delivery.ts';
import { sealedColumns } from '../../src/crypto/sealed-columns.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import { movedTables, readMovedRows } from '../../src/storage/moved-tables.ts';
import { openSettings } from '../../src/tokens/secret-settings.ts';
import { runCommand } from './commands.ts';
import type { DatabaseName } from './databases.ts';
import { changeSettings, enrolledPhone } from './enrolled-phone.ts';
import { createClient, createUser } from './fixtures.ts';
import type { Ended } from './gatehouse-process.ts';
import { beginLogin } from './login.ts';
import { createTestTenant, jsonOf } from './management.ts';
import { exchange, issueCode, tokensOf } from './oidc.ts';
import { givePasskey } from './passkeys.ts';
import { createPhone } from './phone.ts';
import { type Router, startRouter } from './router.ts';
import { openSamlIdp, startSignIn } from './saml-idp.ts';
import { scimCaller } from './scim.ts';
import { startTestServer, type TestServer } from './server.ts';

export interface Deployment {
  readonly server: TestServer;
  /** Its own address, behind the router. */
  readonly ownUrl: string;
  /** Runs a command beside it. */
  readonly command: (...args: readonly string[]) => Promise<Ended>;
  readonly json: <T = Record<string, unknown>>(...args: readonly string[]) => Promise<T>;
  /** A command that must fail with these words and nothing on standard output. */
  readonly fails: (message: RegExp, ...args: readonly string[]) => Promise<void>;
}

async function startDeployment(name: DatabaseName, router: Router, folder: string): Promise<Deployment> {
  const server = await startTestServer(name, { flags: { public_url: router.url, trusted_proxies: '127.0.0.1' } });
  const { port } = server.gatehouse.app.server.address() as AddressInfo;
  const { dataFolder, databaseUrl } = server.database;
  const environment = {
    GATEHOUSE_DEV: '1',
    GATEHOUSE_LOG_LEVEL: 'silent',
    GATEHOUSE_DATA: dataFolder,
    ...(databaseUrl === undefined ? {} : { GATEHOUSE_DATABASE_URL: databaseUrl }),
  };
  const command = (...args: readonly string[]): Promise<Ended> => runCommand(folder, args, environment);
  return {
    server,
    ownUrl: `http://127.0.0.1:${port}`,
    command,
    json: async (...args) => {
      const { code, stdout, stderr } = await command(...args, '--json');
      assert.equal(code, 0, stderr);
      return JSON.parse(stdout); // the caller names the shape it expects
    },
    fails: async (message, ...args) => {
      const ended = await command(...args);
      assert.match(ended.stderr, message);
      assert.notEqual(ended.code, 0);
      assert.equal(ended.stdout, '');
    },
  };
}

export type MoveWorld = Awaited<ReturnType<typeof openMoveWorld>>;

/** @param router one of ours, unless the test has its own */
export async function openMoveWorld(from: DatabaseName, to: DatabaseName, router?: Router) {
  return openBehind(router ?? (await startRouter()), from, to);
}

async function openBehind(router: Router, from: DatabaseName, to: DatabaseName) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-moves-'));
  const source = await startDeployment(from, router, folder);
  const target = await startDeployment(to, router, folder);
  const sendTo = ({ ownUrl }: Deployment): void => router.sendTo(Number(new URL(ownUrl).port));
  sendTo(source);
  return {
    source,
    target,
    sendTo,
    place: (name: string): string => join(folder, name),
    close: async () => {
      await Promise.all([source.server.close(), target.server.close()]);
      await router.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A tenant with people, a phone, a passkey, tokens, sign-ins in flight, providers of both kinds and secrets of every kind. */
export async function fillTenant({ source: { server } }: MoveWorld, slug: string) {
  const managed = await createTestTenant(server, { slug });
  const settings = { login_methods: ['phone', 'passkey', 'email_pin'], attestation: { play_integrity: { decryption_key: 'c2VjcmV0' } } };
  await changeSettings(server, settings, managed.id);
  const { services } = server.gatehouse;
  const tenant = (await services.tenants.bySlug(slug))!;
  const user = await createUser(services, tenant);
  const phone = await enrolledPhone(server, { ...user, tenant: tenant.id }, createPhone(tenant.baseUrl, server.clock.nowMs));
  assert.equal((await phone.call('PUT', '/v1/device/push-token', { body: { provider: 'fcm', token: 'push-token-1' } })).status, 204);
  const passkey = await givePasskey(server, tenant, user);
  const client = await createClient(services, tenant, { backchannelLogoutUri: 'https://rp.example/logout' });
  const tokens = await tokensOf(await exchange(tenant, client, await issueCode(server, tenant, client, user)));
  const signing = { token_endpoint_auth_method: 'client_secret_jwt', name: 'By JWT', redirect_uris: ['https://jwt.example/cb'] };
  await managed.make('POST', '/clients', signing);
  await managed.make('POST', '/identity-providers', {
    alias: 'other',
    kind: 'oidc',
    name: 'Other',
    issuer: 'https://other.example',
    client_id: 'gatehouse',
    client_secret: 'secret-at-other-0123456789',
  });
  await managed.make('POST', '/webhooks', { url: 'https://hooks.example', enabled: false });
  const saml = await openSamlIdp(server, slug);
  await saml.register({ entity_id: 'https://sp.example', name: 'Payroll', attribute_map: { emails: 'mail' } });
  const samlSignIn = await startSignIn(await saml.redirect(saml.request({ issuer: 'https://sp.example' })));
  const scim = scimCaller({ ...server, url: tenant.baseUrl }, managed.token);
  const group = await scim.newGroup('Staff', [user.id]);
  const mail = { to: 'waits@example.com', subject: 'Waits', text: 'A mail that moves', html: '<p>A mail that moves</p>' };
  await services.database.write(tenant.id, (queries) => queueMessage(queries, services, tenant, mail));
  const login = await beginLogin(server, tenant, client);
  await jsonOf(await login.post('identify', { identifier: user.email }), 200);
  const asked = await jsonOf<{ readonly number: string }>(await login.post('method', { method: 'phone' }), 200);
  return { managed, tenant, user, phone, passkey, client, tokens, saml, samlSignIn, scim, group, login, asked, mail };
}

/** Every row of a tenant by table, as JSON, what is encrypted opened with the keys of the deployment. */
export async function rowsOf({ server }: Deployment, tenant: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const { database, encryption } = server.gatehouse.services;
  const id = tenant as TenantId; // an id the server gave
  const found = new Map<string, readonly string[]>();
  for (const table of movedTables) {
    const rows = await database.read(id, (queries) => readMovedRows(queries, id, table, undefined, 10_000));
    const sealed = sealedColumns.filter((column) => column.table === table.table);
    const opened = rows.map((row) => {
      const copy: Record<string, unknown> = { ...row };
      for (const { column, of, purpose } of sealed)
        if (typeof row[column] === 'string')
          copy[column] = encryption.decrypt(row[column], purpose(tenant, of === undefined ? '' : String(row[of]))).toString('base64');
      if (table.table === 'tenants') copy['settings'] = openSettings(encryption, id, JSON.parse(String(row['settings'])));
      const { moving: _moving, ...rest } = copy;
      return JSON.stringify(Object.fromEntries(Object.entries(rest).toSorted(([left], [right]) => (left < right ? -1 : 1))));
    });
    found.set(table.table, opened);
  }
  return found;
}
