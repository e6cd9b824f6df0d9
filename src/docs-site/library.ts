// The documents this server shows: what lies in docs/ of the package, and the few beside it. Which exist is read once from the
// folder, so no path of a request ever reaches the file system. Pages are rendered at their first request and kept.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { packageFolder } from '../platform/package-folder.ts';
import { type RenderedDocument, renderDocument } from './markdown.ts';

export interface DocsSection {
  readonly title: string;
  readonly pages: readonly { readonly path: string; readonly title: string }[];
}

export interface DocsLibrary {
  /** The document of a path below /docs, '' for the first page. */
  readonly findPage: (path: string) => RenderedDocument | undefined;
  /** The paths of all documents, decisions included. */
  readonly paths: readonly string[];
  /** The bytes of a PNG or SVG below /docs/images. */
  readonly findImage: (path: string) => Buffer | undefined;
  /** What the page of contents lists, in its order. */
  readonly sections: readonly DocsSection[];
}

/** Documents outside docs/ that are shown as well: file -> path below /docs. */
const beside: Readonly<Record<string, string>> = {
  'CHANGELOG.md': 'changelog',
  'SECURITY.md': 'security',
  'sdk/README.md': 'sdk',
  'sdk-kotlin/README.md': 'sdk-kotlin',
};
const firstPage = 'docs/README.md';
/** The page that lists all, in sections. */
const contentsPath = 'contents';

/** Reads which documents there are. `root` is the folder of the package. */
export function openLibrary(root: string = packageFolder()): DocsLibrary {
  const files = globSync('docs/**/*.md', { cwd: root }).map((file) => file.replaceAll('\\', '/'));
  const pathOf = new Map([...files.map((file) => [file, pagePath(file)] as const), ...Object.entries(beside)]);
  const fileOf = new Map([...pathOf].filter(([file]) => existsSync(join(root, file))).map(([file, path]) => [path, file]));
  const images = new Set(globSync('docs/images/*.{png,svg}', { cwd: root }).map((file) => posix.basename(file)));
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
  const listed = sectionsOf(findPage(contentsPath));
  return { findPage, findImage, paths: [...fileOf.keys()], sections: [...listed, ...unlisted(listed, files, findPage)] };
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

function sectionsOf(contents: RenderedDocument | undefined): readonly DocsSection[] {
  const pages = (contents?.links ?? [])
    .filter(({ target }) => target !== 'README.md')
    .flatMap(({ target, text, section }) => {
      const file = posix.normalize(posix.join('docs', target));
      const path = beside[file] ?? (file.endsWith('.md') ? pagePath(file) : undefined);
      return path === undefined ? [] : [{ section, path, title: text }];
    });
  return [...Map.groupBy(pages, (page) => page.section)].map(([title, group]) => ({ title, pages: group }));
}

/** Pages the contents forgot, so that nothing is out of reach. Decisions are reached from the architecture, the API's from its index. */
function unlisted(listed: readonly DocsSection[], files: readonly string[], findPage: DocsLibrary['findPage']): readonly DocsSection[] {
  const known = new Set(listed.flatMap(({ pages }) => pages.map((page) => page.path)));
  const paths = files.map(pagePath).filter((path) => path !== '' && !known.has(path) && !/^(?:decisions|reference\/api)\//.test(path));
  const pages = paths.sort().map((path) => ({ path, title: findPage(path)?.title ?? path }));
  return pages.length === 0 ? [] : [{ title: 'More', pages }];
}
