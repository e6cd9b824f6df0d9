// Reads a document item by item from its lines, so that a hundred thousand users never are in memory together. An item is
// cut out by its indentation and parsed by itself; its lines are counted in the whole document. Values are checked elsewhere.
import { LineCounter, parseDocument } from 'yaml';
import { declaredItemCharsMax } from '../../contract/limits.ts';
import { DeclarationFault, type Declared, documentVersion, type Path, type Section, sections } from './document.ts';

const header = ['gatehouse', 'tenant'] as const;
/** Sections that are one object. */
const singles: ReadonlySet<string> = new Set(['settings', 'texts', 'mails', 'mappings']);
export const isSingle = (section: Section): boolean => singles.has(section);

interface Block {
  readonly name: string;
  readonly at: number;
  /** Where its section starts. */
  readonly sectionAt: number;
  /** Undefined: the whole section. */
  readonly index: number | undefined;
  readonly lines: string[];
}

/** The items of a document in their order. @throws DeclarationFault */
export async function* readDeclarations(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<Declared> {
  const order = createOrder();
  for await (const block of readBlocks(lines)) {
    if (block.name === '') yield* readWhole(block, order);
    else yield* readBlock(block, order);
  }
  order.end();
}

/** The items of a document that was parsed already, in the order of their sections. @throws DeclarationFault */
export function* declarationsIn(document: Readonly<Record<string, unknown>>): Generator<Declared> {
  const order = createOrder();
  const placeOf = (name: string): number => sections.indexOf(name as Section);
  const nowhere = (): undefined => undefined;
  for (const name of Object.keys(document).toSorted((one, other) => placeOf(one) - placeOf(other))) {
    if ((header as readonly string[]).includes(name)) order.header(name, document[name], undefined);
    else yield* itemsOf(order.enter(name, undefined), document[name], nowhere);
  }
  order.end();
}

/** Checks that every section stands once, after those before it, and below the version. */
function createOrder() {
  let last = -1;
  let version: unknown;
  return {
    enter: (name: string, line: number | undefined): Section => {
      const at = sections.indexOf(name as Section);
      if (at < 0) throw new DeclarationFault({ path: name, expected: `one of ${[...header, ...sections].join(', ')}`, found: name, line });
      if (version === undefined)
        throw new DeclarationFault({ path: name, expected: `gatehouse: ${documentVersion} first`, found: name, line });
      if (at <= last)
        throw new DeclarationFault({ path: name, expected: `sections in the order ${sections.join(', ')}, each once`, found: name, line });
      last = at;
      return sections[at]!;
    },
    header: (name: string, value: unknown, line: number | undefined): void => {
      if (name !== 'gatehouse') return;
      if (value !== documentVersion)
        throw new DeclarationFault({ path: 'gatehouse', expected: `${documentVersion}, the version of the format`, found: value, line });
      version = value;
    },
    end: (): void => {
      if (version === undefined)
        throw new DeclarationFault({
          path: 'gatehouse',
          expected: `${documentVersion}, the version of the format`,
          found: undefined,
          line: 1,
        });
    },
  };
}
type Order = ReturnType<typeof createOrder>;

function* readBlock(block: Block, order: Order): Generator<Declared> {
  const { name, at, index } = block;
  const isHeader = (header as readonly string[]).includes(name);
  let section: Section | undefined;
  if (!isHeader && (index ?? 0) === 0) order.enter(name, block.sectionAt);
  if (!isHeader) section = name as Section; // order.enter knows it
  const { value, lineOf } = parse(block);
  if (index === undefined) {
    const inner = (value as Readonly<Record<string, unknown>> | null)?.[name];
    const within = (path: Path): number | undefined => lineOf([name, ...path]);
    if (section === undefined) order.header(name, inner, at);
    else yield* itemsOf(section, inner, within);
    return;
  }
  const items = value as readonly unknown[]; // the block starts with a dash
  yield { section: section!, path: `${name}[${index}]`, value: items[0], lineOf: (path) => lineOf([0, ...path]) };
}

function* itemsOf(section: Section, value: unknown, lineOf: (path: Path) => number | undefined): Generator<Declared> {
  if (value === null || value === undefined) return;
  if (singles.has(section)) {
    yield { section, path: section, value, lineOf };
    return;
  }
  if (!Array.isArray(value)) throw new DeclarationFault({ path: section, expected: 'a list', found: value, line: lineOf([]) });
  for (const [index, item] of value.entries())
    yield { section, path: `${section}[${index}]`, value: item, lineOf: (path) => lineOf([index, ...path]) };
}

/** A document in braces (JSON): parsed as one. */
function* readWhole(block: Block, order: Order): Generator<Declared> {
  const { value, lineOf } = parse(block);
  for (const [name, member] of Object.entries(value as Readonly<Record<string, unknown>>)) {
    const within = (path: Path): number | undefined => lineOf([name, ...path]);
    if ((header as readonly string[]).includes(name)) order.header(name, member, within([]));
    else yield* itemsOf(order.enter(name, within([])), member, within);
  }
}

function parse({ name, at, index, lines }: Block): { readonly value: unknown; readonly lineOf: (path: Path) => number | undefined } {
  const counter = new LineCounter();
  const document = parseDocument(lines.join('\n'), { lineCounter: counter, prettyErrors: false, version: '1.2' });
  const [error] = document.errors;
  const lineAt = (offset: number): number => at + counter.linePos(offset).line - 1;
  const path = index === undefined ? name || 'document' : `${name}[${index}]`;
  if (error !== undefined)
    throw new DeclarationFault({ path, expected: 'YAML', found: error.message.split('\n')[0], line: lineAt(error.pos[0]) });
  const lineOf = (wanted: Path): number | undefined => {
    for (let length = wanted.length; length >= 0; length -= 1) {
      const node = document.getIn(wanted.slice(0, length), true);
      const range = (node as { range?: readonly number[] } | null | undefined)?.range; // scalars and collections have one
      if (range?.[0] !== undefined) return lineAt(range[0]);
    }
    return at;
  };
  try {
    return { value: document.toJS({ maxAliasCount: 100 }), lineOf };
  } catch (failure) {
    throw new DeclarationFault({ path, expected: 'YAML', found: failure instanceof Error ? failure.message : String(failure), line: at });
  }
}

const isIgnorable = (line: string): boolean => /^\s*(#.*)?$/.test(line);
const indentOf = (line: string): number => line.length - line.trimStart().length;

/** Cuts lines into header lines, whole sections and items of lists. */
async function* readBlocks(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<Block> {
  let block: Block | undefined;
  let name: string | undefined;
  let listIndent: number | undefined;
  let items = 0;
  let at = 0;
  let chars = 0;
  for await (const line of lines) {
    at += 1;
    if (block?.name === '') {
      block.lines.push(line);
      continue;
    }
    if (isIgnorable(line) || (at === 1 && /^(---|%YAML)/.test(line))) {
      block?.lines.push(line);
      continue;
    }
    if (/^[^\s#-]/.test(line)) {
      if (block !== undefined) yield block;
      if (line.startsWith('{')) {
        block = { name: '', at, sectionAt: at, index: undefined, lines: [line] };
        continue;
      }
      name = /^(["']?)([^"':\s]+)\1\s*:(\s|$)/.exec(line)?.[2];
      if (name === undefined) throw new DeclarationFault({ path: 'document', expected: 'a line such as "users:"', found: line, line: at });
      block = { name, at, sectionAt: at, index: undefined, lines: [line] };
      [listIndent, items, chars] = [undefined, 0, 0];
      continue;
    }
    if (name === undefined || block === undefined)
      throw new DeclarationFault({ path: 'document', expected: `gatehouse: ${documentVersion} first`, found: line, line: at });
    const opensList = block.index === undefined && listIndent === undefined && /^\s*-(\s|$)/.test(line) && isBare(block);
    if (opensList) listIndent = indentOf(line);
    if (listIndent !== undefined && indentOf(line) <= listIndent && /^\s*-(\s|$)/.test(line)) {
      if (block.index !== undefined) yield block;
      block = { name, at, sectionAt: block.sectionAt, index: items, lines: [line] };
      items += 1;
      chars = 0;
      continue;
    }
    chars += line.length;
    if (listIndent !== undefined && chars > declaredItemCharsMax)
      throw new DeclarationFault({
        path: `${name}[${items - 1}]`,
        expected: `at most ${declaredItemCharsMax} characters`,
        found: 'more',
        line: block.at,
      });
    block.lines.push(line);
  }
  if (block !== undefined) yield block;
}

/** True when the section's own line has no value beside the colon. */
const isBare = (block: Block): boolean => /:\s*(#.*)?$/.test(block.lines[0]!) && block.lines.slice(1).every(isIgnorable);
