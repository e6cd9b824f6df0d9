// Writes a tenant as a document, piece by piece. Reads a page at a time beside a running server: what changes meanwhile is in
// it as it was when its page was read.
import { stringify } from 'yaml';
import { documentVersion, type Json, type Kind, type Session, type Stored } from './document.ts';
import { kinds } from './kinds/kinds.ts';

interface ExportOptions {
  readonly withSecrets: boolean;
  readonly asJson: boolean;
  /** Told of every item written. */
  readonly onItem?: (section: string) => void;
}

/** The text of the document in pieces. */
export async function* exportDocument(session: Session, options: ExportOptions): AsyncGenerator<string> {
  const { slug } = session.tenant;
  yield options.asJson
    ? `{"gatehouse":${documentVersion},"tenant":${JSON.stringify(slug)}`
    : stringify({ gatehouse: documentVersion, tenant: slug });
  for (const kind of kinds) yield* exportSection(kind, session, options);
  yield options.asJson ? '}\n' : '';
}

async function* exportSection(kind: Kind, session: Session, options: ExportOptions): AsyncGenerator<string> {
  const { asJson, withSecrets, onItem } = options;
  let written = 0;
  for await (const page of pagesOf(kind, session)) {
    let text = '';
    for (const stored of page) {
      const item = stored.isUndeclared === true ? undefined : kind.write(session, stored, withSecrets);
      if (item === undefined) continue;
      text += asJson ? jsonItem(kind, item, written) : yamlItem(kind, item, written);
      written += 1;
      onItem?.(kind.section);
    }
    if (text !== '') yield text;
  }
  if (asJson && written > 0 && kind.single !== true) yield ']';
}

const jsonItem = (kind: Kind, item: Json, before: number): string =>
  kind.single === true
    ? `,\n"${kind.section}":${JSON.stringify(item)}`
    : `${before === 0 ? `,\n"${kind.section}":[` : ','}\n${JSON.stringify(item)}`;

function yamlItem(kind: Kind, item: Json, before: number): string {
  if (kind.single === true) return `\n${stringify({ [kind.section]: item }, yamlStyle)}`;
  const text = stringify([item], yamlStyle).replace(/^(?=.)/gm, '  ');
  return `${before === 0 ? `\n${kind.section}:\n` : ''}${text}`;
}

/** No folded lines and no aliases: what a person edits is what is there. */
const yamlStyle = { lineWidth: 0, aliasDuplicateObjects: false } as const;

/** What is stored of a kind, a page at a time, in id order. */
export async function* pagesOf(kind: Kind, session: Session): AsyncGenerator<readonly Stored[]> {
  const { database } = session.administration;
  for (let after = ''; ; ) {
    const page = await database.read(session.tenant.id, (queries) => kind.page(queries, session, after));
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.id;
  }
}
