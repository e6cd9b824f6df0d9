// `gatehouse organization invite|setup-link …`: the links that let somebody into an organisation, made, listed and taken back as over the
// Management API.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setupLinksPerOrganizationMax } from '../../src/contract/organization-limits.ts';
import { type Running, startBesideCommands } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';

type Json = Readonly<Record<string, unknown>>;

for (const name of databases)
  describe(`organisations on the command line on ${name}`, () => {
    let running: Running;
    before(async () => {
      running = await startBesideCommands(name);
      await running.json('organization-role', 'create', 'name=approver');
      await running.json('organization', 'create', 'name=acme', 'display_name=Acme Ltd');
    });
    after(() => running.stop());
    const run = <T = Json>(...words: readonly string[]): Promise<T> => running.json<T>('organization', ...words);

    it('somebody is invited by the name or the id of the organisation, listed and withdrawn', async () => {
      const made = await run('invite', 'acme', 'ada@acme.example', '--role', 'approver', '--no-mail');
      assert.match(String(made['invitation_url']), /\/welcome#[\w-]{43}$/);
      assert.deepEqual([made['email'], made['roles'], made['mailed']], ['ada@acme.example', ['approver'], false]);
      const { id } = await run('show', String((await run<readonly Json[]>('list'))[0]?.['id']));
      const [open] = await run<readonly Json[]>('invitations', String(id), '--open');
      assert.deepEqual(
        [open?.['id'], open?.['email'], open?.['state'], open?.['roles']],
        [made['id'], 'ada@acme.example', 'open', ['approver']],
      );
      await run('withdraw-invitation', 'acme', String(made['id']));
      assert.deepEqual(await run('invitations', 'acme', '--open'), []);
      assert.equal((await run<readonly Json[]>('invitations', 'acme'))[0]?.['state'], 'revoked');
      await running.fails(1, /found none: /, 'organization', 'withdraw-invitation', 'acme', String(made['id']));
    });

    it('what is wrong is said', async () => {
      await running.fails(2, /email: expected an address/, 'organization', 'invite', 'acme', 'nobody');
      await running.fails(
        2,
        /--role: expected roles of organisations, found gone/,
        'organization',
        'invite',
        'acme',
        'a@b.example',
        '--role',
        'gone',
      );
      for (const words of [
        ['invite', 'globex', 'a@b.example'],
        ['invitations', 'globex'],
        ['setup-link', 'globex'],
        ['setup-links', 'globex'],
      ])
        await running.fails(1, /expected an organisation, found none named globex/, 'organization', ...words);
      await running.fails(1, /found none: nobody/, 'organization', 'revoke-setup-link', 'acme', 'nobody');
    });

    it('a set-up link is printed once, listed without itself and taken back; no more work than may', async () => {
      const made = await run('setup-link', 'acme');
      assert.match(String(made['setup_url']), /\/organization-setup#[\w-]{43}$/);
      const [listed] = await run<readonly Json[]>('setup-links', 'acme');
      const { setup_url: _url, ...others } = made;
      assert.deepEqual(listed, others);
      assert.deepEqual([listed?.['state'], listed?.['created_by']], ['open', 'operator']);
      await run('revoke-setup-link', 'acme', String(made['id']));
      assert.equal((await run<readonly Json[]>('setup-links', 'acme'))[0]?.['state'], 'revoked');
      for (let at = 0; at < setupLinksPerOrganizationMax; at += 1) await run('setup-link', 'acme');
      await running.fails(1, /expected at most 10 set-up links/, 'organization', 'setup-link', 'acme');
    });
  });
