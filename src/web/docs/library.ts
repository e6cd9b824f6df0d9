// The documents this server shows: what lies in docs/ of the package, and the few beside it. Which exist is read once from the
// folder, so no path of a request ever reaches the file system. Pages are rendered at their first request and kept.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { type RenderedDocument, renderDocument } from './markdown.ts';

export interface DocsSection {
  readonly title: string;
  readonly pages: readonly { readonly path: string; readonly title: string }[];
}

export interface DocsLibrary {
  /** The document of a path below /docs, '' for the first page. */
  readonly findPage: (path: string) => RenderedDocument | undefined;
  /** The bytes of a PNG below /docs/images. */
  readonly findImage: (path: string) => Buffer | undefined;
  /** What the first page lists, in its order. */
  readonly sections: readonly DocsSection[];
}

/** Documents outside docs/ that are shown as well: file -> path below /docs. */
const beside: Readonly<Record<string, string>> = { 'CHANGELOG.md': 'changelog', 'SECURITY.md': 'security', 'sdk/README.md': 'sdk' };
const firstPage = 'docs/README.md';

/** Reads which documents there are. `root` is the folder of the package. */
export function openLibrary(root: string = packageFolder()): DocsLibrary {
  const files = globSync('docs/**/*.md', { cwd: root }).map((file) => file.replaceAll('\\', '/'));
  const pathOf = new Map([...files.map((file) => [file, pagePath(file)] as const), ...Object.entries(beside)]);
  const fileOf = new Map([...pathOf].filter(([file]) => existsSync(join(root, file))).map(([file, path]) => [path, file]));
  const images = new Set(globSync('docs/images/*.png', { cwd: root }).map((file) => posix.basename(file)));
  const rendered = new Map<string, RenderedDocument>();
  const pictures = new Map<string, Buffer>();

  const findPage = (path: string): RenderedDocument | undefined => {
    const known = rendered.get(path);
    const file = fileOf.get(path);
    if (known !== undefined || file === undefined) return known;
    const page = renderDocument(readFileSync(join(root, file), 'utf8'), (target) => resolveTarget(pathOf, images, file, target));
    rendered.set(path, page);
    return page;
  };
  const findImage = (name: string): Buffer | undefined => {
    if (!images.has(name)) return undefined;
    const known = pictures.get(name) ?? readFileSync(join(root, 'docs', 'images', name));
    pictures.set(name, known);
    return known;
  };
  const listed = sectionsOf(findPage(''));
  return { findPage, findImage, sections: [...listed, ...unlisted(listed, files, findPage)] };
}

function pagePath(file: string): string {
  return file === firstPage ? '' : file.replace(/^docs\//, '').replace(/\.md$/, '');
}

/** Where a target written in a file leads on this server; undefined when it is not shown here. */
function resolveTarget(pathOf: ReadonlyMap<string, string>, images: ReadonlySet<string>, from: string, target: string): string | undefined {
  if (/^(?:https?:|mailto:|#)/.test(target)) return target;
  const [path = '', anchor] = target.split('#', 2);
  const file = posix.normalize(posix.join(posix.dirname(from), path));
  const image = /^docs\/images\/([^/]+)$/.exec(file)?.[1];
  if (image !== undefined) return images.has(image) ? `/docs/images/${image}` : undefined;
  const page = pathOf.get(file);
  if (page === undefined) return undefined;
  return `/docs${page === '' ? '' : `/${page}`}${anchor === undefined ? '' : `#${anchor}`}`;
}

function sectionsOf(first: RenderedDocument | undefined): readonly DocsSection[] {
  const pages = (first?.links ?? []).flatMap(({ target, text, section }) => {
    const file = posix.normalize(posix.join('docs', target));
    const path = beside[file] ?? (file.endsWith('.md') ? pagePath(file) : undefined);
    return path === undefined ? [] : [{ section, path, title: text }];
  });
  return [...Map.groupBy(pages, (page) => page.section)].map(([title, group]) => ({ title, pages: group }));
}

/** Pages the first page forgot, so that nothing is out of reach. */
function unlisted(listed: readonly DocsSection[], files: readonly string[], findPage: DocsLibrary['findPage']): readonly DocsSection[] {
  const known = new Set(listed.flatMap(({ pages }) => pages.map((page) => page.path)));
  const paths = files.map(pagePath).filter((path) => path !== '' && !known.has(path));
  const pages = paths.sort().map((path) => ({ path, title: findPage(path)?.title ?? path }));
  return pages.length === 0 ? [] : [{ title: 'More', pages }];
}

/** The folder with package.json above this file: two levels further up in a built package than in the source. */
function packageFolder(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder);
    if (above === folder) throw new Error(`expected package.json above ${import.meta.dirname}, found none`);
    folder = above;
  }
  return folder;
}
