// Design 02, command line: every command says what it does with an example, refuses unknown flags with exit 2, and stands in the
// completion of every shell.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { runCommand } from '../support/commands.ts';
import { createDataFolder, type Ended } from '../support/gatehouse-process.ts';
import { findJudge } from '../support/judge-binaries.ts';

interface Entry {
  readonly words: readonly string[];
  readonly subcommands: readonly string[];
  readonly flags: readonly { readonly flag: string }[];
}

/** What commander asks for before it looks at what it does not know. */
const required: Readonly<Record<string, readonly string[]>> = {
  'group map': ['--format', 'nginx'],
  'tenant move': ['--to', 'https://group-2.internal'],
  plan: ['-f', 'x'],
  apply: ['-f', 'x'],
  'sign-in': ['--user', 'x'],
  'user recover': ['--reason', 'x'],
};

describe('command line: help and completion', () => {
  const folder = createDataFolder();
  const command = (...args: readonly string[]): Promise<Ended> => runCommand(folder.path, args, {});
  let entries: readonly Entry[];
  before(async () => {
    entries = JSON.parse((await command('completion', 'bash', '--json')).stdout);
  });
  after(() => folder.remove());
  const leaves = (): readonly Entry[] => entries.filter(({ words, subcommands }) => words.length > 0 && subcommands.length === 0);

  it('help ends quietly with whoever reads it, of serve too', async () => {
    for (const name of ['serve', 'client']) {
      const program = spawn(join(import.meta.dirname, '..', '..', 'bin', 'gatehouse'), [name, '--help'], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      program.stdout.destroy();
      let said = '';
      program.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
      const [code] = (await once(program, 'close')) as [number];
      assert.deepEqual([name, code, said], [name, 0, '']);
    }
  });

  it('design 02 names them all', () => {
    const names = entries.map(({ words }) => words.join(' '));
    const wanted =
      'serve,migrate,tenant create,tenant list,tenant disable,client create,client list,client rotate-secret,user create,user suspend,user list,' +
      'key rotate,admin invite,admin list,admin recover,admin roles,export,import,apply,plan,backup,restore,explain,doctor,phone enrol,phone list,phone approve,' +
      'phone deny,phone rotate,contract,config check,completion';
    assert.deepEqual(
      wanted.split(',').filter((name) => !names.includes(name)),
      [],
    );
  });

  it('--help of every command: usage, what it does, an example; exit 0. An unknown flag: exit 2, on standard error', async () => {
    assert.ok(leaves().length > 30);
    const wrong = ({ words }: Entry): readonly string[] => [...words, ...(required[words.join(' ')] ?? []), '--no-such-flag'];
    const helps = runMany(leaves().map(({ words }) => [...words, '--help']));
    const refusals = runMany(leaves().map(wrong));
    for (const [at, { words, flags }] of leaves().entries()) {
      const help = helps[at]!;
      assert.deepEqual([help.code, help.stderr], [0, ''], words.join(' '));
      assert.match(help.stdout, new RegExp(`^Usage: gatehouse ${words.join(' ')}`));
      assert.match(help.stdout, new RegExp(`\\nExamples?:\\n  (.*)gatehouse ${words.join(' ')}`), words.join(' '));
      if (words[0] !== 'serve')
        assert.ok(
          flags.some(({ flag }) => flag === '--json'),
          `${words.join(' ')} has --json`,
        );
      const refused = refusals[at]!;
      assert.deepEqual([refused.code, refused.stdout], [2, ''], words.join(' '));
      assert.match(refused.stderr, /unknown option '--no-such-flag'/, words.join(' '));
    }
  });

  it('--version is the release', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    assert.deepEqual(await command('--version').then(({ code, stdout, stderr }) => ({ code, stdout, stderr })), {
      code: 0,
      stdout: `${version}\n`,
      stderr: '',
    });
  });

  it("help shows what is the command's own first, and the server's settings whole under serve only", async () => {
    const { stdout } = await command('client', 'create', '--help');
    assert.ok(stdout.indexOf('--redirect-uri') < stdout.indexOf('--data'));
    assert.ok(!stdout.includes('--smtp-url') && stdout.includes('gatehouse serve --help'));
    assert.ok((await command('serve', '--help')).stdout.includes('--smtp-url'));
  });

  it('a failure with --json is JSON on standard error: what was expected, found, and what to type', async () => {
    const failed = await command('user', 'suspend', 'nobody@example.com', '--json');
    assert.deepEqual([failed.code, failed.stdout], [1, '']);
    assert.deepEqual(JSON.parse(failed.stderr), {
      error: '--tenant: expected a tenant, found none in this database. Start the server once: gatehouse serve',
      expected: 'a tenant',
      found: 'none in this database',
      try: 'Start the server once: gatehouse serve',
    });
    const plain = await command('user', 'suspend', 'nobody@example.com');
    assert.match(plain.stderr, /^gatehouse: --tenant: expected a tenant/m);
  });

  for (const [said, ...words] of [
    [/^missing required argument 'user'$/, 'user', 'suspend'],
    [/^unknown option '--nope'/, 'user', 'list', '--nope'],
    [/^required option '--reason <text>' not specified$/, 'user', 'recover', 'ada'],
    [/^unknown command 'suspnd'/, 'user', 'suspnd'],
    [/Allowed choices are/, 'key', 'rotate', '--use', 'none'],
  ] as const)
    it(`a wrong call with --json is JSON too: ${words.join(' ')}`, async () => {
      const failed = await command(...words, '--json');
      assert.deepEqual([failed.code, failed.stdout], [2, '']);
      assert.match((JSON.parse(failed.stderr) as { readonly error: string }).error, said);
    });

  for (const shell of ['bash', 'zsh', 'fish'] as const)
    it(`completion ${shell} has every command and every flag`, async () => {
      const { stdout, code } = await command('completion', shell);
      assert.equal(code, 0);
      for (const { words, flags } of entries) {
        for (const word of words) assert.ok(stdout.includes(word), word);
        for (const { flag } of flags) assert.ok(stdout.includes(shell === 'fish' ? flag.replace(/^-+/, '') : flag), flag);
      }
      if (shell === 'fish') return;
      const checked = spawnSync('bash', ['-n'], { input: stdout });
      assert.equal(checked.status, 0, checked.stderr.toString());
    });

  /** What a shell offers for a line typed so far, as bash and fish tell a program; fish where it is installed. */
  const shells: readonly (readonly [
    shell: 'bash' | 'fish',
    offered: (completion: string, words: readonly string[]) => readonly string[],
  ])[] = [
    [
      'bash',
      (completion, words) => {
        const line = words.map((word) => `'${word}'`).join(' ');
        const script = `${completion}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _gatehouse; printf '%s\\n' "\${COMPREPLY[@]}"`;
        return spawnSync('bash', ['-c', script], { cwd: folder.path }).stdout.toString().trim().split('\n');
      },
    ],
    [
      'fish',
      (completion, words) => {
        const script = `${completion}\ncomplete -C '${words.join(' ')}'`;
        const { stdout } = spawnSync('fish', ['--no-config', '-c', script], {
          cwd: folder.path,
          env: { ...process.env, HOME: folder.path },
        });
        return stdout
          .toString()
          .trim()
          .split('\n')
          .map((line) => line.split('\t')[0]!);
      },
    ],
  ];
  for (const [shell, offeredBy] of shells) {
    if (findJudge(shell) === undefined) continue;

    it(`${shell} offers subcommands, flags of the right command, values where they are few, and files behind flags that take one`, async () => {
      const { stdout } = await command('completion', shell);
      const offered = (...words: readonly string[]): readonly string[] => offeredBy(stdout, ['gatehouse', ...words]).toSorted();
      assert.deepEqual(offered('ten'), ['tenant']);
      assert.deepEqual(offered('tenant', 'cre'), ['create']);
      assert.ok(!offered('tenant', 'list', '').includes('create'));
      assert.deepEqual(offered('apply', '--pr'), ['--progress', '--prune']);
      assert.deepEqual(offered('user', 'list', '--prune'), ['']);
      assert.deepEqual(offered('client', 'create', 'Portal', '--type', ''), ['confidential', 'public']);
      assert.deepEqual(offered('client', 'create', 'Portal', '--grant-type', 'ref'), ['refresh_token']);
      assert.deepEqual(offered('completion', 'f'), ['fish']);
      assert.deepEqual(offered('apply', '--file', '/etc/hostn'), ['/etc/hostname']);
      assert.deepEqual(offered('serve', '--log-level', 's'), ['silent']);
      assert.deepEqual(offered('serve', '--push-fcm', '/etc/hostn'), ['/etc/hostname']);
      assert.deepEqual(offered('serve', '--listen', '/etc/hostn'), ['']);
      assert.deepEqual(offered('events', '--since', ''), ['1h', '30m', '7d']);
      assert.deepEqual(offered('admin', 'invite', '--role', 's'), ['support']);
    });

    it(`${shell} offers the tenants of the database that the line names`, async () => {
      const { stdout } = await command('completion', shell);
      const bin = join(import.meta.dirname, '..', '..', 'bin', 'gatehouse');
      const data = join(folder.path, `with-tenants-of-${shell}`);
      const made = spawnSync(bin, ['tenant', 'create', 'acme', '--data', data, '--dev', '1']);
      const offered = (at: string): readonly string[] => offeredBy(stdout, [bin, 'user', 'list', '--data', at, '--tenant', 'a']);
      assert.deepEqual(offered(data), ['acme'], made.stderr.toString());
      // Whoever presses Tab has asked for nothing: no database is made, and none brought to another release.
      const nowhere = join(folder.path, `nothing-of-${shell}`);
      assert.equal(offered(nowhere).includes('acme'), false);
      assert.equal(existsSync(nowhere), false);
      const database = new DatabaseSync(join(data, 'gatehouse.db'));
      database.exec('DELETE FROM schema_steps WHERE number = (SELECT max(number) FROM schema_steps)');
      const steps = (): unknown => database.prepare('SELECT count(*) AS n FROM schema_steps').get();
      const before = steps();
      assert.equal(offered(data).includes('acme'), false);
      assert.deepEqual(steps(), before);
      database.close();
    });
  }

  it('an unknown command and an unknown shell: exit 2', async () => {
    assert.equal((await command('fly')).code, 2);
    const { code, stderr } = await command('completion', 'csh');
    assert.equal(code, 2);
    assert.match(stderr, /Allowed choices are bash, zsh, fish/);
  });
});

interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs command lines one after another in one process, because seventy processes take a minute. */
function runMany(lines: readonly (readonly string[])[]): readonly Output[] {
  const script = `
    import { run } from ${JSON.stringify(new URL('../../src/cli/run.ts', import.meta.url).href)};
    const real = process.stdout.write.bind(process.stdout);
    const outputs = [];
    for (const argv of ${JSON.stringify(lines)}) {
      const output = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr']) process[name].write = (text) => { output[name] += text; return true; };
      outputs.push({ code: await run(argv), ...output });
    }
    real(JSON.stringify(outputs));`;
  const ended = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]);
  assert.equal(ended.status, 0, ended.stderr.toString());
  return JSON.parse(ended.stdout.toString());
}
