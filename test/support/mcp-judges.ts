// Clients of the Model Context Protocol as their libraries make them, started by a test: the official SDK for TypeScript in current and old
// versions, the one for Python, and fastmcp.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './documents.ts';
import { findJudge } from './judge-binaries.ts';
import type { Json } from './management.ts';
import type { Tokens } from './oidc.ts';

export type How = 'document' | 'registration' | 'registered';
export interface McpJudge {
  readonly name: string;
  /** Its program, and what it is given before the server's address; undefined: not installed. */
  readonly command: readonly [string, ...string[]] | undefined;
  readonly ways: readonly How[];
  /** Where it lets people come back to: a port it listens at, or undefined, and the test hands it the answer. */
  readonly listens?: string;
}

const sdk = findJudge('mcp-client');
const python = findJudge('python3-agents');
const program = join(root, 'test', 'interop', 'judges', 'mcp-client.py');
const ofSdk = (version: string, ways: readonly How[]): McpJudge => ({
  name: `SDK ${version}`,
  command: sdk === undefined ? undefined : [sdk, version],
  ways,
});
const ofPython = (name: string): McpJudge => ({
  name: `PyPI ${name}`,
  command: python === undefined ? undefined : [python, program, name],
  ways: ['document', 'registration', 'registered'],
  ...(name === 'fastmcp' && { listens: 'http://localhost:7777/callback' }),
});
export const mcpJudges: readonly McpJudge[] = [
  ofSdk('2.4', ['document', 'registration', 'registered']),
  ofSdk('1.32', ['document', 'registration', 'registered']),
  ofSdk('1.29', ['document', 'registration', 'registered']),
  ofSdk('1.25', ['document', 'registration', 'registered']),
  ofSdk('1.20', ['registration', 'registered']), // it does not know documents
  ofPython('mcp'),
  ofPython('fastmcp'),
];

interface Said {
  readonly authorize?: string;
  readonly called?: readonly Json[];
  readonly client_id?: string;
  readonly tokens?: Tokens;
  readonly failed?: string;
}

export interface RunningJudge {
  /** Its next line: where a person shall go, or what the tool answered. */
  readonly next: () => Promise<Said>;
  readonly write: (line: string) => void;
  readonly stop: () => void;
}

/** Starts one at a server, as nobody or as that client. */
export function startMcpJudge({ command }: McpJudge, server: string, client?: readonly [how: How, id: string]): RunningJudge {
  const [file, ...given] = command!;
  const child = spawn(file, [...given, server, ...(client ?? [])], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    next: async () => {
      const line = String((await lines.next()).value);
      const said = line.startsWith('http') ? { authorize: line } : (JSON.parse(line) as Said);
      assert.equal(said.failed, undefined);
      return said;
    },
    write: (line) => void child.stdin.write(`${line}\n`),
    stop: () => void child.kill(),
  };
}
