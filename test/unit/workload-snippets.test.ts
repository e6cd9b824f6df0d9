// A platform is read back from what is registered, so that its snippet is there however the client was made.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  isPresetName,
  issuerOfPreset,
  presetNames,
  readPreset,
  workloadOfPreset,
  workloadPresets,
} from '../../src/domain/client/workload-presets.ts';
import { platformOf, snippetsOf } from '../../src/domain/client/workload-snippets.ts';

const guid = (digit: string): string => '00000000-0000-0000-0000-000000000000'.replaceAll('0', digit);
const given: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  kubernetes: { issuer: 'https://cluster.example', namespace: 'shop', service_account: 'deploy' },
  github: { repository_id: '74', environment: 'pro"duction', issuer: 'https://token.actions.githubusercontent.com' },
  gitlab: { project_id: '22', ref_protected: 'true', issuer: 'https://gitlab.example' },
  google: { service_account: '1122' },
  aws: { issuer: 'https://a.tokens.sts.global.api.aws', role: 'arn:aws:iam::123456789012:role/ci' },
  azure: { tenant: guid('1'), object_id: guid('2'), application_id: guid('3') },
  spiffe: { id: 'spiffe://acme.example/job', issuer: 'spiffe://acme.example' },
};

it('every platform is read back from its workload, with all that its snippet says', () => {
  assert.deepEqual(Object.keys(given), presetNames);
  for (const [name, words] of Object.entries(given)) {
    assert.ok(isPresetName(name));
    const preset = workloadPresets[name];
    assert.ok(readPreset(preset, words).ok);
    const { audiences = [] } = issuerOfPreset(preset, words) as { audiences?: readonly string[] };
    const found = platformOf(workloadOfPreset(preset, words), audiences);
    assert.deepEqual(found, { preset, given: words });
    const client = { clientId: 'job', grantTypes: ['client_credentials'] };
    const snippets = snippetsOf('https://id.example', { ...found!, audiences }, client);
    assert.ok(snippets.at(-1)!.text.includes('client_id=job'), name);
  }
});

it('a workload that no platform of ours makes has none, and what would not be taken is not shown', () => {
  const issuer = 'https://cluster.example';
  for (const workload of [
    { issuer, subject: 'job' },
    { issuer, claims: { repository: 'acme/shop' } },
    { issuer, claims: { repository_id: '74' } }, // neither of a branch nor of an environment
    { issuer, claims: { repository_id: 'acme', ref: 'refs/heads/main' } },
    { issuer, subject: 'system:serviceaccount:Shop$(id):deploy' },
    { issuer, subject: 'arn:aws:iam::1:user/x' },
    { issuer: `https://login.microsoftonline.com/${guid('1')}/v2.0`, subject: guid('2') }, // its tokens are for no application
  ])
    assert.equal(platformOf(workload, []), undefined, JSON.stringify(workload));
});
