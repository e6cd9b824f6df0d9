// Writes groups as pieces of JSON, members a page at a time, so that a group of any size needs little memory.
import type { MemberRow } from '../storage/people/groups.ts';
import { listMembers } from '../storage/people/groups.ts';
import { type Document, emptyElement } from './document.ts';
import { type Projection, wants } from './list/projection.ts';
import { renderElement, renderResource } from './render.ts';
import type { ScimContext } from './request-context.ts';
import { groupIndex, loadPlural } from './schema/schema-lookup.ts';

const membersPerRead = 2000;
const members = loadPlural(groupIndex, 'members');

/** The JSON text of a group in pieces that together are one object. */
export async function* groupPieces(context: ScimContext, document: Document, projection: Projection): AsyncGenerator<string> {
  const { base } = context;
  const head = JSON.stringify(renderResource(groupIndex, document, base, projection));
  if (!wants(projection, members.key, members.attribute)) {
    yield head;
    return;
  }
  const id = String(document['id']);
  let after = '';
  let opening = `${head.slice(0, -1)},"members":[`;
  for (;;) {
    const page = await readMembers(context, id, after);
    if (page.length > 0) {
      yield opening + page.map((row) => JSON.stringify(memberJson(row, base, projection))).join(',');
      opening = ',';
      after = page.at(-1)!.user_id;
    }
    if (page.length < membersPerRead) break;
  }
  yield after === '' ? head : ']}';
}

function readMembers(context: ScimContext, group: string, after: string): Promise<readonly MemberRow[]> {
  const { services, tenant, directory } = context;
  return services.database.read(tenant.id, (queries) => listMembers(queries, directory, group, { after, limit: membersPerRead }));
}

function memberJson(row: MemberRow, base: string, projection: Projection): unknown {
  const element = emptyElement();
  element['value'] = row.user_id;
  element['display'] = row.display ?? undefined;
  element['type'] = 'User';
  return renderElement(members, element, base, projection);
}
