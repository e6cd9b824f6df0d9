// The guide of LDAP directories (docs/how-to/ldap.md), as a stranger follows it, with a real OpenLDAP: the account that reads and the lifted limit by
// its own commands, then its shell blocks in their order. People come, sign in by a mailed code, and are the directory's from then on.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { parse as parseYaml } from 'yaml';
import { directoryFailures } from '../../src/domain/extending/directory-runs.ts';
import { blocksOf, readDocument } from '../support/documents.ts';
import { eventually } from '../support/eventually.ts';
import { openApp } from '../support/first-party-app.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { personLdif, slapdAdmin, slapdGroups, slapdPath, slapdPeople, startSlapd, type TestSlapd } from '../support/slapd.ts';
import { loopbackAllowed } from '../support/webhooks.ts';

const document = 'docs/how-to/ldap.md';
const configurator = { dn: 'cn=admin,cn=config', password: 'password-of-the-configuration' };
/** More than OpenLDAP gives by itself. */
const others = 600;

const run = (script: string, environment: Readonly<Record<string, string>>, cwd: string): Promise<string> =>
  promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd, env: { ...process.env, ...environment } }).then(
    ({ stdout }) => stdout,
  );

it(`${document} tells each reason why a directory cannot be read`, () => {
  const told = [...readDocument(document).matchAll(/^\| `(\w+)` \| .+ \| .+ \|$/gm)].map(([, name]) => name);
  assert.deepEqual(
    directoryFailures.filter((reason) => !told.includes(reason)),
    [],
  );
});

