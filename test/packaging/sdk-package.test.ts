// The device SDK as the reader of its README has it: packed and installed by the README's own commands in an empty project, where every
// entry is imported and every block compiled and run, against the server the README tells its reader to start.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { createHash, createSign, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Approval, Device, DeviceOptions } from '../../sdk/device.ts';
import { revokeDevice } from '../../src/storage/device/devices.ts';
import { until } from '../support/deliveries.ts';
import { blocksOf, root } from '../support/documents.ts';
import { createUser } from '../support/enrolled-phone.ts';
import { createClient, rootTenant } from '../support/fixtures.ts';
import { beginLogin } from '../support/login.ts';
import { otherPin, pinOf } from '../support/mailbox.ts';
import { type Sample, startSample } from '../support/sample-sign-ins.ts';

interface Package {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, { readonly types: string; readonly default: string }>>;
}
type Options = Omit<DeviceOptions, 'baseUrl'>;

const document = 'sdk/README.md';
const guide = 'docs/how-to/sign-in-by-phone.md';
const programs = blocksOf(document).filter(({ language }) => language === 'ts');
const [installation, sampleLink] = blocksOf(document).filter(({ language }) => language === 'console');

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-sdk-package-'));
const project = join(folder, 'my-app'); // as the README calls it
const load = (file: string) => import(pathToFileURL(join(project, file)).href);

/** The README's program that has this line, as its reader runs it: with what the reader puts in its place. */
function programWith<Program>(line: string, replaced: Readonly<Record<string, string>> = {}): Promise<Program> {
  const found = programs.find(({ text }) => text.includes(line));
  assert.ok(found !== undefined, `${document} has no program with: ${line}`);
  const text = Object.entries(replaced).reduce((changed, [theirs, ours]) => {
    assert.ok(changed.includes(theirs), `${document}: expected ${theirs}`);
    return changed.replace(theirs, ours);
  }, found.text);
  const file = join('run', `${programs.indexOf(found)}.ts`);
  mkdirSync(join(project, 'run'), { recursive: true });
  writeFileSync(join(project, file), text);
  return load(file) as Promise<Program>; // what a document exports
}

