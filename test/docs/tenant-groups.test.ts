// The how-to of tenant groups as a reader follows it: its commands in their order, each at the group it names, and its nginx
// configuration in front of both. Only addresses and TLS are changed.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { blocksOf } from '../support/documents.ts';
import { freePort } from '../support/free-port.ts';
import { callJson, clientCredentialsToken, createTestTenant, type Managed } from '../support/management.ts';
import { type Nginx, nginx, startNginx } from '../support/nginx.ts';
import { operatorToken } from '../support/server.ts';
import { type Deployment, type MoveWorld, openMoveWorld } from '../support/tenant-moves.ts';

const document = 'docs/how-to/tenant-groups.md';
const textsIn = (wanted: string): readonly string[] =>
  blocksOf(document)
    .filter(({ language }) => language === wanted)
    .map(({ text }) => text.trim());

if (nginx !== undefined)
  describe(document, () => {
    let world: MoveWorld;
    let front: Nginx;
    let port: number;
    let tenant: Managed;
    before(async () => {
      port = await freePort();
      world = await openMoveWorld('sqlite', 'sqlite', {
        url: `http://127.0.0.1:${port}`,
        sendTo: () => undefined,
        close: async () => undefined,
      });
      await writeMap();
      front = await startNginx(site(), port);
      tenant = await createTestTenant(world.source.server, { slug: 'acme' });
    });
    after(async () => {
      await front.stop();
      await world.close();
    });

    const hostOf = ({ ownUrl }: Deployment): string => new URL(ownUrl).host;
    /** The configuration, with the map that the document's command wrote. */
    const site = (): string =>
      textsIn('nginx')[0]!
        .replace('/etc/nginx/gatehouse-groups.conf', world.place('groups.conf'))
        .replace('10.0.1.10:8080', hostOf(world.source))
        .replace('10.0.2.10:8080', hostOf(world.target))
        .replace('listen 443 ssl http2 default_server;', `listen 127.0.0.1:${port};`)
        .replace(/^ *ssl_certificate.*\n/gm, '');
    const writeMap = async (): Promise<void> => {
      const [, line] = textsIn('console')[0]!
        .replace(/\\\n\s*/g, '')
        .split('\n') as [string, string];
      const told = line
        .replace('/etc/nginx/gatehouse-groups.conf', world.place('groups.conf'))
        .replace('10.0.1.10:8080', hostOf(world.source))
        .replace('10.0.2.10:8080', hostOf(world.target));
      await run(world.source, `${told} --operator-token ${operatorToken}`);
    };
    const run = async ({ command }: Deployment, line: string): Promise<string> => {
      const ended = await command(...line.replace('gatehouse ', '').replaceAll('acme.bundle', world.place('acme.bundle')).split(' '));
      assert.equal(ended.code, 0, `${line}: ${ended.stderr}`);
      return ended.stdout.trim();
    };
    const statusOf = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${port}${path}`)).status;

    it('its steps move a tenant behind one address, and its way back opens it again', async () => {
      const { source, target } = world;
      const [, print, close, take, back] = textsIn('console') as readonly [string, string, string, string, string];
      const key = await run(target, print);
      const closing = close.replace('gatehouse-import-KEY', key);
      assert.match(await run(source, closing), /SHA-256 [0-9a-f]{64}\.\nIt is closed here/);
      await run(source, back);
      await run(source, closing.replace('acme.bundle', `${world.place('again.bundle')}`));
      for (const line of take.split('\n')) await run(target, line.replace('acme.bundle', world.place('again.bundle')));
      await writeMap();
      await front.stop();
      front = await startNginx(site(), port);
      assert.equal(await statusOf('/t/acme/v1/idp/oidc/jwks'), 200);
      assert.equal(await statusOf('/.well-known/oauth-authorization-server/t/acme'), 200);
      const token = await clientCredentialsToken(tenant.baseUrl, tenant.adminClientId, tenant.adminClientSecret);
      assert.equal((await callJson(`${tenant.managementApi}/users`, token, 'GET')).status, 200);
      assert.equal((await callJson(`${source.ownUrl}/v1/system/tenants/${tenant.id}`, operatorToken, 'DELETE')).status, 204);
      assert.equal(await statusOf('/t/acme/v1/idp/oidc/jwks'), 200, 'the router asks the group that has it');
      assert.equal(await statusOf('/t/acmes/v1/idp/oidc/jwks'), 404);
    });
  });
