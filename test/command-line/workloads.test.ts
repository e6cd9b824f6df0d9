// `gatehouse client create --workload`: of each platform a client that is known by its tokens, whose snippet gets a token as it is printed.
// The platform is played: what the snippet calls answers a token of the platform's shape, signed by the test.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { SignJWT } from 'jose';
import { parse as parseYaml } from 'yaml';
import { urlCharsMax, workloadsPerClientMax } from '../../src/contract/limits.ts';
import { presetNames } from '../../src/domain/client/workload-presets.ts';
import { type KeyPair, makeKeyPair } from '../support/client-credentials.ts';
import { type Running, startBesideCommands, untilStatus } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';
import { callJson, type Json } from '../support/management.ts';
import { decodeJwt } from '../support/oidc.ts';
import { roomyRate } from '../support/roomy-rate.ts';

const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const orders = 'https://orders.example';
const directory = '11111111-2222-3333-4444-555555555555';
const application = '66666666-7777-8888-9999-000000000000';
const identity = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee';
const github = 'https://token.actions.githubusercontent.com';
const cluster = 'https://cluster.example';
const account = 'https://3f1a.tokens.sts.global.api.aws';
const role = 'arn:aws:iam::123456789012:role/ci/deploy';

interface Made {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly workload_issuers: readonly { readonly id: string; readonly issuer: string; readonly is_new: boolean }[];
  readonly workloads: readonly Json[];
  readonly snippets: readonly { readonly language: string; readonly text: string }[];
}

interface Platform {
  readonly name: string;
  readonly words: string;
  readonly workload: Json;
  /** What its tokens say beside, and what those of others say. */
  readonly claims: Json;
  readonly others: Json;
  /** What its tokens are for, where that is not the tenant. */
  readonly audience?: string;
  /** How it gives a token to a program. */
  readonly answer: (token: string) => string;
  /** Where the script is in a document. */
  readonly at?: readonly (string | number)[];
}

const plain = (token: string): string => token;
const platforms: readonly Platform[] = [
  {
    name: 'kubernetes',
    words: `issuer=${cluster},namespace=shop,service_account=deploy`,
    workload: { issuer: cluster, subject: 'system:serviceaccount:shop:deploy' },
    claims: { sub: 'system:serviceaccount:shop:deploy', 'kubernetes.io': { namespace: 'shop' } },
    others: { sub: 'system:serviceaccount:other:deploy' },
    answer: plain,
  },
  {
    name: 'github',
    words: 'repository_id=74,environment=production, in Vienna',
    workload: { issuer: github, claims: { repository_id: '74', environment: 'production, in Vienna' } },
    claims: { sub: 'repo:acme/shop:environment:production', repository_id: '74', environment: 'production, in Vienna' },
    others: { repository_id: '75' },
    answer: (token) => JSON.stringify({ value: token }),
    at: ['jobs', 'deploy', 'steps', 0, 'run'],
  },
  {
    name: 'gitlab',
    words: 'project_id=22',
    workload: { issuer: 'https://gitlab.com', claims: { project_id: '22', ref_protected: 'true' } },
    claims: { sub: 'project_path:acme/shop:ref_type:branch:ref:main', project_id: '22', ref_protected: 'true' },
    others: { ref_protected: 'false' },
    answer: plain,
    at: ['deploy', 'script', 0],
  },
  {
    name: 'google',
    words: 'service_account=112233445566778899001',
    workload: { issuer: 'https://accounts.google.com', subject: '112233445566778899001' },
    claims: { sub: '112233445566778899001', azp: '112233445566778899001', email_verified: true },
    others: { sub: '112233445566778899002' },
    answer: plain,
  },
  {
    name: 'aws',
    words: `issuer=${account},role=${role}`,
    workload: { issuer: account, subject: role },
    claims: { sub: role, 'https://sts.amazonaws.com/': { aws_account: '123456789012' } },
    others: { sub: `${role}-other` },
    answer: plain,
  },
  {
    name: 'azure',
    words: `tenant=${directory},object_id=${identity},application_id=${application}`,
    workload: { issuer: `https://login.microsoftonline.com/${directory}/v2.0`, subject: identity },
    claims: { sub: identity, oid: identity, tid: directory, ver: '2.0' },
    others: { sub: application },
    audience: application,
    answer: (token) => JSON.stringify({ access_token: token }),
  },
  {
    name: 'spiffe',
    words: 'id=spiffe://acme.example/ns/shop/sa/deploy,jwks_uri=https://keys.acme.example/jwks',
    workload: { issuer: 'spiffe://acme.example', subject: 'spiffe://acme.example/ns/shop/sa/deploy' },
    claims: { sub: 'spiffe://acme.example/ns/shop/sa/deploy' },
    others: { sub: 'spiffe://acme.example/ns/other' },
    answer: (token) => JSON.stringify([{ svids: [{ svid: token }] }, { bundles: {} }]),
  },
];

