// A new MCP server: its name, its address and perhaps its scopes; the rest follows. It becomes a resource that is open to programs nobody
// registered (design 18), and its own page says how it is used (mcp-server-page.ts).
import type { FastifyReply } from 'fastify';
import { reject } from '../../contract/contract-error.ts';
import { scopeNameCharsMax } from '../../contract/limits.ts';
import type { Scope } from '../../domain/client/resource.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField } from '../../first-party/app-page.ts';
import { type FormField, readFields, renderFields } from '../../first-party/form-field.ts';
import { html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { finish, frameOf, manage, type Refused, refusedBy, refusedField, showPage, type Visit } from '../console-visit.ts';
import { mayChange } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { isServerAddress } from './mcp-server-page.ts';

const path = '/resources/mcp-server';

/** What a server has that names no scopes. */
const plainScope: Scope = { name: 'tools', description: 'Use its tools as you', is_default: true };

const scopeName = new RegExp(`^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,${scopeNameCharsMax}}$`);

/** The name of a scope, and what it allows. */
const partsOf = (line: string): readonly [name: string, description: string] => {
  const [, name = '', description = ''] = /^(\S*)\s*(.*)$/s.exec(line)!; // whatever the line is
  return [name, description];
};

export const isScopeLineWrong = (line: string): boolean => !scopeName.test(partsOf(line)[0]);

const addressText = 'must be an address that begins with https:// or http://, without user, query and fragment';

const fields: readonly FormField[] = [
  { path: 'name', label: 'Name', kind: 'text', required: true, hint: 'Shown to people when an agent wants to use it as them.' },
  {
    path: 'identifier',
    label: 'Address',
    kind: 'text',
    required: true,
    hint: 'As agents type it: https://tools.example.com/mcp, or http://127.0.0.1:3333/mcp to try it. It cannot be changed later.',
  },
  {
    path: 'scopes',
    label: 'Scopes',
    kind: 'lines',
    hint: `What agents may ask for, one a line, and what people read of it: notes:read Read your notes. A program that names none gets the first. Empty: ${plainScope.name}.`,
    isLineWrong: isScopeLineWrong,
  },
];
const addressField = fields[1]!;

export const mcpServerPage = (visit: Visit, typed?: Typed, refused?: Refused): FastifyReply => {
  if (!mayChange(visit, '/resources')) throw lacking(visit);
  const at = (to: string): string => consolePath(visit.request.tenant, to);
  return showPage(
    visit,
    'New MCP server',
    html`<p class="muted">A server of the Model Context Protocol. Programs that nobody registered here may ask people for tokens for it, and for nothing else. <a href="${at('/resources/new')}">Another API</a></p><form class="card" method="post" action="${at(path)}">${csrfField(frameOf(visit))}
${renderFields(fields, {}, typed, refused?.fault)}<div class="bar end"><button id="save">Create</button> <a class="button quiet" href="${at('/resources')}">Cancel</a></div></form>`,
    refused?.notice,
  );
};

export async function createMcpServer(visit: Visit, typed: Typed): Promise<FastifyReply> {
  if (!mayChange(visit, '/resources')) throw lacking(visit);
  const read = readFields(fields, typed);
  if (!read.ok) return mcpServerPage(visit, typed, refusedField(read.fault));
  const { name, identifier, scopes } = read.json;
  if (!isServerAddress(text(identifier))) return mcpServerPage(visit, typed, refusedField({ field: addressField, text: addressText }));
  const open = { clients: 'any', refresh: true, scopes: scopesOf((scopes ?? []) as readonly string[]) }; // a field of lines
  const answer = await manage(visit, 'POST', '/resources', { name: name ?? '', identifier, ...open });
  if (answer.status !== 201) return mcpServerPage(visit, typed, refusedBy(answer, fields, typed));
  return finish(visit, `/resources/${text(answer.body['id'])}/start`, `${text(answer.body['name'])} is registered.`);
}

const scopesOf = (lines: readonly string[]): readonly Scope[] =>
  lines.length === 0
    ? [plainScope]
    : lines.map(partsOf).map(([name, description], at) => ({
        name,
        ...(description !== '' && { description }),
        ...(at === 0 && { is_default: true }),
      }));

const lacking = ({ allowed }: Visit): Error =>
  reject(
    'management.forbidden',
    { reason: 'missing_capability', expected: 'resources:write', received: [...allowed].join(' ') },
    { text: 'Only administrators who may change APIs register them.' },
  );
