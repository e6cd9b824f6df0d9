// Design 20, section 3: `gatehouse group map` asks groups for their tenants, and real routers send requests by what it writes. Names come
// from tenants: none of them may be a word of a router's configuration.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { writeMap } from '../../src/cli/groups/router-formats.ts';
import { runCommand } from '../support/commands.ts';
import { databases } from '../support/databases.ts';
import { freePort } from '../support/free-port.ts';
import type { Ended } from '../support/gatehouse-process.ts';
import { type RouterPlace, routerPrograms, startRouterProgram } from '../support/group-routers.ts';
import { callSystem, type Json, jsonOf } from '../support/management.ts';
import { operatorToken } from '../support/server.ts';
import { type Deployment, type MoveWorld, openMoveWorld } from '../support/tenant-moves.ts';

/** The kid of the first key at an address with a Host of our own. */
const keyAt = (port: number, path: string, host = `127.0.0.1:${port}`): Promise<string> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, headers: { host }, agent: false }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      answer.on('end', () => {
        const { keys } = (answer.statusCode === 200 ? JSON.parse(text) : {}) as { keys?: readonly { readonly kid: string }[] };
        resolve(keys?.[0]?.kid ?? String(answer.statusCode));
      });
    });
    asked.on('error', reject);
    asked.end();
  });

