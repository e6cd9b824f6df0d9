// `npm run demo -- --once`: the transcript of all four surfaces, from an empty folder, with public libraries as clients.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';

it('npm run demo: SCIM, OpenID Connect, device plane, SAML and explain in one transcript', () => {
  const root = join(import.meta.dirname, '..', '..');
  const ended = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', 'demo/run.ts', '--once'], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(ended.status, 0, `${ended.stdout}\n${ended.stderr}`);
  for (const line of [
    'SCIM: the directory provisions',
    'OpenID Connect: Ada signs in',
    'the relying party now knows: sub',
    'after a refresh: sub',
    'Device plane: Grace enrols a phone',
    'the provider now knows: nameID',
    'the attacker sees 401 {"error":"invalid_client"}',
    'wrong_secret',
  ])
    assert.ok(ended.stdout.includes(line), `expected "${line}" in\n${ended.stdout}`);
});
