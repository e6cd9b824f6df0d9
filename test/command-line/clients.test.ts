// `gatehouse client`: made, listed, shown, changed, given another secret and deleted beside a running server.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Running, startBesideCommands, untilStatus } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { clientCredentialsToken, type Json } from '../support/management.ts';

for (const name of databases) {
  describe(`clients by command on ${name}`, () => {
    let running: Running;
    before(async () => {
      running = await startBesideCommands(name);
    });
    after(() => running.stop());
    const fails: Running['fails'] = (...args) => running.fails(...args);

    it('create, list, rotate-secret', async () => {
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
      const withOld = (): Promise<Response> =>
        fetch(`${running.url}/v1/idp/oidc/token`, {
          method: 'POST',
          body: new URLSearchParams({ grant_type: 'client_credentials', client_id: made.client_id, client_secret: made.client_secret }),
        });
      await untilStatus(withOld, 200);
      const rotated = await running.json<Made>('client', 'rotate-secret', made.client_id);
      assert.notEqual(rotated.client_secret, made.client_secret);
      await untilStatus(withOld, 401);
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

    it('list says when each was last used, the latest first; whatever never was stands last', async () => {
      interface Listed {
        readonly client_id: string;
        readonly last_used_at: string | null;
      }
      const make = (clientName: string): Promise<{ readonly client_id: string; readonly client_secret: string }> =>
        running.json('client', 'create', clientName, '--kind', 'machine', '--auth-method', 'client_secret_post', '--scope', 'users:read');
      const [idle, busy] = [await make('Idle'), await make('Busy')];
      const { client_id, client_secret } = busy;
      const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
      await untilStatus(() => fetch(`${running.url}/v1/idp/oidc/token`, { method: 'POST', body }), 200);
      const listed = await eventually(async () => {
        const rows = await running.json<readonly Listed[]>('client', 'list');
        return rows.find(({ client_id: id }) => id === busy.client_id)?.last_used_at === null ? undefined : rows;
      });
      assert.equal(listed!.find(({ client_id: id }) => id === idle.client_id)?.last_used_at, null);
      const times = listed!.map(({ last_used_at: at }) => at ?? '');
      assert.deepEqual(times, times.toSorted().reverse());
      const { stdout } = await running.command('client', 'list');
      assert.match(stdout, /^CLIENT ID +TYPE +AUTHENTICATION +STATE +LAST USED +NAME\n/);
      assert.match(stdout, new RegExp(`${busy.client_id} .* \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\S*Z +Busy\\n`));
      assert.match(stdout, new RegExp(`${idle.client_id} .* none known +Idle\\n`));
    });

    it('show, change, delete', async () => {
      const made = await running.json<Json>('client', 'create', 'Robot', '--redirect-uri', 'https://robot.example/callback');
      const id = String(made['client_id']);
      const shown = await running.json<Json>('client', 'show', id);
      assert.deepEqual(
        [shown['name'], shown['redirect_uris'], shown['created_by']],
        ['Robot', ['https://robot.example/callback'], 'operator'],
      );
      assert.ok(!('client_secret' in shown));
      const changed = await running.json<Json>('client', 'change', id, 'name=Android', 'token_endpoint_auth_method=client_secret_jwt');
      assert.deepEqual([changed['name'], changed['token_endpoint_auth_method']], ['Android', 'client_secret_jwt']);
      assert.match(String(changed['client_secret']), /^[\w-]{43}$/);
      await fails(2, /name: expected /, 'client', 'change', id, 'name=');
      await fails(2, /redirect_uris: /, 'client', 'change', id, 'redirect_uris=["http://x.example"]');
      await fails(2, /expected field=value, found name/, 'client', 'change', id, 'name');
      for (const page of ['console', 'account']) await fetch(`${running.url}/${page}`, { redirect: 'manual' }); // registers it
      await fails(1, /expected a client that is not of Gatehouse itself, found gatehouse-console/, 'client', 'delete', 'gatehouse-console');
      await fails(1, /not of Gatehouse itself, found gatehouse-account/, 'client', 'change', 'gatehouse-account', 'enabled=false');
      assert.equal((await running.json<Json>('client', 'delete', id))['client_id'], id);
      for (const [command, ...more] of [['show'], ['change', 'name=x'], ['delete']])
        await fails(1, /found none with client_id/, 'client', command!, id, ...more);
    });
  });
}