/** Makes a tenant at a group, past the router. */
const createAt = async ({ ownUrl }: Deployment, slug: string, domain?: string): Promise<void> => {
  await jsonOf(
    await callSystem({ url: ownUrl }, 'POST', '/tenants', { slug, name: slug, ...(domain === undefined ? {} : { domain }) }),
    201,
  );
};
const keys = '/v1/idp/oidc/jwks';
const wellKnown = (slug: string): string => `/.well-known/openid-configuration/t/${slug}`;
const portOf = ({ ownUrl }: Deployment): number => Number(new URL(ownUrl).port);
const manyNames = 5000;
/** Words of nginx, Caddy and HAProxy that are slugs as well. */
const words = ['default', 'include', 'hostnames', 'volatile', 'map', 'group-1'];
const longest = `https://${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
const hostile = ['https://a;b.example', 'https://x{y}.example', 'https://"q".example', 'https://$host.example', 'https://~a*.example'];

for (const name of databases)
  describe(`group map on ${name}`, () => {
    let world: MoveWorld;
    let port: number;
    let folder: string;
    before(async () => {
      port = await freePort();
      folder = mkdtempSync(join(tmpdir(), 'gatehouse-map-'));
      const router = { url: `http://127.0.0.1:${port}`, sendTo: () => undefined, close: async () => undefined };
      world = await openMoveWorld('sqlite', name, router);
      const { source, target } = world;
      await createAt(source, 'stays');
      await createAt(source, 'own', 'https://id.own.example');
      for (const slug of ['acme', ...words]) await createAt(target, slug);
      const domains = ['https://login.acme.example', 'https://include', 'https://default', longest, ...hostile];
      for (const [index, domain] of domains.entries()) await createAt(target, `d${index}`, domain);
    });
    after(async () => {
      await world.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const command = (args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ended> =>
      runCommand(folder, ['group', 'map', ...args], { GATEHOUSE_OPERATOR_TOKEN: operatorToken, ...environment });
    const bothGroups = (): readonly string[] => [
      ...['--group', `group-1=${world.source.ownUrl}`],
      ...['--group', `group-2=${world.target.ownUrl}`],
    ];
    const mapFor = async (format: string): Promise<string> => {
      const { code, stdout, stderr } = await command(['--format', format, ...bothGroups()]);
      assert.equal(code, 0, stderr);
      for (const domain of hostile)
        assert.ok(stderr.includes(`${domain} is left out: no request can have it as its host`), `${domain}: ${stderr}`);
      return stdout;
    };
    const placeOf = (map: string): RouterPlace => ({
      port,
      map,
      groups: [new URL(world.source.ownUrl).host, new URL(world.target.ownUrl).host],
    });

    for (const program of routerPrograms)
      it(`${program.format} sends each tenant’s requests to its group by what it wrote, whatever tenants are called`, async () => {
        const place = placeOf(await mapFor(program.format));
        const [first, second] = [portOf(world.source), portOf(world.target)];
        const running = await startRouterProgram(program, place);
        try {
          assert.equal(await keyAt(port, keys), await keyAt(first, keys, `127.0.0.1:${port}`), 'the root tenant is the first group’s');
          for (const slug of ['acme', ...words]) {
            const path = `/t/${slug}${keys}`;
            const key = await keyAt(second, path);
            assert.match(key, /.{8}/);
            assert.equal(await keyAt(port, path), key, slug);
            const discovery = await fetch(`http://127.0.0.1:${port}${wellKnown(slug)}`);
            assert.equal((await jsonOf(discovery, 200))['issuer'], `http://127.0.0.1:${port}/t/${slug}`);
          }
          assert.equal(await keyAt(port, `/t/stays${keys}`), await keyAt(first, `/t/stays${keys}`));
          for (const path of [`/t/acmes${keys}`, `/t/ACME${keys}`, `/t/acme%2f..${keys}`, `/t/d0x${keys}`])
            assert.equal(await keyAt(port, path), '404', path);
          for (const host of [
            'login.acme.example',
            'LOGIN.Acme.example',
            'login.acme.example:443',
            'include',
            'default',
            new URL(longest).host,
          ])
            assert.equal(await keyAt(port, keys, host), await keyAt(second, keys, host), host);
          assert.notEqual(await keyAt(port, keys, 'login.acme.example'), await keyAt(port, keys));
          // Below the domain of a tenant there are no others, whichever group has them.
          assert.equal(await keyAt(port, `/t/acme${keys}`, 'id.own.example'), '404');
          assert.equal(await keyAt(port, keys, 'id.own.example'), await keyAt(first, keys, 'id.own.example'));
        } finally {
          await running.stop();
        }
      });

    for (const program of routerPrograms)
      it(`${program.format} takes a map of thousands, and says no to one that is none`, async () => {
        const names = Array.from({ length: manyNames }, (_, index) => `tenant-${index}`);
        const many = {
          fallback: 'group-1',
          hosts: new Map(names.map((name) => [`${name}.example`, 'group-2'])),
          slugs: new Map(names.map((name) => [name, 'group-2'])),
          leftOut: [],
        };
        const place = placeOf(writeMap(program.format, many));
        assert.equal(program.judge(folder, place), undefined);
        const lines = { nginx: 'host:;{ group-2;', caddy: '}}', haproxy: 'only-a-key' }[program.format];
        const isFound = program.judge(folder, { ...place, map: `${place.map}${lines}\n` }) !== undefined;
        assert.equal(isFound, program.format !== 'haproxy', 'HAProxy takes a key without a value');
      });

    it('a tenant that has moved is where it is open; one that is closed stays where it is; one that is being built is nowhere', async () => {
      const { source, target, place } = world;
      await createAt(source, 'moving');
      const slugs = async (): Promise<Json> => {
        const { code, stdout, stderr } = await command(['--format', 'nginx', '--json', ...bothGroups()]);
        assert.equal(code, 0, stderr);
        return (JSON.parse(stdout) as { readonly slugs: Json }).slugs;
      };
      const { import_key: key } = await target.json<{ readonly import_key: string }>('tenant', 'import-key');
      await source.json('export', '--complete', '--tenant', 'moving', '--for', key, '--out', place('moving.bundle'));
      assert.equal((await slugs())['moving'], undefined);
      await target.json('import', place('moving.bundle'));
      assert.equal((await slugs())['moving'], 'group-2');
      await source.json('tenant', 'reopen', 'moving');
      const both = await command(['--format', 'nginx', ...bothGroups()]);
      assert.equal(both.code, 1);
      assert.match(
        both.stderr,
        /expected tenant moving to be open in one group, found it open at group-1 and group-2\. Delete it where it came from/,
      );
      await source.json('tenant', 'delete', 'moving', '--confirm', 'moving');
      assert.equal((await slugs())['moving'], 'group-2');
    });

    it('--out replaces the file as a whole, and leaves it as it is where a group does not answer or two have one name', async () => {
      const file = join(folder, 'groups.conf');
      const written = await command(['--format', 'nginx', '--out', file, ...bothGroups()]);
      assert.equal(written.code, 0, written.stderr);
      assert.match(readFileSync(file, 'utf8'), /^ {4}\/t\/acme group-2;$/m);
      assert.equal(statSync(file).mode & 0o777, 0o644);
      writeFileSync(file, 'before');
      const nobody = `http://127.0.0.1:${await freePort()}`;
      const refused: readonly (readonly [RegExp, readonly string[], Readonly<Record<string, string>>?])[] = [
        [/expected an answer of http:\/\/127\.0\.0\.1:\d+, found none/, [...bothGroups(), '--group', `group-3=${nobody}`]],
        [
          /expected the operator token of this group, found another one/,
          bothGroups(),
          { GATEHOUSE_OPERATOR_TOKEN: 'another-one-of-32-characters-000' },
        ],
        [
          /GATEHOUSE_OPERATOR_TOKEN: expected the operator token that all groups share, found none/,
          bothGroups(),
          { GATEHOUSE_OPERATOR_TOKEN: '' },
        ],
        [/--group: expected each group/, []],
        [/--group: expected each name once, found group-1 twice/, [...bothGroups(), '--group', `group-1=${nobody}`]],
        [/--group: expected a name of a-z, 0-9 and hyphens/, ['--group', `a;b=${nobody}`]],
        [/--group: expected the address of a group/, ['--group', 'a=ftp://x']],
        [/--group: expected the address of a group/, ['--group', 'a=http://user:secret@127.0.0.1']],
        [
          /expected https, because the operator token opens every tenant, found http to a public address/,
          ['--group', 'a=http://192.0.32.10'],
        ],
      ];
      for (const [message, args, environment] of refused) {
        const ended = await command(['--format', 'nginx', '--out', file, ...args], environment);
        assert.notEqual(ended.code, 0, String(message));
        assert.match(ended.stderr, message);
        assert.equal(readFileSync(file, 'utf8'), 'before');
      }
      await createAt(world.source, 'twin');
      await createAt(world.target, 'twin');
      const twins = await command(['--format', 'nginx', '--out', file, ...bothGroups()]);
      assert.match(twins.stderr, /expected one tenant twin, found two of this name, at group-1 and group-2/);
      assert.equal(readFileSync(file, 'utf8'), 'before');
      assert.equal(existsSync(join(folder, 'groups.conf.')), false);
    });
  });
