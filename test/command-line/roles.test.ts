// Roles on the command line, beside a running server.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Running, startBesideCommands } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';
import { callJson, jsonOf } from '../support/management.ts';

for (const name of databases)
  describe(`roles on the command line on ${name}`, () => {
    let running: Running;
    before(async () => {
      running = await startBesideCommands(name);
    });
    after(() => running.stop());
    const fails: Running['fails'] = (...args) => running.fails(...args);

    it('admin roles, list, invite --role: roles are shown, set and listed; the last owner stays; unknown roles are told', async () => {
      interface Person {
        readonly id: string;
        readonly roles: readonly string[];
      }
      await running.json('admin', 'invite', '--email', 'first@example.com');
      const { setup_url: link } = await running.json<{ setup_url: string }>('admin', 'invite', '--role', 'auditor');
      const [page, token] = link.split('#') as [string, string];
      await jsonOf(await callJson(page, undefined, 'POST', { token, email: 'reads@example.com' }), 201);
      assert.deepEqual((await running.json<Person>('admin', 'roles', 'reads@example.com')).roles, ['auditor']);
      const set = await running.json<Person>('admin', 'roles', 'reads@example.com', 'support,auditor');
      assert.deepEqual(set.roles, ['auditor', 'support']);
      const listed = await running.json<readonly Person[]>('admin', 'list');
      assert.deepEqual(listed.find(({ id }) => id === set.id)?.roles, ['auditor', 'support']);
      const owners = listed.filter(({ roles }) => roles.includes('owner'));
      for (const { id } of owners.slice(1)) assert.deepEqual((await running.json<Person>('admin', 'roles', id, 'none')).roles, []);
      await fails(1, /expected another active owner, found none/, 'admin', 'roles', owners[0]!.id, 'none');
      await fails(1, /expected another active owner, found none/, 'user', 'suspend', owners[0]!.id);
      await fails(2, /roles: expected .*auditor.*, found boss/, 'admin', 'roles', 'reads@example.com', 'boss');
      await fails(2, /--role: expected roles, found none/, 'admin', 'invite', '--role', 'none');
    });
  });