if (slapdPath !== undefined && findJudge('ldapadd') !== undefined)
  describe(document, () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-ldap-guide-'));
    let slapd: TestSlapd;
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      const people = ['ann', 'bob', ...Array.from({ length: others }, (_, index) => `person${index}`)].map((uid) => personLdif(uid));
      const group = `dn: cn=engineers,${slapdGroups}\nobjectClass: groupOfNames\ncn: engineers\nmember: uid=ann,${slapdPeople}\nmember: uid=bob,${slapdPeople}\n`;
      slapd = await startSlapd({
        global: ['database config', `rootdn "${configurator.dn}"`, `rootpw ${configurator.password}`],
        sizeLimit: 500,
        ldif: [...people, group].join('\n'),
      });
      server = await startTestServer('sqlite', { flags: loopbackAllowed });
      tenant = await createTestTenant(server, { settings: { login_methods: ['email_pin'] } });
    });
    after(async () => {
      await server?.close();
      await slapd?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const shell = blocksOf(document).filter(({ language }) => language === 'sh');
    let id = '';
    const status = (): Promise<Json> => tenant.make('GET', `/directories/${id}/status`);
    /** A reader's own: the address, and the authority of the certificate. */
    const typed = (text: string): string =>
      text
        .replaceAll('ldaps://ldap.corp.example', slapd.url)
        .replace('"name": "Corp",', `"name": "Corp", "ca": ${JSON.stringify(slapd.ca)},`);
    /** Runs the block that has this, in a shell that knows what the blocks before it named. */
    const block = (part: string): Promise<string> => {
      const found = shell.find(({ text }) => text.includes(part));
      assert.ok(found !== undefined, part);
      const known = found === shell[0] ? [] : shell[0]!.text.split('\n').slice(0, 2);
      const environment = { BASE_URL: tenant.baseUrl, ADMIN: `${tenant.adminClientId}:${tenant.adminClientSecret}`, ID: id };
      return run([...known, typed(found.text)].join('\n'), environment, folder);
    };

    it('1: the account reads, and its limit is lifted, by the commands for OpenLDAP', async () => {
      const commands = blocksOf(document)
        .filter(({ language }) => language === 'console')
        .map(({ text }) =>
          text
            .replaceAll('ldaps://ldap.corp.example', slapd.plainUrl)
            .replaceAll(' -W', ` -w ${slapdAdmin.password}`)
            .replaceAll(' -S ', ' -s password-of-gatehouse ')
            .replaceAll('-H ldapi:/// -Y EXTERNAL', `-x -H ${slapd.plainUrl} -D ${configurator.dn} -w ${configurator.password}`),
        );
      assert.equal(commands.length, 2);
      await run(commands[0]!, {}, folder);
      id = String((JSON.parse(await block('"name": "Corp"')) as Json)['id']);
      const before = JSON.parse(await block('/plan')) as Json;
      assert.equal(before['create'], 500, 'as many as OpenLDAP gives');
      assert.equal((await failureOf('plan'))['reason'], 'partial');
      await run(commands[1]!, {}, folder);
      assert.equal(await failureOf('plan'), null);
    });

    const failureOf = async (what: string): Promise<Json> =>
      (await tenant.make('POST', `/directories/${id}/${what}`, {}))['failure'] as Json;

    it('4 and 5: the test shows ten people, the plan everybody, and nothing is written', async () => {
      const shown = JSON.parse(await block('/test')) as { readonly failure: null; readonly people: readonly Json[] };
      assert.deepEqual([shown.failure, shown.people.length], [null, 10]);
      const counts = JSON.parse(await block('/plan')) as Json;
      assert.deepEqual([counts['create'], counts['conflict']], [others + 2, 0]);
      assert.deepEqual((await tenant.make<{ items: readonly Json[] }>('GET', '/users')).items, []);
    });

    it('6: everybody comes, with the group; bob, whom somebody here has the name of, is a conflict', async () => {
      await createTestUser(tenant, 'bob@elsewhere.example', { user_name: 'bob' });
      await block('"enabled": true');
      await eventually(async () => (await status())['last_run'] !== null);
      const { users, last_run: last, failure } = await status();
      assert.deepEqual([users, (last as Json)['created'], (last as Json)['conflicts'], failure], [others + 2, others + 1, 1, null]);
    });

    it('conflicts are listed, and settled', async () => {
      const told = await block('links?state=conflict');
      assert.match(told, /"dn": "uid=bob,/);
      assert.match(told, /has this user name/);
      assert.match(told, /"pending"/);
      await eventually(async () => {
        const [bob] = (await tenant.make<{ items: readonly Json[] }>('GET', '/users?search=bob')).items;
        return (bob?.['name'] as Json | undefined)?.['given_name'] === 'bob';
      });
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/groups');
      const members = async (): Promise<readonly unknown[]> =>
        (await tenant.make<{ items: readonly Json[] }>('GET', `/groups/${items[0]!['id']}/members`)).items.map((one) => one['user_name']);
      await block('/sync');
      await eventually(async () => (await members()).length === 2);
      assert.deepEqual((await members()).toSorted(), ['ann', 'bob']);
    });

    it('7: ann is invited, and signs in by a mailed code at her account page', async () => {
      assert.match(await block('/invitations'), /"20\d\d-/);
      const { callback } = await openApp(server, 'account', tenant, 'ann@corp.example');
      assert.equal(callback.status, 303);
    });

    it('as a document: another tenant has the same directory by it', async () => {
      const found = blocksOf(document).find(({ language }) => language === 'yaml');
      const other = await createTestTenant(server);
      const planned = await other.make('POST', '/document', { document: parseYaml(found!.text) as Json, plan: true });
      assert.deepEqual([planned['created'], planned['conflicts']], [1, []]);
    });

    it('what the directory says is read-only here, and its own rules say more', async () => {
      const [ann] = (await tenant.make<{ items: readonly Json[] }>('GET', '/users?search=ann')).items;
      assert.equal((await tenant.call('PATCH', `/users/${ann!['id']}`, { name: { given_name: 'Anna' } })).status, 409);
      assert.equal((await tenant.call('PATCH', `/users/${ann!['id']}`, { title: 'Engineer' })).status, 200);
      await block('custom.cost_code');
      await eventually(async () => {
        const person = await tenant.make('GET', `/users/${ann!['id']}`);
        return person['user_name'] === 'ann@corp.example' && person['title'] === undefined;
      });
      assert.equal((await tenant.call('PATCH', `/users/${ann!['id']}`, { title: 'Engineer' })).status, 409);
    });
  });
