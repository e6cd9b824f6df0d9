// Calls of the system API of a group, with the operator token that all groups share. Tenants travel this way and the token opens
// everything, so plain http goes to private addresses alone.
import { lookup } from 'node:dns/promises';
import type { Command } from 'commander';
import type { Config } from '../../config.ts';
import { isPublicAddress } from '../../platform/net/address-ranges.ts';
import { CommandFailure, usage } from '../failure.ts';
import type { Options } from '../registry/administrator.ts';

export interface Group {
  readonly name: string;
  readonly url: string;
}

export interface Answer {
  readonly status: number;
  /** Undefined where the answer is no JSON. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

export interface CallBody {
  readonly type: 'application/json' | 'application/octet-stream';
  readonly bytes: string | Uint8Array<ArrayBuffer>;
}

export interface GroupCaller {
  readonly group: Group;
  /** Any status is an answer. @throws GroupUnanswered where none came, or the signal said to wait no more */
  readonly call: (method: string, path: string, body?: CallBody, signal?: AbortSignal) => Promise<Answer>;
}

/** No answer came: what was asked for may have happened. */
export class GroupUnanswered extends CommandFailure {}

const callMsMax = 60_000;
const groupsMax = 10_000;
/** A name that is one in the configuration of every router. */
const namePattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** JSON as a body. */
export const jsonBody = (value: unknown): CallBody => ({ type: 'application/json', bytes: JSON.stringify(value) });

/** A flag that is given more than once. */
export const addGroupOption = (command: Command, about: string): Command =>
  command.option('--group <name=url>', about, (given: string, before: readonly string[] = []) => [...before, given]);

/** The groups that flags name, in their order. @throws CommandFailure */
export function readGroups(options: Options): readonly Group[] {
  const texts = (options['group'] ?? []) as readonly string[]; // gathered by the option
  const groups = texts.map((text) => {
    const at = text.indexOf('=');
    const name = text.slice(0, Math.max(at, 0));
    if (!namePattern.test(name))
      throw usage(`--group: expected a name of a-z, 0-9 and hyphens and a URL such as group-1=http://10.0.1.10:8080, found ${text}`);
    return { name, url: originOf('--group', text.slice(at + 1)) };
  });
  if (groups.length > groupsMax) throw usage(`--group: expected at most ${groupsMax} of them, found ${groups.length}`);
  const twice = groups.find(({ name }, index) => groups.findIndex((other) => other.name === name) < index);
  if (twice !== undefined) throw usage(`--group: expected each name once, found ${twice.name} twice`);
  return groups;
}

/** An address of a group as its origin. @throws CommandFailure */
export function originOf(flag: string, text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    throw usage(`${flag}: expected the address of a group such as https://group-2.internal:8080, found ${text}`);
  return url.origin;
}

/** @throws CommandFailure where no operator token is configured, or it would travel openly */
export async function openGroupCaller({ operatorToken }: Pick<Config, 'operatorToken'>, group: Group): Promise<GroupCaller> {
  if (operatorToken === undefined) throw usage('GATEHOUSE_OPERATOR_TOKEN: expected the operator token that all groups share, found none');
  await requirePrivateWay(group);
  return {
    group,
    call: async (method, path, body, stop) => {
      const headers = { authorization: `Bearer ${operatorToken}`, ...(body === undefined ? {} : { 'content-type': body.type }) };
      const signal = AbortSignal.any([AbortSignal.timeout(callMsMax), ...(stop === undefined ? [] : [stop])]);
      const given = body === undefined ? {} : { body: body.bytes };
      try {
        const answer = await fetch(`${group.url}/v1/system${path}`, { method, headers, redirect: 'manual', signal, ...given });
        return { status: answer.status, json: parsed(await answer.text()) };
      } catch (error) {
        throw new GroupUnanswered(
          `expected an answer of ${group.url}, found none: ${reasonOf(error)}. See: curl ${group.url}/health/ready`,
        );
      }
    },
  };
}

/** The JSON of an answer that must be a success. @throws CommandFailure */
export function loaded({ group }: Pick<GroupCaller, 'group'>, what: string, { status, json }: Answer): Readonly<Record<string, unknown>> {
  if (status < 300 && json !== undefined) return json;
  if (status === 401)
    throw new CommandFailure(
      `${group.url}: expected the operator token of this group, found another one. Give all groups the same GATEHOUSE_OPERATOR_TOKEN`,
    );
  if (status === 404 && json?.['error'] === undefined)
    throw new CommandFailure(`${group.url}: expected a Gatehouse of this release, found another answer. Name the address of a group`);
  throw new CommandFailure(`${group.url}: expected to ${what}, found ${status} ${textOf(json)}`);
}

const textOf = (json: Answer['json']): string =>
  String(json?.['error_description'] ?? json?.['message'] ?? json?.['error'] ?? 'and no reason');

async function requirePrivateWay({ url }: Group): Promise<void> {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:') return;
  const found = await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true }).catch((error: Error) => {
    throw new CommandFailure(`${url}: expected a host with an address, found none: ${error.message}`);
  });
  if (found.some(({ address }) => isPublicAddress(address)))
    throw usage(`${url}: expected https, because the operator token opens every tenant, found http to a public address`);
}

function parsed(text: string): Answer['json'] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Answer['json']) : undefined; // whatever it holds, it is an object
  } catch {
    return undefined;
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : String(error);
