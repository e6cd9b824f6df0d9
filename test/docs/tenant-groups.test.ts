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
      await run(world.source, told(textsIn('console')[0]!.split('\n').slice(1).join('\n')));
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
    /** A command of the document with the addresses of this test. */
    const told = (text: string): string =>
      text
        .replace(/\\\n\s*/g, '')
        .replace(/ && nginx .*/, '')
        .replaceAll('/etc/nginx/gatehouse-groups.conf', world.place('groups.conf'))
        .replaceAll('10.0.1.10:8080', hostOf(world.source))
        .replaceAll('10.0.2.10:8080', hostOf(world.target))
        .concat(` --operator-token ${operatorToken}`);
    const reload = async (): Promise<void> => {
      await front.stop();
      front = await startNginx(site(), port);
    };
    const run = async ({ command }: Deployment, line: string): Promise<string> => {
      const ended = await command(...line.replace('gatehouse ', '').replaceAll('acme.bundle', world.place('acme.bundle')).split(' '));
      assert.equal(ended.code, 0, `${line}: ${ended.stderr}`);
      return ended.stdout.trim();
    };
    const statusOf = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${port}${path}`)).status;

    const assertThere = async (tenant: Managed): Promise<void> => {
      assert.equal(await statusOf(`/t/${tenant.slug}/v1/idp/oidc/jwks`), 200);
      assert.equal(await statusOf(`/.well-known/oauth-authorization-server/t/${tenant.slug}`), 200);
      const token = await clientCredentialsToken(tenant.baseUrl, tenant.adminClientId, tenant.adminClientSecret);
      assert.equal((await callJson(`${tenant.managementApi}/users`, token, 'GET')).status, 200);
    };

    it('its command moves a tenant behind one address; deleted where it was, it is served', async () => {
      const [, move, remove] = textsIn('console') as readonly [string, string, string];
      await run(world.source, told(move));
      await reload();
      await assertThere(tenant);
      await run(world.source, remove);
      assert.equal(await statusOf('/t/acme/v1/idp/oidc/jwks'), 200, 'the router asks the group that has it');
      assert.equal(await statusOf('/t/acmes/v1/idp/oidc/jwks'), 404);
    });

    it('its steps by file move a tenant, and the way back opens it again', async () => {
      const { source, target } = world;
      const other = await createTestTenant(source.server, { slug: 'other' });
      const texts = textsIn('console').map((text) => text.replace(/\bacme\b(?!\.)/g, 'other'));
      const [map = '', , , print = '', close = '', take = '', back = ''] = texts;
      const closing = close.replace('gatehouse-import-KEY', await run(target, print));
      assert.match(await run(source, closing), /SHA-256 [0-9a-f]{64}\.\nIt is closed here/);
      await run(source, back);
      await run(source, closing.replace('acme.bundle', world.place('again.bundle')));
      for (const line of take.split('\n')) await run(target, line.replace('acme.bundle', world.place('again.bundle')));
      await run(source, told(map.split('\n').slice(1).join('\n')));
      await reload();
      await assertThere(other);
    });
  });
