// The command line beside a running server: bin/gatehouse as a process, its output, its exit codes, and what the server then does.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type Running, startBesideCommands, untilStatus } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';
import { createDataFolder, runGatehouse } from '../support/gatehouse-process.ts';
import { callJson, clientCredentialsToken, jsonOf } from '../support/management.ts';
import { operatorToken } from '../support/server.ts';

for (const name of databases) {
  describe(`command line on ${name}`, () => {
    let running: Running;
    before(async () => {
      running = await startBesideCommands(name);
    });
    after(() => running.stop());
    const fails: Running['fails'] = (...args) => running.fails(...args);

    it('tenant create, list, disable, enable: the running server notices', async () => {
      interface Tenant {
        readonly id: string;
        readonly slug: string;
        readonly base_url: string;
        readonly management_api: string;
        readonly enabled: boolean;
        readonly admin_client: { readonly client_id: string; readonly client_secret: string };
      }
      const keys = (): Promise<Response> => fetch(`${running.url}/t/acme/v1/idp/oidc/jwks`);
      assert.equal((await keys()).status, 404);
      const made = await running.json<Tenant>('tenant', 'create', 'acme', '--name', 'Acme');
      assert.deepEqual([made.slug, made.base_url], ['acme', `${running.url}/t/acme`]);
      await untilStatus(keys, 200);
      const token = await clientCredentialsToken(made.base_url, made.admin_client.client_id, made.admin_client.client_secret);
      assert.equal((await callJson(`${made.management_api}/users`, token, 'GET')).status, 200);
      const listed = await running.json<readonly Tenant[]>('tenant', 'list');
      assert.deepEqual(
        listed.filter(({ slug }) => slug !== 'sample').map((tenant) => [tenant.slug, tenant.enabled]),
        [
          ['acme', true],
          ['main', true],
        ],
      );
      assert.deepEqual(await running.json('tenant', 'disable', 'acme'), { id: made.id, slug: 'acme', enabled: false });
      await untilStatus(keys, 404);
      await running.json('tenant', 'enable', 'acme');
      await untilStatus(keys, 200);
      const { stdout } = await running.command('tenant', 'list');
      assert.match(stdout, /^SLUG +STATE +BASE URL +NAME\nacme +enabled/);
      await fails(1, /expected a free slug/, 'tenant', 'create', 'acme');
      await fails(2, /slug: expected .*, found Not-A-Slug\. Try: gatehouse tenant create acme/, 'tenant', 'create', 'Not-A-Slug');
      await fails(2, /--domain: expected an https origin/, 'tenant', 'create', 'own', '--domain', 'http://x.example/path');
      await fails(1, /expected one of acme, main(?:, sample)?, found nobody/, 'tenant', 'disable', 'nobody');
    });

    it('user create, list, suspend, activate', async () => {
      interface User {
        readonly id: string;
        readonly state: string;
        readonly role: string;
        readonly emails: readonly string[];
      }
      const made = await running.json<User>('user', 'create', 'ada@example.com', '--display-name', 'Ada');
      assert.deepEqual([made.state, made.role, made.emails], ['active', 'user', ['ada@example.com']]);
      assert.deepEqual(await running.json('user', 'suspend', 'ADA@example.com'), { id: made.id, state: 'suspended' });
      assert.deepEqual(
        (await running.json<readonly User[]>('user', 'list')).map((user) => [user.id, user.state]),
        [[made.id, 'suspended']],
      );
      assert.deepEqual(await running.json('user', 'activate', made.id), { id: made.id, state: 'active' });
      await fails(1, /expected a free user name, found it in use/, 'user', 'create', 'ada@example.com');
      await fails(2, /email: expected an address/, 'user', 'create', 'nobody');
      await fails(1, /found none of nobody/, 'user', 'suspend', 'nobody');
    });

    it('what commands make is held to what the Management API takes, so that an export is a document again', async () => {
      const long = 'a'.repeat(501);
      const user = ['user', 'create', 'bob@example.com'] as const;
      await fails(2, /user\.user_name: expected .*, found ""/, ...user, '--user-name', '');
      await fails(2, /user\.user_name: expected text without control characters/, ...user, '--user-name', 'a\u0001b');
      await fails(2, /user\.user_name: expected a name that follows RFC 8265, found one that has a space/, ...user, '--user-name', 'a  b');
      await fails(2, /expected a name that follows RFC 8265, found one that .*U\+200D/, 'user', 'create', 'b\u200d@example.com');
      await fails(2, /user\.display_name: expected .* 500 characters/, ...user, '--display-name', long);
      await fails(2, /RFC 8265.*U\+200D/, 'admin', 'invite', '--email', 'b\u200d@example.com');
      for (const name of ['', 'a\u0001b', long]) await fails(2, /tenant\.name: expected /, 'tenant', 'create', 'held', '--name', name);
      for (const name of ['a\u0001b', long]) await fails(2, /client\.name: expected /, 'client', 'create', name, '--kind', 'machine');
      const uri = `https://app.example.com/${'a'.repeat(2048)}`;
      await fails(2, /client\.redirect_uris\[0\]: expected /, 'client', 'create', 'Web', '--kind', 'web', '--redirect-uri', uri);
      const document = join(running.database.dataFolder, 'held.yaml');
      assert.equal((await running.command('export', '--out', document)).code, 0);
      const planned = await running.command('plan', '-f', document, '--exit-code');
      assert.equal(planned.code, 0, planned.stderr);
    });

    it('admin invite --email of a suspended person changes nothing', async () => {
      const made = await running.json<{ readonly id: string }>('user', 'create', 'held@example.com');
      await running.json('user', 'suspend', made.id);
      await fails(1, /expected an active user, found a suspended one/, 'admin', 'invite', '--email', 'held@example.com');
      assert.deepEqual((await running.json<{ readonly roles: readonly string[] }>('admin', 'roles', made.id)).roles, []);
    });

    it('key rotate: the published next key signs', async () => {
      const published = async (): Promise<readonly string[]> =>
        ((await (await fetch(`${running.url}/v1/idp/oidc/jwks`)).json()) as { keys: readonly { kid: string }[] }).keys.map(
          (key) => key.kid,
        );
      const before = await published();
      const { kid, alg } = await running.json<{ kid: string; alg: string }>('key', 'rotate');
      assert.equal(alg, 'ES256');
      assert.ok(before.includes(kid));
      assert.equal((await running.json<{ use: string }>('key', 'rotate', '--use', 'saml')).use, 'saml');
      await fails(2, /Allowed choices/, 'key', 'rotate', '--alg', 'none');
    });

    it('explain shows the row, the check and what was expected, right after the answer', async () => {
      const refused = await callJson(`${running.url}/v1/system/tenants`, operatorToken, 'POST', { slug: 'Wrong', name: 'x' });
      const requestId = refused.headers.get('x-request-id')!;
      const { stdout, code } = await running.command('explain', requestId);
      assert.equal(code, 0);
      assert.match(stdout, /refused: management\.invalid_request \(contract design, 400 invalid_request\)/);
      assert.match(stdout, /check +invalid_field/);
      assert.match(stdout, /expected +slug: This field does not have the expected form\./);
      assert.match(stdout, /actor +operator/);
      const explained = await running.json<{ tenant: string; items: readonly { row: string; contract: { status: number } }[] }>(
        'explain',
        requestId,
      );
      assert.deepEqual(
        [explained.tenant, explained.items[0]!.row, explained.items[0]!.contract.status],
        ['main', 'management.invalid_request', 400],
      );
      await fails(1, /found nothing recorded under unknown/, 'explain', 'unknown');
    });

    it('events: what was recorded, by number and type; --follow as it comes', async () => {
      interface Event {
        readonly seq: number;
        readonly type: string;
      }
      const list = async (...args: readonly string[]): Promise<readonly Event[]> => {
        const { code, stdout, stderr } = await running.command('events', '--json', ...args);
        assert.equal(code, 0, stderr);
        return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Event]));
      };
      await running.json('user', 'create', 'first@example.com');
      const all = await list();
      assert.deepEqual(
        all.map(({ seq }) => seq),
        all.map((_, index) => index + 1),
      );
      const made = all.findLast(({ type }) => type === 'user.created')!;
      assert.deepEqual(await list('--after', String(made.seq - 1), '--types', 'user.*'), [made]);
      const { stdout } = await running.command('events', '--after', String(made.seq - 1), '--types', 'user.created');
      assert.match(stdout, new RegExp(`^${made.seq}  \\S+Z  user\\.created  operator  user:\\S+\\n$`));
      const follower = running.start('events', '--follow', '--after', String(made.seq), '--types', 'user.created', '--json');
      await running.json('user', 'create', 'second@example.com');
      while (!follower.stdout().includes('user.created')) await wait(50);
      follower.signal('SIGTERM');
      await follower.ended;
      assert.equal((JSON.parse(follower.stdout().split('\n')[0]!) as Event).seq > made.seq, true);
      await fails(2, /--after: expected the seq of an event, found x/, 'events', '--after', 'x');
      await fails(2, /--after: expected a number of this feed, found 999999/, 'events', '--after', '999999');
      await fails(2, /--types: expected types such as/, 'events', '--types', 'User');
    });

    it('admin invite: the link makes an administrator, once', async () => {
      const { setup_url: link } = await running.json<{ setup_url: string }>('admin', 'invite');
      const [page, token] = link.split('#') as [string, string];
      assert.equal(page, `${running.url}/setup`);
      const made = await jsonOf(await callJson(page, undefined, 'POST', { token, email: 'boss@example.com' }), 201);
      const users = await running.json<readonly { id: string; role: string }[]>('user', 'list');
      assert.deepEqual(users.find((user) => user.id === made['user_id'])?.role, 'admin');
      const again = await running.json<{ setup_url: string }>('admin', 'recover', 'boss@example.com');
      assert.match(again.setup_url, /\/setup\?for=recovery#[A-Za-z0-9_-]{43}$/);
      await fails(1, /expected an administrator/, 'admin', 'recover', 'ada@example.com');
    });

    it('api: a call as JSON; a refusal with its request id and what to type; wrong calls', async () => {
      const made = await running.json<{ id: string; user_name: string }>('api', 'post', '/users', '--body', '{"user_name": "by-api"}');
      assert.equal(made.user_name, 'by-api');
      assert.equal((await running.json<{ id: string }>('api', 'GET', `/users/${made.id}`)).id, made.id);
      const shown = await running.command('api', 'GET', '/clients');
      assert.match(shown.stdout, /^\{\n {2}"items": \[/);
      assert.doesNotMatch(shown.stdout, /"client_secret"/);
      assert.deepEqual(await running.command('api', 'DELETE', `/users/${made.id}`).then(({ code, stdout }) => [code, stdout]), [0, '']);
      const refused = await running.command('api', 'GET', '/users/nobody');
      assert.equal(refused.code, 1);
      const [, id] =
        /GET \/users\/nobody was refused: 404 \{"error":"not_found".*\nRequest id ([\w-]{22})\. Why: gatehouse explain \1\n$/.exec(
          refused.stderr,
        )!;
      assert.match((await running.command('explain', id!)).stdout, /unknown_user/);
      await fails(2, /expected one of GET, POST/, 'api', 'LOOK', '/users');
      await fails(2, /below the Management API/, 'api', 'GET', 'users');
      await fails(2, /--body: expected JSON/, 'api', 'POST', '/users', '--body', '{');
      await fails(
        1,
        /expected a server at http:\/\/127\.0\.0\.1:1, found none/,
        'api',
        'GET',
        '/users',
        '--public-url',
        'http://127.0.0.1:1',
      );
    });

    it('client create --kind and tenant create --env: secrets go to a new file of their owner, in a folder git leaves alone', async () => {
      const folder = createDataFolder();
      const file = join(folder.path, 'app', '.gatehouse', 'app.env');
      try {
        const shown = await running.command(
          'client',
          'create',
          'Shop',
          '--kind',
          'web',
          '--redirect-uri',
          'https://shop.example/cb',
          '--env',
          file,
        );
        assert.equal(shown.code, 0, shown.stderr);
        const text = readFileSync(file, 'utf8');
        const [, id, secret] = new RegExp(`^ISSUER=${running.url}\nCLIENT_ID=(\\S{22})\nCLIENT_SECRET=(\\S{43})\n$`).exec(text)!;
        assert.ok(!shown.stdout.includes(secret!));
        assert.equal(statSync(file).mode & 0o777, 0o600);
        assert.equal(statSync(join(file, '..')).mode & 0o777, 0o700);
        assert.equal(readFileSync(join(file, '..', '.gitignore'), 'utf8'), '*\n');
        const client = await running.json<Readonly<Record<string, unknown>>>('api', 'GET', `/clients/${id}`);
        assert.deepEqual([client['type'], client['grant_types']], ['confidential', ['authorization_code', 'refresh_token']]);
        const before = (await running.json<readonly unknown[]>('client', 'list')).length;
        await fails(2, /--env: expected a file that is not there yet/, 'client', 'create', 'Shop', '--kind', 'web', '--env', file);
        assert.equal((await running.json<readonly unknown[]>('client', 'list')).length, before, 'nothing was made');
        assert.equal(readFileSync(file, 'utf8'), text);
        for (const [kind, type, grants, leeway, errors] of [
          ['spa', 'public', ['authorization_code', 'refresh_token'], 30, 'redirect'],
          ['mobile', 'public', ['authorization_code', 'refresh_token'], 30, 'redirect'],
          ['device', 'public', ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'], 30, 'redirect'],
          ['machine', 'confidential', ['client_credentials'], 0, 'direct'],
        ] as const) {
          const { client_id: made } = await running.json<{ client_id: string }>('client', 'create', kind, '--kind', kind);
          const found = await running.json<Readonly<Record<string, unknown>>>('api', 'GET', `/clients/${made}`);
          const { type: own, grant_types, refresh_reuse_leeway_seconds, authorize_error_delivery } = found;
          const told = [own, grant_types, refresh_reuse_leeway_seconds, authorize_error_delivery];
          assert.deepEqual(told, [type, grants, leeway, errors], kind);
        }
        await fails(2, /Allowed choices are web, spa, mobile, machine, ciba, device/, 'client', 'create', 'x', '--kind', 'toaster');
        const tenantFile = join(folder.path, 'tenant.env');
        await running.json('tenant', 'create', 'with-env', '--env', tenantFile);
        const [, base, pair] = /^BASE_URL=(\S+)\nADMIN=(\S+:\S+)\n$/.exec(readFileSync(tenantFile, 'utf8'))!;
        const [clientId, clientSecret] = pair!.split(':') as [string, string];
        assert.ok(await clientCredentialsToken(base!, clientId, clientSecret));
      } finally {
        folder.remove();
      }
    });

    it('user invite and admin invite --email: a link that opens once, mailed unless told not to', async () => {
      type Made = { readonly invitation_url: string; readonly mailed_to: string | null };
      const open = (url: string): Promise<Response> => {
        const [page, token] = url.split('#') as [string, string];
        return fetch(page, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ token }) });
      };
      await running.json('user', 'create', 'invited@example.com');
      const handed = await running.json<Made>('user', 'invite', 'invited@example.com', '--no-mail');
      assert.equal(handed.mailed_to, null);
      const mailed = await running.json<Made>('user', 'invite', 'invited@example.com');
      assert.equal(mailed.mailed_to, 'invited@example.com');
      assert.equal((await open(handed.invitation_url)).status, 404, 'a newer one takes its place');
      assert.deepEqual([(await open(mailed.invitation_url)).status, (await open(mailed.invitation_url)).status], [303, 404]);
      const { invitation_url: chief } = await running.json<Made>('admin', 'invite', '--email', 'chief@example.com');
      assert.equal((await open(chief)).status, 303);
      await running.json<Made>('admin', 'invite', '--email', 'invited@example.com');
      const users = await running.json<readonly { user_name: string; role: string }[]>('user', 'list');
      for (const name of ['chief@example.com', 'invited@example.com'])
        assert.equal(users.find((user) => user.user_name === name)?.role, 'admin', name);
      await fails(2, /an address such as/, 'admin', 'invite', '--email', 'nobody');
      await fails(1, /nobody@example.com/, 'user', 'invite', 'nobody@example.com');
    });

    it('user recover: a link that opens once, mailed unless told not to, with a reason', async () => {
      type Made = { readonly recovery_url: string | null; readonly mailed_to: string | null };
      await running.json('user', 'create', 'lost@example.com');
      const mailed = await running.json<Made>('user', 'recover', 'lost@example.com', '--reason', 'Lost phone, called back');
      assert.deepEqual([mailed.recovery_url, mailed.mailed_to], [null, 'lost@example.com']);
      const handed = await running.json<Made>('user', 'recover', 'lost@example.com', '--reason', 'At the desk', '--no-mail');
      const [page, token] = handed.recovery_url!.split('#') as [string, string];
      const opened = await fetch(page, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ token }) });
      assert.equal(opened.status, 303);
      await fails(2, /--reason/, 'user', 'recover', 'lost@example.com');
      await fails(2, /1 to 200 characters, found 201/, 'user', 'recover', 'lost@example.com', '--reason', 'x'.repeat(201));
      await fails(1, /nobody@example.com/, 'user', 'recover', 'nobody@example.com', '--reason', 'x');
    });

    it('doctor finds a healthy deployment, and names a public URL that does not answer', async () => {
      const { ok, findings } = await running.json<{ ok: boolean; findings: readonly { check: string }[] }>('doctor');
      assert.equal(ok, true);
      const search = name === 'postgres' ? ['search'] : [];
      assert.deepEqual(
        findings.map((finding) => finding.check),
        ['files', 'database', 'clock', ...search, 'keys', 'user_names', 'redirect_uris', 'public_url', 'proxy', 'http_clock', 'mail'],
      );
      const sick = await running.command('doctor', '--public-url', 'http://127.0.0.1:1');
      assert.equal(sick.code, 1);
      assert.match(
        sick.stdout,
        /FAIL +public_url +expected issuer http:\/\/127\.0\.0\.1:1 from .*, found .*Start it with: gatehouse serve/,
      );
      assert.match(sick.stderr, /1 of \d checks failed: public_url/);
    });

    if (name === 'sqlite')
      it('doctor names redirect URIs that could not be registered today', async () => {
        const { client_id: id } = await running.json<{ client_id: string }>(
          'client',
          'create',
          'Old',
          '--redirect-uri',
          'https://old.example/cb',
        );
        const database = new DatabaseSync(join(running.database.dataFolder, 'gatehouse.db'), { timeout: 10_000 });
        database.prepare('UPDATE clients SET redirect_uris = ? WHERE client_id = ?').run('["https://Old.example/*"]', id); // as 0.1.0 took it
        database.close();
        const { findings } = await running.json<{ findings: readonly { check: string; found: string }[] }>('doctor');
        assert.equal(
          findings.find(({ check }) => check === 'redirect_uris')?.found,
          `tenant main, client ${id}, "https://Old.example/*": must hold whole URIs, without *. Valid until changed.`,
        );
        await running.json('client', 'list');
      });

    it('usage errors exit 2: unknown commands, options and missing arguments', async () => {
      for (const args of [['fly'], ['tenant', 'fly'], ['tenant', 'create'], ['user', 'list', '--colour', 'red']])
        assert.equal((await running.command(...args)).code, 2, args.join(' '));
      assert.equal((await running.command('--help')).code, 0);
    });
  });
}