describe('the package of the device SDK', () => {
  const described = JSON.parse(readFileSync(join(root, 'sdk', 'package.json'), 'utf8')) as Package; // ours
  const installed = join(project, 'node_modules', described.name);
  before(() => {
    const source = join(folder, 'source');
    for (const name of ['sdk', 'tsconfig.json']) cpSync(join(root, name), join(source, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'));
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
    const env = { ...process.env, npm_config_offline: 'true', npm_config_audit: 'false' };
    execFileSync('sh', ['-ec', installation!.text], { cwd: source, env, stdio: 'pipe' });
    // What a TypeScript project on Node has, and nothing else.
    for (const name of ['@types/node', 'undici-types']) {
      mkdirSync(dirname(join(project, 'node_modules', name)), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('has every entry it names, with types, and each can be imported', async () => {
    const entries = Object.entries(described.exports);
    assert.ok(entries.length >= 4);
    for (const entry of Object.values(described.exports))
      for (const file of [entry.types, entry.default]) assert.ok(existsSync(join(installed, file)), file);
    const imports = entries.map(([entry], index) => `export * as entry${index} from '${described.name}${entry.slice(1)}';\n`);
    writeFileSync(join(project, 'entries.ts'), imports.join(''));
    for (const [entry, exported] of Object.entries(await load('entries.ts')))
      assert.notDeepEqual(Object.keys(exported as object), [], entry);
  });

  it('each block of its README, and each program of the guide, compiles against what was packed', () => {
    const blocks = [...programs, ...blocksOf(guide).filter(({ language }) => language === 'ts')];
    assert.ok(programs.length >= 6 && blocks.length >= 8, String(blocks.length));
    const files = blocks.map(({ text }, index) => {
      const name = /^\/\/ ([\w-]+\.ts)$/m.exec(text)?.[1] ?? `block-${index}.ts`;
      writeFileSync(join(project, name), text);
      return name;
    });
    const flags =
      '--noEmit --strict --exactOptionalPropertyTypes --module nodenext --target es2024 --lib es2024,dom,dom.iterable --types node';
    const tsc = join(root, 'node_modules', '.bin', 'tsc');
    execFileSync(tsc, [...flags.split(' '), 'entries.ts', ...files], { cwd: project, stdio: 'pipe', encoding: 'utf8' });
  });

  describe('the blocks of its README, run', () => {
    let sample: Sample;
    let phone: Device;
    let used: string;
    before(async () => {
      sample = await startSample();
    });
    after(() => sample.close());
    const programsOf = async () => ({
      ...(await programWith<{
        readonly redeem: (link: string, options: Options, known: readonly string[]) => Promise<Device>;
      }>('function redeem', { '3000': '30' })), // nobody waits for a person here
      ...(await programWith<{
        readonly decideNext: (
          device: Device,
          ask: (approval: Approval) => Promise<{ readonly number: string } | 'closed' | 'not started by me'>,
        ) => Promise<void>;
      }>('function decideNext')),
      ...(await programWith<{
        readonly claimScanned: (device: Device, link: string, confirm: (from: unknown) => Promise<boolean>) => Promise<void>;
      }>('function claimScanned')),
      ...(await programWith<{ readonly messageOf: (thrown: unknown) => string }>('function messageOf')),
      ...(await programWith<{ readonly optionsOf: (native: object) => Options }>('function optionsOf')),
    });
    let readme: Awaited<ReturnType<typeof programsOf>>;
    before(async () => {
      readme = await programsOf();
    });
    /** Options of a new phone on Node, with its files in a folder that is not there yet. */
    const options = async (): Promise<Options> => {
      const { createSoftwareVault, fileStore } = await import(pathToFileURL(join(installed, described.exports['./node']!.default)).href);
      const phones = mkdtempSync(join(folder, 'phones-'));
      const [store, keys] = ['phone.json', 'keys.json'].map((file) => fileStore(join(phones, 'ada', file)));
      return { store, vault: createSoftwareVault(keys), pause: async () => undefined };
    };

    it('a first run: registers by the mailed code, enrols, approves what waits and rotates the keys', async () => {
      const { server } = sample;
      const tenant = await rootTenant(server.gatehouse.services);
      const { id, email } = await createUser(server, 'ada@example.com');
      const login = await beginLogin(server, tenant, await createClient(server.gatehouse.services, tenant));
      await login.post('identify', { identifier: email });
      const { number } = (await (await login.post('method', { method: 'phone' })).json()) as { readonly number: string };
      Object.assign(globalThis, { codeOfTheMail: () => pinOf(server, email), numberOfTheBrowser: number });
      await programWith('startRegistration', {
        "'https://login.example'": `'${server.url}'`,
        "'123456'": 'await codeOfTheMail()',
        "'47'": 'numberOfTheBrowser',
      });
      assert.deepEqual(await (await login.get('/status')).json(), { state: 'approved' });
      const keys = await server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries
          .selectFrom('device_keys')
          .innerJoin('devices', 'devices.id', 'device_keys.device_id')
          .select(['devices.name', 'device_keys.purpose', 'device_keys.rotated_at'])
          .where('devices.user_id', '=', id)
          .execute(),
      );
      assert.deepEqual(keys.map(({ name, purpose, rotated_at: rotated }) => [name, purpose, rotated !== null]).sort(), [
        ['Ada’s phone', 'pop', true],
        ['Ada’s phone', 'uv', true],
      ]);
    });

    it('a link of the commands for the sample enrols a phone; one of a tenant that the app does not know does not', async () => {
      const env = { ...process.env, GATEHOUSE_DATA: sample.server.config.dataFolder };
      const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', sampleLink!.text], { cwd: root, env });
      used = (JSON.parse(stdout) as { readonly qr_uri: string }).qr_uri;
      const unknown = /expected an enrolment link of a known tenant/;
      await assert.rejects(readme.redeem(used, await options(), [sample.server.url]), unknown);
      await assert.rejects(readme.redeem('https://login.example', await options(), [sample.tenant.baseUrl]), unknown);
      phone = await readme.redeem(used, await options(), [sample.tenant.baseUrl]);
      const { status, account } = await phone.state();
      assert.deepEqual([status, (account!.user as { readonly email: string }).email], ['enrolled', sample.ada.email]);
    });

    it('decideNext approves with the number, and denies as closed and as not started by the person', async () => {
      const outcomes = [
        ['approved', null],
        ['denied', 'mistake'],
        ['denied', 'not_me'],
      ];
      const found: unknown[] = [];
      for (const answer of ['number', 'closed', 'not started by me'] as const) {
        const signIn = await sample.signIn();
        await readme.decideNext(phone, async ({ type, match }) => {
          assert.deepEqual([type, match], ['oidc_login', { required: true, digits: 2 }]);
          return answer === 'number' ? { number: signIn.number } : answer;
        });
        found.push([await signIn.state(), await signIn.denyReason()]);
      }
      assert.deepEqual(found, outcomes);
    });

    it('claimScanned approves without a number what the person confirms, and denies the rest; a link of another tenant is not sent', async () => {
      for (const confirmed of [true, false]) {
        const signIn = await sample.signIn();
        await readme.claimScanned(phone, await sample.codeOf(signIn), async (from) => {
          assert.equal((from as { readonly ip: string }).ip, '127.0.0.1');
          return confirmed;
        });
        assert.deepEqual([await signIn.state(), await signIn.denyReason()], confirmed ? ['approved', null] : ['denied', 'mistake']);
      }
      const elsewhere = 'https://login.example/scan#v=1&c=a.b';
      await assert.rejects(
        readme.claimScanned(phone, elsewhere, async () => assert.fail()),
        /expected the code of a sign-in page/,
      );
    });

    it('the keys of a phone’s own module enrol a second phone, which waits for the first one and its number', async (t) => {
      const keys = new Map<string, KeyObject>();
      let stored: string | undefined;
      const native = {
        makeKey: async () => {
          const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
          const alias = randomUUID();
          keys.set(alias, privateKey);
          return { alias, spkiBase64: publicKey.export({ format: 'der', type: 'spki' }).toString('base64') };
        },
        signSha256WithEcdsa: async (alias: string, text: Uint8Array) => createSign('sha256').update(text).sign(keys.get(alias)!), // strict DER
        deleteKey: async (alias: string) => void keys.delete(alias),
        aliases: async () => [...keys.keys()],
        sha256: async (bytes: Uint8Array) => createHash('sha256').update(bytes).digest(),
        uuid: randomUUID,
        read: async () => stored,
        write: async (text: string) => {
          stored = text;
        },
      };
      const decided: Promise<void>[] = [];
      t.mock.method(console, 'log', (text: string) => {
        const [, number] = /^Type (\d\d) on your other phone$/.exec(text)!;
        if (decided.length > 0) return;
        decided.push(
          readme.decideNext(phone, async (approval) => {
            assert.deepEqual([approval.type, approval.device?.name], ['device_add', 'Ada’s phone']);
            return { number: number! };
          }),
        );
      });
      const second = await readme.redeem(await sample.enrollmentLink(), readme.optionsOf(native), [sample.tenant.baseUrl]);
      assert.equal(decided.length, 1);
      await decided[0];
      assert.equal((await second.state()).status, 'enrolled');
      assert.equal(keys.size, 2);
      const signIn = await sample.signIn();
      await readme.decideNext(second, async () => ({ number: signIn.number }));
      assert.equal(await signIn.state(), 'approved');
      await second.revokeSelf();
      assert.equal(keys.size, 0);
    });

    it('a push has its type and the id of the request, and nothing about the person', async () => {
      const prose = readFileSync(join(installed, 'README.md'), 'utf8');
      assert.match(prose, /`await device\.setPushToken\('apns', token\)`, or with `'fcm'`/);
      const { vendors } = sample;
      for (const [vendor, token] of [
        ['apns', 'a1b2'],
        ['fcm', 'token-of-the-app'],
      ] as const) {
        await phone.setPushToken(vendor, token);
        const signIn = await sample.signIn();
        await until(() => vendors.captured[vendor].length === 1);
        const [{ body }] = vendors.captured[vendor] as never as [{ readonly body: Buffer }];
        const [approval] = await phone.listApprovals();
        const sent = JSON.parse(body.toString());
        const { type, approval_id: id } = vendor === 'apns' ? sent : sent.message.data;
        assert.deepEqual([type, id], ['approval', approval!.id]);
        assert.doesNotMatch(body.toString().replaceAll(id, ''), /ada|lovelace/i); // letters of an id come as they like
        await phone.approve(approval!, signIn.number);
      }
    });

    it('messageOf has a sentence for each error it names, and throws what it does not name', async () => {
      const told = (failing: Promise<unknown>): Promise<string> => failing.then(() => 'no error', readme.messageOf);
      const { createDevice } = (await load('entries.ts')).entry0 as { readonly createDevice: (options: DeviceOptions) => Device };
      const { baseUrl } = sample.tenant;
      const newcomer = createDevice({ ...(await options()), baseUrl });
      await newcomer.startRegistration({ email: sample.ada.email, device: { platform: 'ios', name: 'Ada’s phone' } });
      const code = await pinOf(sample.server, sample.ada.email);
      assert.equal(await told(newcomer.verifyPin(otherPin(code))), 'That code is wrong.');

      const signIn = await sample.signIn();
      const [approval] = await phone.listApprovals();
      const wrong = otherPin(signIn.number);
      assert.equal(await told(phone.approve(approval!, wrong)), 'The number was wrong, so the request was denied.');
      assert.equal(await signIn.state(), 'denied');
      assert.equal(await told(phone.approve(approval!, signIn.number)), 'This request has ended.');

      assert.equal(await told(readme.redeem(used, await options(), [baseUrl])), 'This link was used or has expired. Ask for a new one.');
      const silent = createDevice({ ...(await options()), baseUrl, fetch: () => Promise.reject(new TypeError('fetch failed')) });
      assert.equal(
        await told(silent.startSignup({ email: 'x@example.com', device: { platform: 'ios', name: 'x' } })),
        'No connection. Try again.',
      );
      await assert.rejects(told(silent.listApprovals()), /expected an enrolled phone/);

      const { account } = await phone.state();
      const revoked = await sample.server.gatehouse.services.database.write(sample.tenant.id, (queries) =>
        revokeDevice(queries, sample.tenant.id, account!.deviceId),
      );
      assert.equal(revoked, true);
      assert.equal(await told(phone.listApprovals()), 'This phone was removed. Enrol it again.');
      assert.equal((await phone.state()).status, 'revoked');
    });
  });
});
