// The documents of the repository and their code blocks, for the tests that run, check and link them.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

export const documents: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'sdk/README.md',
  'sdk-kotlin/README.md',
  ...globSync('docs/**/*.md', { cwd: root }).sort(),
];

export interface Block {
  readonly document: string;
  /** The word behind the fence; empty when there is none. */
  readonly language: string;
  readonly text: string;
}

export const readDocument = (document: string): string => readFileSync(join(root, document), 'utf8');

/** Every fenced block of a document, in order. */
export function blocksOf(document: string): readonly Block[] {
  return [...readDocument(document).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
    document,
    language: language!,
    text: text!,
  }));
}

/** The block of a document whose first line names the file, e.g. `// server.ts`. @throws when there is none */
export function fileBlockOf(document: string, name: string): string {
  const found = blocksOf(document).find(({ text }) =>
    [`// ${name}\n`, `# ${name}\n`, `<!-- ${name} -->\n`].some((line) => text.startsWith(line)),
  );
  if (found === undefined) throw new Error(`expected a block in ${document} that starts with the name ${name}`);
  return found.text;
}