/** What snippets call, played; the token endpoint is the server's. */
const played = `
  answer() { printf '%s\\n' "$*" >&2; printf '%s' "$ANSWER"; }
  curl() { case "$*" in */v1/idp/oidc/token*) command curl "$@";; *) answer "$@";; esac; }
  cat() { answer "$@"; }
  aws() { answer "$@"; }
  spire-agent() { answer "$@"; }
`;

/** Runs what is printed for a platform; gives the token it got, and on standard error what it asked the platform. */
async function follow({ snippets }: Made, { answer, at }: Platform, token: string) {
  const { text } = snippets.at(-1)!;
  const stepInto = (part: unknown, step: string | number): unknown => (part as Readonly<Record<string | number, unknown>>)[step]; // as the test names it
  const script = at === undefined ? text : at.reduce(stepInto, parseYaml(text));
  const job = spawn('bash', ['-euo', 'pipefail', '-c', `${played}\n${script}\nprintf '%s' "$token"`], {
    env: {
      PATH: process.env['PATH'],
      ANSWER: answer(token),
      PLATFORM_TOKEN: token,
      ACTIONS_ID_TOKEN_REQUEST_URL: 'https://actions.example/token?v=2',
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  job.stdout.setEncoding('utf8').on('data', (part: string) => (stdout += part));
  job.stderr.setEncoding('utf8').on('data', (part: string) => (stderr += part));
  const code = await new Promise((done) => job.once('close', done));
  return { code, stdout, stderr };
}

for (const database of databases)
  describe(`client create --workload on ${database}`, () => {
    let running: Running;
    let key: KeyPair;
    before(async () => {
      running = await startBesideCommands(database);
      key = makeKeyPair('RS256');
      const settings = { extra_grants: [jwtBearer], rate_limits: { client_auth_failures_per_ip: roomyRate } };
      await running.json('api', 'PATCH', '/settings', '--body', JSON.stringify(settings));
    });
    after(() => running.stop());

    const create = (name: string, words: string, ...more: readonly string[]): Promise<Made> =>
      running.json<Made>('client', 'create', `Job of ${name}`, '--workload', `${name}:${words}`, ...more);
    const setKeys = (id: string, keys: Json): Promise<Json> =>
      running.json('workload-issuer', 'change', id, `keys=${JSON.stringify(keys)}`);
    const sign = (iss: unknown, audience: string, claims: Json): Promise<string> =>
      new SignJWT({ iss: String(iss), ...claims })
        .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT' })
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(key.key);
    const post = (form: Readonly<Record<string, string>>): Promise<Response> =>
      fetch(`${running.url}/v1/idp/oidc/token`, { method: 'POST', body: new URLSearchParams(form) });

    it('knows every platform that is offered', () => {
      assert.deepEqual(
        platforms.map(({ name }) => name),
        presetNames,
      );
    });

    for (const platform of platforms)
      it(`${platform.name}: a client without a secret, known by its token alone, with what is written on the platform`, async () => {
        const { name, words, workload, claims, others, audience = running.url } = platform;
        const made = await create(name, words, '--scope', 'clients:read');
        assert.deepEqual([made.client_secret, made.workload_issuers[0]!.is_new], [undefined, true]);
        assert.deepEqual(made.workloads, [workload]);
        const client = await running.json<Json>('api', 'GET', `/clients/${made.client_id}`);
        assert.deepEqual(
          [client['type'], client['token_endpoint_auth_method'], client['grant_types'], client['workloads']],
          ['confidential', 'federated_jwt', ['client_credentials'], [workload]],
        );
        await setKeys(made.workload_issuers[0]!.id, { jwks: { keys: [key.publicJwk] } });
        const token = await sign(workload['issuer'], audience, claims);
        const form = { grant_type: 'client_credentials', client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' };
        await untilStatus(() => post({ ...form, client_assertion: token }), 200); // the server has noticed
        const followed = await follow(made, platform, token);
        assert.equal(followed.code, 0, followed.stderr);
        assert.equal(decodeJwt(followed.stdout).claims['sub'], made.client_id);
        assert.equal((await callJson(`${running.url}/v1/management/clients`, followed.stdout, 'GET')).status, 200);
        const asked = ['kubernetes', 'gitlab'].includes(name) ? made.snippets[0]!.text : decodeURIComponent(followed.stderr);
        assert.ok(asked.includes(audience), `a token for ${audience} is asked for: ${asked}`);
        const other = await follow(made, platform, await sign(workload['issuer'], audience, { ...claims, ...others }));
        assert.notEqual(other.code, 0);
      });

    it('a grant for an API of one’s own: the token is sent as the assertion', async () => {
      const platform = platforms.find(({ name }) => name === 'gitlab')!;
      const issuer = 'https://gitlab.example';
      const made = await create(
        'gitlab',
        `project_id=22,issuer=${issuer}`,
        '--grant-type',
        jwtBearer,
        '--resource',
        orders,
        '--scope',
        'a',
      );
      await setKeys(made.workload_issuers[0]!.id, { jwks: { keys: [key.publicJwk] } });
      const token = await sign(issuer, running.url, platform.claims);
      await untilStatus(() => post({ grant_type: jwtBearer, assertion: token }), 200);
      const followed = await follow(made, platform, token);
      assert.equal(followed.code, 0, followed.stderr);
      assert.equal(decodeJwt(followed.stdout).claims['aud'], orders);
    });

    it('for people: the client, what it is known by, and what to write on the platform', async () => {
      const { stdout, code } = await running.command(
        'client',
        'create',
        'Job',
        '--workload',
        'gitlab:project_id=7,issuer=https://gitlab-two.example',
      );
      assert.equal(code, 0);
      assert.match(
        stdout,
        /^Client \S{22} of http\S+\nIt has no secret\.\nIt is known by tokens of the new workload issuer https:\/\/gitlab-two\.example: /,
      );
      assert.match(stdout, /\n\ndeploy:\n {2}id_tokens:\n/);
    });

    it('several at once: the client is known by any of them, and each platform is told', async () => {
      const enterprise = 'https://github-two.example';
      const flags = (count: number): readonly string[] =>
        Array.from({ length: count }, (_, at) => [
          '--workload',
          `github:repository_id=9${at},environment=production,issuer=${enterprise}`,
        ]).flat();
      const gitlab = 'gitlab:project_id=9,issuer=https://gitlab-three.example';
      const made = await running.json<Made>('client', 'create', 'Jobs', '--workload', gitlab, ...flags(2));
      assert.deepEqual(
        made.workload_issuers.map(({ issuer }) => issuer),
        ['https://gitlab-three.example', enterprise, enterprise],
      );
      assert.deepEqual(made.workloads, (await running.json<Json>('api', 'GET', `/clients/${made.client_id}`))['workloads']);
      assert.deepEqual(
        made.snippets.map(({ text }) => text.split(':', 1)[0]),
        ['deploy', 'permissions', 'permissions'],
      );
      const many = await running.json<Made>('client', 'create', 'Jobs', ...flags(workloadsPerClientMax));
      assert.equal(many.workloads.length, workloadsPerClientMax);
      const tooMany = flags(workloadsPerClientMax + 1);
      await running.fails(2, /--workload: expected at most 20 of them, found 21/, 'client', 'create', 'Jobs', ...tooMany);
    });

    it('an issuer that is there serves again as it is; one with other keys, disabled or for others is not taken', async () => {
      const issuer = 'https://cluster-two.example';
      const words = `issuer=${issuer},namespace=shop,service_account=two`;
      const first = await create('kubernetes', words);
      const again = await create('kubernetes', words);
      assert.deepEqual(again.workload_issuers, [{ ...first.workload_issuers[0], is_new: false }]);
      const { id } = first.workload_issuers[0]!;
      const refused = async (found: RegExp): Promise<void> =>
        running.fails(1, found, 'client', 'create', 'Job', '--workload', `kubernetes:${words}`);
      await running.json('workload-issuer', 'change', id, 'enabled=false');
      await refused(
        /expected the workload issuer https:\/\/cluster-two\.example to be enabled, found it disabled\. See: gatehouse workload-issuer/,
      );
      await running.json('workload-issuer', 'change', id, 'enabled=true', 'audiences=["https://other.example"]');
      const other = await create('kubernetes', words);
      assert.ok(other.snippets[0]!.text.includes('audience: "https://other.example"'));
      const jwks = { keys: [key.publicJwk] };
      await setKeys(id, { jwks });
      await refused(/with the keys \{"discovery":true\}, found \{"jwks":/);
      assert.equal((await create('kubernetes', `${words},jwks=${JSON.stringify(jwks)}`)).workload_issuers[0]!.is_new, false);
      const azure = (applicationId: string): string => `tenant=${identity},object_id=${identity},application_id=${applicationId}`;
      const { workload_issuers: made } = await create('azure', azure(application));
      assert.equal((await running.json<Json>('workload-issuer', 'show', made[0]!.id))['lifetime_seconds_max'], 86_400);
      const withOther = new RegExp(`with the audience ${directory}, found \\["${application}"\\]`);
      await running.fails(1, withOther, 'client', 'create', 'Job', '--workload', `azure:${azure(directory)}`);
    });

    it('mistakes are told, and nothing is made', async () => {
      const issuers = await running.json<readonly Json[]>('workload-issuer', 'list');
      // When a client was last used is written down a while after it was, and stands in the list and its order.
      const listClients = async (): Promise<readonly Json[]> =>
        (await running.json<readonly Json[]>('client', 'list'))
          .map(({ last_used_at: _, ...client }) => client)
          .sort((left, right) => String(left['client_id']).localeCompare(String(right['client_id'])));
      const clients = await listClients();
      const fails = (message: RegExp, ...args: readonly string[]): Promise<void> =>
        running.fails(2, message, 'client', 'create', 'Job', '--workload', ...args);
      const ref = (chars: number): string => `github:repository_id=74,ref=${'refs/heads/'.padEnd(chars, 'x')}`;
      for (const [words, message] of [
        ['bitbucket:project=1', /--workload: expected one of kubernetes, github, .*, found "bitbucket"/],
        ['github', /--workload github: expected repository_id=… \(the number of the repository.*\), found none/],
        ['github:repository_id=74', /expected environment=… or ref=…, found none/],
        ['github:repository_id=acme/shop,ref=refs/heads/main', /expected repository_id=… .*found "acme\/shop"/],
        ['github:repository_id=74,ref=main', /expected ref=… .*found "main"/],
        ['github:repository_id=74,ref=refs/heads/main,actor=eve', /expected one of repository_id, environment, ref, issuer, found actor/],
        ['github:repository_id=74,ref=refs/heads/a,ref=refs/heads/b', /expected ref=… once, found it twice/],
        ['github:repository_id=74,environment=', /expected environment=… .*found ""/],
        ['gitlab:project_id=1,ref_protected=maybe', /expected ref_protected=…/],
        ['kubernetes:issuer=http://cluster.example,namespace=a,service_account=b', /workloads: has an issuer that must be an https URL/],
        ['kubernetes:issuer=https://k.example,namespace=a,service_account=b,jwks={', /jwks: expected a JSON Web Key Set, found no JSON/],
        ['kubernetes:issuer=https://k.example,namespace=a,service_account=b,jwks={"keys":7}', /workload_issuer\.keys.*expected/],
        ['spiffe:id=spiffe://acme.test/job', /keys: must name an address, or be the keys/],
        [ref(urlCharsMax + 1), new RegExp(`expected ref=… .*found ${urlCharsMax + 1} characters`)],
      ] as const)
        await fails(message, words);
      await fails(/'--workload <platform:values>' cannot be used with option '--kind <kind>'/, ref(20), '--kind', 'web');
      await fails(/cannot be used with option '--auth-method <name>'/, ref(20), '--auth-method', 'none');
      await fails(/--scope: may hold capabilities/, 'gitlab:project_id=1,issuer=https://unmade.example', '--scope', 'orders:read');
      assert.deepEqual(await running.json('workload-issuer', 'list'), issuers);
      assert.deepEqual(await listClients(), clients);
      const longest = ref(urlCharsMax).slice('github:'.length);
      assert.ok((await create('github', `issuer=https://github.acme.example/_services/token,${longest}`)).client_id);
    });
  });