it('serve says that another program has its port, and what to type', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo; // listening on TCP
  const folder = createDataFolder();
  try {
    const { code, stderr } = await runGatehouse(folder.path, {
      args: ['serve', '--listen', `127.0.0.1:${port}`, '--data', folder.path],
    }).ended;
    assert.equal(
      stderr,
      `gatehouse: expected a free port, found another program at 127.0.0.1:${port}. Stop it, or name another port: --listen localhost:${port === 65_535 ? port - 1 : port + 1}\n`,
    );
    assert.equal(code, 1);
    // Of /metrics it is another flag that helps.
    const metrics = await runGatehouse(folder.path, {
      args: ['serve', '--listen', '127.0.0.1:0', '--metrics-listen', `127.0.0.1:${port}`, '--data', folder.path],
    }).ended;
    const next = port === 65_535 ? port - 1 : port + 1;
    assert.match(
      metrics.stderr,
      new RegExp(`found another program at 127\\.0\\.0\\.1:${port}\\. .*: --metrics-listen 127\\.0\\.0\\.1:${next}\\n$`),
    );
  } finally {
    other.close();
    folder.remove();
  }
});

it('serve says which flag names an address that this machine does not have', async () => {
  const folder = createDataFolder();
  try {
    for (const [flag, ...more] of [['--listen'], ['--metrics-listen', '--listen', '127.0.0.1:0']] as const) {
      const { code, stderr } = await runGatehouse(folder.path, {
        args: ['serve', '--data', folder.path, flag, '203.0.113.1:8080', ...more],
      }).ended;
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`gatehouse: ${flag}: expected an address of this machine, found 203\\.0\\.113\\.1:8080\\n$`));
    }
  } finally {
    folder.remove();
  }
});
