// A Python service provider (lasso or pysaml2) as a child process that is asked one JSON line at a time.
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export type Json = Readonly<Record<string, unknown>>;

export interface PythonJudge {
  readonly ask: (command: Json) => Promise<Json>;
  readonly close: () => Promise<void>;
}

// Debian's own interpreter: its packages are what apt installs, whatever other Python the path finds first.
const python = '/usr/bin/python3';

/** True when Debian's Python has the module; throws when GATEHOUSE_TEST_REQUIRE names the package and it has not. */
export function hasPythonModule(module: string, packageName: string): boolean {
  const found = spawnSync(python, ['-c', `import ${module}`]).status === 0;
  const required = (process.env['GATEHOUSE_TEST_REQUIRE'] ?? '').split(/[\s,]+/);
  if (!found && required.includes(packageName)) throw new Error(`GATEHOUSE_TEST_REQUIRE names ${packageName}: not found`);
  return found;
}

/** Starts `test/interop/judges/<script>`; close() ends it. */
export function startPythonJudge(script: string, args: readonly string[]): PythonJudge {
  const path = fileURLToPath(new URL(`../interop/judges/${script}`, import.meta.url));
  const child: ChildProcessWithoutNullStreams = spawn(python, [path, ...args], { env: { ...process.env, PYTHONIOENCODING: 'utf-8' } });
  const complaints: string[] = [];
  child.stderr.on('data', (chunk) => complaints.push(String(chunk)));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    ask: async (command) => {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      const { value, done } = await lines.next();
      assert.ok(done !== true, `${script} ended: ${complaints.join('')}`);
      return JSON.parse(value);
    },
    close: async () => {
      child.stdin.end();
      if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}
