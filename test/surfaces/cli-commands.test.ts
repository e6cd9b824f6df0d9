// The command line beside a running server: bin/gatehouse as a process, its output, its exit codes, and what the server then does.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Running, startBesideCommands, statusWithinASecond } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';
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
      await statusWithinASecond(keys, 200);
      const token = await clientCredentialsToken(made.base_url, made.admin_client.client_id, made.admin_client.client_secret);
      assert.equal((await callJson(`${made.management_api}/users`, token, 'GET')).status, 200);
      const listed = await running.json<readonly Tenant[]>('tenant', 'list');
      assert.deepEqual(
        listed.map((tenant) => [tenant.slug, tenant.enabled]),
        [
          ['acme', true],
          ['main', true],
        ],
      );
      assert.deepEqual(await running.json('tenant', 'disable', 'acme'), { id: made.id, slug: 'acme', enabled: false });
      await statusWithinASecond(keys, 404);
      await running.json('tenant', 'enable', 'acme');
      await statusWithinASecond(keys, 200);
      const { stdout } = await running.command('tenant', 'list');
      assert.match(stdout, /^SLUG +STATE +BASE URL +NAME\nacme +enabled/);
      await fails(1, /expected a free slug/, 'tenant', 'create', 'acme');
      await fails(2, /slug: expected .*, found Not-A-Slug\. Try: gatehouse tenant create acme/, 'tenant', 'create', 'Not-A-Slug');
      await fails(2, /--domain: expected an https origin/, 'tenant', 'create', 'own', '--domain', 'http://x.example/path');
      await fails(1, /expected one of acme, main, found nobody/, 'tenant', 'disable', 'nobody');
    });

    it('client create, list, rotate-secret', async () => {
      interface Made {
        readonly client_id: string;
        readonly client_secret: string;
        readonly issuer: string;
      }
      const args = [
        'client',
        'create',
        'Robot',
        '--auth-method',
        'client_secret_post',
        '--grant-type',
        'client_credentials',
        '--scope',
        'users:read',
      ];
      const made = await running.json<Made>(...args);
      assert.equal(made.issuer, running.url);
      await clientCredentialsToken(running.url, made.client_id, made.client_secret);
      const rotated = await running.json<Made>('client', 'rotate-secret', made.client_id);
      assert.notEqual(rotated.client_secret, made.client_secret);
      const withOld = (): Promise<Response> =>
        fetch(`${running.url}/v1/idp/oidc/token`, {
          method: 'POST',
          body: new URLSearchParams({ grant_type: 'client_credentials', client_id: made.client_id, client_secret: made.client_secret }),
        });
      await statusWithinASecond(withOld, 401);
      await clientCredentialsToken(running.url, made.client_id, rotated.client_secret);
      const listed = await running.json<readonly Made[]>('client', 'list');
      assert.ok(listed.some((client) => client.client_id === made.client_id));
      assert.ok(!JSON.stringify(listed).includes(rotated.client_secret));
      await fails(
        2,
        /--redirect-uri: must hold https URIs, .*found \["http:\/\/x.example"\]/,
        'client',
        'create',
        'x',
        '--redirect-uri',
        'http://x.example',
      );
      await fails(1, /found none with client_id nobody\. See: gatehouse client list/, 'client', 'rotate-secret', 'nobody');
      await fails(2, /Allowed choices are confidential, public/, 'client', 'create', 'x', '--type', 'secret');
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

    it('admin invite: the link makes an administrator, once', async () => {
      const { setup_url: link } = await running.json<{ setup_url: string }>('admin', 'invite');
      const [page, token] = link.split('#') as [string, string];
      assert.equal(page, `${running.url}/setup`);
      const made = await jsonOf(await callJson(page, undefined, 'POST', { token, email: 'boss@example.com' }), 201);
      const users = await running.json<readonly { id: string; role: string }[]>('user', 'list');
      assert.deepEqual(users.find((user) => user.id === made['user_id'])?.role, 'admin');
      const again = await running.json<{ setup_url: string }>('admin', 'recover', 'boss@example.com');
      assert.match(again.setup_url, /\/setup#[A-Za-z0-9_-]{43}$/);
      await fails(1, /expected an administrator/, 'admin', 'recover', 'ada@example.com');
    });

    it('doctor finds a healthy deployment, and names a public URL that does not answer', async () => {
      const { ok, findings } = await running.json<{ ok: boolean; findings: readonly { check: string }[] }>('doctor');
      assert.equal(ok, true);
      assert.deepEqual(
        findings.map((finding) => finding.check),
        ['database', 'clock', 'keys', 'public_url', 'proxy', 'http_clock', 'mail'],
      );
      const sick = await running.command('doctor', '--public-url', 'http://127.0.0.1:1');
      assert.equal(sick.code, 1);
      assert.match(
        sick.stdout,
        /FAIL +public_url +expected issuer http:\/\/127\.0\.0\.1:1 from .*, found .*Start it with: gatehouse serve/,
      );
      assert.match(sick.stderr, /1 of \d checks failed: public_url/);
    });

    it('config check shows settings with secrets masked', async () => {
      const shown = await running.json<Record<string, unknown>>(
        'config',
        'check',
        '--operator-token',
        'hush',
        '--mail-from',
        'a@b.example',
      );
      assert.deepEqual([shown['operator_token'], shown['mail_from'], shown['dev']], ['(set)', 'a@b.example', true]);
      await fails(2, /public_url: expected a URL/, 'config', 'check', '--public-url', 'nonsense');
    });

    it('usage errors exit 2: unknown commands, options and missing arguments', async () => {
      for (const args of [['fly'], ['tenant', 'fly'], ['tenant', 'create'], ['user', 'list', '--colour', 'red']])
        assert.equal((await running.command(...args)).code, 2, args.join(' '));
      assert.equal((await running.command('--help')).code, 0);
    });
  });
}
