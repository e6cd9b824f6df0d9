// Breaks the paragraphs of CHANGELOG.md into short lines; test/docs/changelog.test.ts holds the file to them. What stands between backticks
// or is a link stays on one line.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Characters of a line, unless one word is longer. */
export const changelogLineMax = 120;

/** The words of a paragraph; code and links are one each. */
const wordsOf = (text: string): readonly string[] => text.match(/(?:`[^`]*`|\[[^\]]*\]\([^)]*\)|[^\s`[]|\[)+/g) ?? [];

function wrapped(text: string): string {
  const indent = text.startsWith('- ') ? '  ' : '';
  const lines: string[] = [];
  let line = '';
  for (const word of wordsOf(text)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && longer.length > changelogLineMax) {
      lines.push(line);
      line = indent + word;
    } else line = longer;
  }
  return [...lines, line].join('\n');
}

/** The text with every paragraph and entry in short lines; headings and blank lines stay. */
export function wrapChangelog(text: string): string {
  const paragraphs: string[] = [];
  for (const line of text.split('\n')) {
    const isContinued = /^\S/.test(line) ? !/^(?:#|- )/.test(line) && /^[^#]/.test(paragraphs.at(-1) ?? '') : line.trim() !== '';
    if (isContinued && paragraphs.at(-1) !== '') paragraphs.push(`${paragraphs.pop() ?? ''} ${line.trim()}`);
    else paragraphs.push(line);
  }
  return paragraphs.map((one) => (one.startsWith('#') ? one : wrapped(one))).join('\n');
}

if (import.meta.main) {
  const file = join(import.meta.dirname, '..', 'CHANGELOG.md');
  writeFileSync(file, wrapChangelog(readFileSync(file, 'utf8')));
}
