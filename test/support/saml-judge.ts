// Service providers made of other people's libraries, each behind the same few questions: its metadata, its request, what it
// makes of an answer. They are child processes asked one JSON line at a time.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { certificatePem, type RsaKeys } from './rsa-keys.ts';

export interface JudgeSettings {
  readonly entityId: string;
  readonly acsUrl: string;
  readonly keys: RsaKeys;
  readonly sign: boolean;
  readonly encrypt: boolean;
  /** More of what the judge understands. */
  readonly more?: Readonly<Record<string, string>>;
}

export interface JudgedRequest {
  /** Address of the Redirect binding; empty for POST. */
  readonly location: string;
  /** Fields of the POST binding. */
  readonly fields: Readonly<Record<string, string>>;
  readonly id: string;
}

export interface SamlJudge {
  readonly metadata: () => Promise<string>;
  /** Takes the identity provider's metadata, and nothing else of it. */
  readonly trust: (metadata: string) => Promise<void>;
  readonly request: (binding: 'redirect' | 'post', relayState: string) => Promise<JudgedRequest>;
  /** Rejects when the provider refuses the answer; `requestId` is empty for one nobody asked for. */
  readonly consume: (samlResponse: string, requestId: string) => Promise<JudgedSubject>;
  readonly close: () => Promise<void>;
}

export interface JudgedSubject {
  readonly nameId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

type Json = Readonly<Record<string, unknown>>;

/** Starts a judge; close() ends it. */
export async function startSamlJudge(program: string, args: readonly string[], settings: JudgeSettings): Promise<SamlJudge> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (command: Json): Promise<Json> => {
    child.stdin.write(`${JSON.stringify(command)}\n`);
    const { value, done } = await lines.next();
    assert.ok(done !== true, `${program} ended`);
    const answer = JSON.parse(value) as Json;
    if (answer['error'] !== undefined) throw new Error(String(answer['error']));
    return answer;
  };
  await ask({
    do: 'start',
    entity_id: settings.entityId,
    acs_url: settings.acsUrl,
    private_key: settings.keys.privateKey.export({ type: 'pkcs1', format: 'pem' }),
    certificate: await certificatePem(settings.keys),
    sign: settings.sign,
    encrypt: settings.encrypt,
    ...settings.more,
  });
  return {
    metadata: async () => String((await ask({ do: 'metadata' }))['metadata']),
    trust: async (metadata) => void (await ask({ do: 'trust', metadata })),
    request: async (binding, relayState) => {
      const { location, form, id } = await ask({ do: 'request', binding, relay_state: relayState });
      return { location: String(location), fields: formFields(String(form)), id: String(id) };
    },
    consume: async (response, requestId) => {
      const { name_id, attributes } = await ask({ do: 'consume', response, request_id: requestId });
      return { nameId: String(name_id), attributes: attributes as Json };
    },
    close: async () => {
      child.stdin.end();
      if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}

/** The path of a judge's script. */
export const judgeScript = (name: string): string => fileURLToPath(new URL(`../interop/judges/${name}`, import.meta.url));

function formFields(html: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [tag] of html.matchAll(/<input[^>]*>/g)) {
    const [, name] = /name="([^"]*)"/.exec(tag) ?? [];
    const [, value] = /value="([^"]*)"/.exec(tag) ?? [];
    if (name !== undefined && value !== undefined)
      fields[name] = value.replaceAll('&#43;', '+').replaceAll('&#34;', '"').replaceAll('&amp;', '&');
  }
  return fields;
}
