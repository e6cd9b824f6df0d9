// `gatehouse <kind> create|list|show|change|delete` of every kind of registered thing: one table makes them, and they keep to the rules the
// Management API keeps to.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Kind } from '../../src/domain/kind.ts';
import { kinds } from '../../src/domain/kinds.ts';
import { type Running, startBesideCommands } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';
import { kindStories } from '../support/kind-stories.ts';

type Json = Readonly<Record<string, unknown>>;
const wordsOf = (given: Json): readonly string[] =>
  Object.entries(given).map(
    ([name, value]) => `${name}=${value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)}`,
  );

for (const name of databases)
  describe(`kinds on the command line on ${name}`, () => {
    let running: Running;
    before(async () => {
      running = await startBesideCommands(name);
    });
    after(() => running.stop());
    const stories = kindStories.filter(({ noun }) => Object.hasOwn(kinds, noun));

    for (const { noun, key = 'id', create, change, refused, hasSecret } of stories)
      it(noun, async () => {
        const command = noun.replaceAll('_', '-');
        const { fields } = (kinds as unknown as Readonly<Record<string, Kind>>)[noun]!; // of these kinds
        const { secret, ...made } = await running.json<Json>(command, 'create', ...wordsOf(create));
        assert.equal(typeof secret, hasSecret === true ? 'string' : 'undefined'); // shown once
        const isHidden = (field: string): boolean =>
          Object.values(fields).some(({ name: own, about }) => own === field && about.hidden === true);
        for (const [field, value] of Object.entries(create))
          if (typeof value === 'string') assert.equal(made[field], isHidden(field) ? undefined : value);
        const id = String(made[key]);
        const shown = await running.json<Json>(command, 'show', id);
        assert.deepEqual(shown, made);
        assert.deepEqual(
          (await running.json<readonly Json[]>(command, 'list')).filter((one) => one[key] === id),
          [made],
        );
        const { clients: _none, ...possible } = change; // those of the console, which nobody has opened here
        const changed = await running.json<Json>(command, 'change', id, ...wordsOf(possible));
        for (const [field, value] of Object.entries(possible)) assert.deepEqual(changed[field], value);
        if (hasSecret === true) assert.notEqual((await running.json<Json>(command, 'rotate-secret', id))['secret'] ?? secret, secret);
        await running.fails(
          1,
          /is (?:in use|registered already)|has (?:a hook|this (?:address|name))/,
          command,
          'create',
          ...wordsOf(create),
        );
        await running.fails(2, new RegExp(`^gatehouse: ${noun}|expected|must|is required`), command, 'create', ...wordsOf(refused[0]!));
        await running.fails(2, /expected field=value, found nonsense/, command, 'create', 'nonsense');
        await running.fails(1, /found none named nobody/, command, 'show', 'nobody');
        await running.json(command, 'delete', id);
        await running.fails(1, /found none named/, command, 'delete', id);
      });

    it('a mistake in a secret names its place and shows nothing of it', async () => {
      const auth = JSON.stringify({ type: 'bearer', token: ['known to us'] });
      const { code, stderr } = await running.command('connector', 'create', 'name=P', 'base_url=https://p.example', `auth=${auth}`);
      assert.equal(code, 2);
      assert.match(stderr, /connector\.auth\.token: expected .* found "a secret"/);
      assert.doesNotMatch(stderr, /known to us/);
    });

    it('the only way into an organisation stays', async () => {
      const fields = { alias: 'only', kind: 'oidc', name: 'Only', issuer: 'https://only.example', client_id: 'x' };
      const { id } = await running.json<Json>('identity-provider', 'create', ...wordsOf(fields));
      const alone = wordsOf({ sign_in: 'own_providers', identity_providers: ['only'] });
      const acme = await running.json<Json>('organization', 'create', 'name=only-way', ...alone);
      const refused = /by its own providers alone/;
      await running.fails(1, refused, 'identity-provider', 'change', String(id), 'enabled=false');
      await running.fails(1, refused, 'identity-provider', 'delete', String(id));
      await running.fails(1, refused, 'organization', 'change', String(acme['id']), 'identity_providers=[]');
      await running.fails(1, refused, 'organization', 'create', 'name=no-way', 'sign_in=own_providers');
      await running.json('organization', 'delete', String(acme['id']));
      await running.fails(1, /found none named/, 'identity-provider', 'show', String(id));
    });
  });
