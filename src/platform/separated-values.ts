// Reads tables as spreadsheets write and copy them: RFC 4180, with commas, semicolons or tabs between the cells. Texts are bounded by whoever
// calls.

export interface SeparatedRecord {
  /** Of its first character, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  /** As it was written. */
  readonly text: string;
}

const separators = [',', ';', '\t'] as const;
type Separator = (typeof separators)[number];

/** What is between the cells of the first line: the one that is there most, outside quotes. */
export function separatorOf(text: string): Separator {
  const first = /^(?:"(?:[^"]|"")*"|[^\r\n])*/.exec(text)?.[0].replaceAll(/"(?:[^"]|"")*"/g, '') ?? '';
  const counts = separators.map((one) => first.split(one).length);
  return separators[counts.indexOf(Math.max(...counts))]!;
}

/** The records, empty lines left out. A quote that never ends takes the rest. */
export function* readSeparated(text: string, separator: Separator): Generator<SeparatedRecord> {
  let line = 1;
  let start = 0;
  while (start < text.length) {
    const { cells, end, next } = readRecord(text, start, separator);
    const written = text.slice(start, end);
    if (cells.some((cell) => cell.trim() !== '')) yield { line, cells, text: written };
    line += text.slice(start, next).split('\n').length - 1;
    start = next;
  }
}

function readRecord(text: string, start: number, separator: Separator) {
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  let at = start;
  for (; at < text.length; at += 1) {
    const character = text[at]!;
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (character === '"' && cell.trim() === '') {
      cell = '';
      isQuoted = true;
    } else if (character === separator) {
      cells.push(cell);
      cell = '';
    } else if (character === '\n' || character === '\r') break;
    else cell += character;
  }
  cells.push(cell);
  const isPair = text[at] === '\r' && text[at + 1] === '\n';
  return { cells: cells.map((one) => one.trim()), end: at, next: at + (isPair ? 2 : 1) };
}
