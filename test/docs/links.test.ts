// No link of any document is dead: the file is there, and the heading it points to, by the anchors GitHub and /docs make.
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { it } from 'node:test';
import { anchorOf, renderDocument } from '../../src/docs-site/markdown.ts';
import { documents, readDocument, root } from '../support/documents.ts';

const parsed = new Map(documents.map((document) => [document, renderDocument(readDocument(document), () => undefined)]));

it('every relative link and picture leads to a file of the repository, every anchor to a heading', () => {
  const dead: string[] = [];
  let checked = 0;
  for (const [document, { links }] of parsed) {
    for (const { target } of links.filter((link) => !/^(?:https?:|mailto:)/.test(link.target))) {
      const [path = '', anchor] = target.split('#', 2);
      const file = path === '' ? document : posix.normalize(posix.join(posix.dirname(document), path));
      const headings = parsed.get(file)?.headings.map(({ id }) => id);
      if (!existsSync(join(root, file))) dead.push(`${document}: ${target} (no such file)`);
      else if (anchor !== undefined && headings?.includes(anchor) !== true) dead.push(`${document}: ${target} (no such heading)`);
      checked += 1;
    }
  }
  assert.deepEqual(dead, []);
  assert.ok(checked > 60, `${checked} links`);
});

it('every document has one title, and its headings leave out no level', () => {
  for (const [document, { headings }] of parsed) {
    assert.equal(headings.filter(({ level }) => level === 1).length, 1, document);
    for (const [index, { level, text }] of headings.entries())
      assert.ok(level <= (headings[index - 1]?.level ?? 0) + 1, `${document}: ${text}`);
  }
});

it('paths in code that the documents name exist', () => {
  const missing: string[] = [];
  for (const document of documents)
    for (const [, path] of readDocument(document).matchAll(/`((?:src|sdk|test|scripts|bench|deploy|bin|docs)\/[\w./-]*\w)`/g))
      if (!existsSync(join(root, path!)) && !document.endsWith('CHANGELOG.md')) missing.push(`${document}: ${path}`);
  assert.deepEqual(missing, []);
  assert.ok(statSync(join(root, 'docs')).isDirectory());
});

it('anchors are those GitHub makes', () => {
  for (const [heading, anchor] of [
    ['1. A token', '1-a-token'],
    ['When a sign-in fails', 'when-a-sign-in-fails'],
    ['Tenants and base_url', 'tenants-and-base_url'],
    ['What’s new?', 'whats-new'],
    ['`serve`: start', 'serve-start'],
  ] as const)
    assert.equal(anchorOf(heading.replaceAll('`', '')), anchor);
});
