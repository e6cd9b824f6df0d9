// `gatehouse config check`: shows what was read, secrets masked, and refuses what `serve` refuses.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { makeIdentity } from '../support/certificates.ts';
import { runCommand } from '../support/commands.ts';
import { createDataFolder, type Ended } from '../support/gatehouse-process.ts';

describe('config check', () => {
  const folder = createDataFolder();
  after(() => folder.remove());
  const run = (...args: readonly string[]): Promise<Ended> => runCommand(folder.path, args, {});

  it('shows settings with secrets masked', async () => {
    const { code, stdout } = await run(
      'config',
      'check',
      '--json',
      '--dev=1',
      '--operator-token',
      'hush',
      '--mail-from',
      'Acme <a@b.example>',
    );
    assert.equal(code, 0);
    const shown = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
    assert.deepEqual([shown['operator_token'], shown['mail_from'], shown['dev']], ['(set)', 'Acme <a@b.example>', true]);
  });

  it('shows the address of a collector without its password', async () => {
    const { stdout } = await run('config', 'check', '--json', '--otlp-url', 'https://acme:hush@traces.example.com/otlp');
    assert.equal((JSON.parse(stdout) as { readonly otlp_url: string }).otlp_url, 'https://acme:***@traces.example.com/otlp');
  });

  for (const [flag, value, code, said] of [
    ['--public-url', 'nonsense', 2, /public_url: expected a URL/],
    ['--master-key', 'short', 2, /master_key: expected 32 bytes in base64, found 3/],
    ['--smtp-url', 'mail.example.com', 2, /smtp_url: expected smtp:\/\/host or smtps:\/\/host, found no URL/],
    ['--smtp-url', 'https://u:hush@mail.example.com', 2, /smtp_url: expected smtp:\/\/host or smtps:\/\/host, found https:\n/],
    ['--otlp-url', 'ftp://u:hush@traces.example.com', 2, /otlp_url: expected an http or https URL such as \S+, found ftp:\n/],
    ['--redis-url', 'localhost:6379', 2, /redis_url: expected redis:\/\/host or rediss:\/\/host, found localhost:/],
    ['--mail-from', 'nobody', 2, /mail_from: expected an address such as Gatehouse <id@example.com>, found nobody/],
    ['--push-fcm', '/nowhere.json', 1, /push_fcm: expected an account in /],
  ] as const)
    it(`${flag} ${value} is refused, and by serve`, async () => {
      for (const command of [
        ['config', 'check'],
        ['serve', '--listen', '127.0.0.1:0'],
      ]) {
        const ended = await run(...command, flag, value);
        assert.equal(ended.code, code, ended.stderr);
        assert.match(ended.stderr, said);
      }
    });

  for (const [name, text, flagsOf, code, said] of [
    ['none', undefined, (file) => ['--apply', file], 1, /apply: expected a document at .*none, found none/],
    ['surplus.yaml', 'gatehouse: 1\nsurplus: 1\n', (file) => ['--apply', file], 1, /surplus: expected one of gatehouse, tenant/],
    [
      'none',
      undefined,
      (file) => ['--attestation-status-list', file],
      2,
      /attestation_status_list: expected a readable file, found none at/,
    ],
    ['list.json', '{}', (file) => ['--attestation-status-list', file], 2, /attestation_status_list: .*list\.json: expected "entries" in/],
    [
      'roots.pem',
      'no PEM',
      (file) => ['--dev=1', '--attestation-roots-apple', file],
      2,
      /attestation_roots_apple: .*roots\.pem: expected at least one PEM certificate/,
    ],
    [
      'key.pem',
      'no PEM',
      (file) => ['--mtls-listen', '127.0.0.1:0', '--mtls-tls', `${file},${file}`],
      2,
      /mtls_tls: expected PEM files of a private key and its certificate/,
    ],
  ] as const satisfies readonly (readonly [string, string | undefined, (file: string) => readonly string[], number, RegExp])[])
    it(`a file that serve would not read is refused: ${said}`, async () => {
      const file = join(folder.path, name);
      if (text !== undefined) writeFileSync(file, text);
      for (const command of [
        ['config', 'check'],
        ['serve', '--listen', '127.0.0.1:0'],
      ]) {
        const ended = await run(...command, ...flagsOf(file));
        assert.equal(ended.code, code, `${command[0]}: ${ended.stderr}`);
        assert.match(ended.stderr, said);
      }
    });

  it('a blank line of gatehouse.yaml and an empty variable are no value: no token `null` opens the system API', async () => {
    const folder = createDataFolder();
    try {
      writeFileSync(
        join(folder.path, 'gatehouse.yaml'),
        'operator_token:\nmail_from: ~\naccess_log: True\ntrusted_proxies: [10.0.0.1, 10.0.0.2]\n',
      );
      const empty = {
        GATEHOUSE_LISTEN: '',
        GATEHOUSE_DATA: '',
        GATEHOUSE_LOG_LEVEL: '',
        GATEHOUSE_MASTER_KEY_FILE: '',
        GATEHOUSE_CONFIG: '',
      };
      const { code, stdout, stderr } = await runCommand(folder.path, ['config', 'check', '--json'], empty);
      assert.equal(code, 0, stderr);
      const shown = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
      const names = ['operator_token', 'mail_from', 'access_log', 'listen_port', 'data_folder', 'log_level', 'trusted_proxies'];
      assert.deepEqual(
        names.map((name) => shown[name]),
        [null, 'Gatehouse <gatehouse@localhost>', true, 8080, './data', 'info', ['10.0.0.1', '10.0.0.2']],
      );
    } finally {
      folder.remove();
    }
  });

  for (const [name, text, said] of [
    [
      'a line that is none',
      'operator_token: hush: hush\n',
      /gatehouse\.yaml: expected "name: value" lines, found Nested mappings[^\n]*\n$/,
    ],
    ['a name twice', 'dev: 0\ndev: 1\n', /gatehouse\.yaml: expected "name: value" lines, found Map keys must be unique/],
    [
      'lines below a name',
      'operator_token: { file: x }\n',
      /gatehouse\.yaml: expected "name: value" lines, found more below operator_token/,
    ],
  ] as const)
    it(`gatehouse.yaml with ${name} is refused`, async () => {
      const folder = createDataFolder();
      try {
        writeFileSync(join(folder.path, 'gatehouse.yaml'), text);
        const { code, stderr } = await runCommand(folder.path, ['config', 'check'], {});
        assert.equal(code, 2, stderr);
        assert.match(stderr, said);
      } finally {
        folder.remove();
      }
    });

  it('a file of a secret that is empty or a folder is refused: nothing starts with another key, token or database', async () => {
    const empty = join(folder.path, 'empty');
    writeFileSync(empty, '\n');
    for (const [path, said] of [
      [empty, /GATEHOUSE_DATABASE_URL_FILE: expected a value, found an empty file at/],
      [folder.path, /GATEHOUSE_DATABASE_URL_FILE: expected a readable file, found none at/],
    ] as const) {
      const { code, stderr } = await runCommand(folder.path, ['config', 'check'], { GATEHOUSE_DATABASE_URL_FILE: path });
      assert.equal(code, 2, stderr);
      assert.match(stderr, said);
    }
  });

  it('the private key of TLS for clients with certificates is masked', async () => {
    const { key, cert } = await makeIdentity({ subject: 'CN=mtls.example' });
    const files = ['key.pem', 'chain.pem'].map((name) => join(folder.path, name));
    writeFileSync(files[0]!, key);
    writeFileSync(files[1]!, cert);
    const args = ['config', 'check', '--mtls-listen', '127.0.0.1:8443', '--mtls-tls', files.join(',')];
    const asJson = await run(...args, '--json');
    assert.equal(asJson.code, 0, asJson.stderr);
    assert.doesNotMatch(asJson.stdout, /PRIVATE KEY/);
    assert.equal((JSON.parse(asJson.stdout) as Readonly<Record<string, unknown>>)['mtls_tls'], '(set)');
    const asTable = await run(...args);
    assert.match(asTable.stdout, /^mtls_listen +127\.0\.0\.1:8443$/m);
    assert.match(asTable.stdout, /^mtls_tls +\(set\)$/m);
  });
});
