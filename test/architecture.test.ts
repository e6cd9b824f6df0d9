// The house rules that a reader relies on: imports go down only, no cycles, no barrels, small files and functions.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';
import { attestationFormatNames } from '../src/domain/device/attestation-formats.ts';
import { grantTypeNames } from '../src/domain/oidc/grant-types.ts';
import { authenticationContexts, loginMethodNames } from '../src/domain/sign-in/login-methods.ts';

const folderFilesMax = 20;
const fileLinesMax = 400;
const functionLinesMax = 70;
const parametersMax = 5;

/** What each folder of src/ may import besides itself, Node and libraries. Rooms of storage/ have lines of their own; the
 * files on top of them (schema.ts, purge.ts) compose every room. server/ and the root files compose everything. */
const limits = 'contract/limits.ts';
const directoryLimits = 'contract/directory-limits.ts';
const organizationLimits = 'contract/organization-limits.ts';
const samlMetadataLimits = 'contract/saml-metadata-limits.ts';
/** The types of audit records, which every folder that writes some names. */
const events = 'contract/events.ts';
const beneathSurfaces = [
  'contract',
  'platform',
  'crypto',
  'domain',
  'storage',
  'tokens',
  'approvals',
  'http',
  'pages',
  'texts',
  'audit',
  'mails',
  'deliveries',
  'federation',
  'hooks',
  'webhooks',
  'ssf',
  'connectors',
  'directories',
];
const room = (...others: readonly string[]): readonly string[] => [
  'domain',
  'platform',
  limits,
  'storage/schema.ts',
  'storage/engine',
  ...others,
];
const storageRooms = ['registry', 'people', 'organizations', 'oidc', 'saml', 'device', 'sign-in', 'records'].map(
  (name) => `storage/${name}`,
);
const allowed: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  platform: [limits],
  crypto: ['domain', 'platform', limits],
  domain: [limits, organizationLimits, directoryLimits, events],
  'storage/engine': ['domain', 'platform', limits, 'storage/schema.ts'],
  'storage/registry': room(organizationLimits),
  'storage/people': room(organizationLimits, ...storageRooms),
  'storage/organizations': room(organizationLimits),
  'storage/oidc': room('storage/saml', 'storage/sign-in'),
  'storage/saml': room(),
  'storage/device': room('storage/sign-in'),
  'storage/sign-in': room(),
  'storage/records': room(events),
  storage: ['domain', 'platform', limits, 'storage/engine', ...storageRooms],
  texts: ['domain'],
  pages: ['contract', 'domain', 'platform', 'texts'],
  mails: ['contract', 'domain', 'platform', 'texts'],
  tokens: ['domain', 'storage', 'crypto', 'platform', limits, events],
  audit: ['contract', 'domain', 'platform', 'storage'],
  federation: ['domain', 'platform', 'crypto', limits, samlMetadataLimits],
  deliveries: ['domain', 'platform', 'storage', limits],
  webhooks: ['domain', 'storage', 'crypto', 'platform', 'tokens', 'audit', 'mails', 'approvals', 'deliveries', limits],
  ssf: ['domain', 'storage', 'crypto', 'platform', 'tokens', 'deliveries', limits, events],
  connectors: ['domain', 'storage', 'crypto', 'platform', 'tokens', 'mails', 'approvals', 'deliveries', limits],
  directories: [
    'domain',
    'storage',
    'crypto',
    'platform',
    'tokens',
    'mails',
    'approvals',
    'deliveries',
    'connectors',
    limits,
    directoryLimits,
  ],
  hooks: ['domain', 'storage', 'crypto', 'platform', 'tokens', limits],
  approvals: ['domain', 'storage', 'crypto', 'platform', 'tokens', 'mails', 'texts', 'deliveries', 'hooks', limits],
  http: [
    'contract',
    'config.ts',
    'platform',
    'crypto',
    'domain',
    'storage',
    'tokens',
    'hooks',
    'connectors',
    'approvals',
    'pages',
    'texts',
    'audit',
    'mails',
  ],
  oidc: beneathSurfaces,
  saml: beneathSurfaces,
  scim: beneathSurfaces,
  device: [...beneathSurfaces, 'config.ts'],
  administration: [
    'domain',
    'storage',
    'crypto',
    'platform',
    'tokens',
    'mails',
    'audit',
    'federation',
    'ssf',
    limits,
    organizationLimits,
    samlMetadataLimits,
    events,
  ],
  management: ['administration', 'config.ts', ...beneathSurfaces],
  'first-party': beneathSurfaces,
  'sign-in': beneathSurfaces,
  appearance: ['sign-in', ...beneathSurfaces],
  console: ['first-party', 'appearance', 'administration', ...beneathSurfaces],
  'organization-setup': ['first-party', 'administration', ...beneathSurfaces],
  account: ['first-party', 'administration', 'organization-setup', ...beneathSurfaces],
  welcome: ['first-party', 'administration', ...beneathSurfaces],
  'phone-page': beneathSurfaces,
  'docs-site': ['first-party', ...beneathSurfaces],
  embedding: ['administration', 'config.ts', 'server/compose.ts', ...beneathSurfaces],
  cli: ['administration', 'embedding', 'config.ts', 'server', ...beneathSurfaces],
};

/** Composition and registration: they hand the parts of a server on. */
const composing = /^src\/(server\/[a-z-]+|http\/services)\.ts$|\/(register[^/]*|([a-z-]*-)?surface|[a-z-]*routes)\.ts$/;

const sources = globSync('src/**/*.ts').map((file) => normalize(file));
const everything = [...sources, ...globSync('{sdk,bench,test,scripts}/**/*.ts', { exclude: (name) => name === 'node_modules' })];
const read = (file: string): string => readFileSync(file, 'utf8');
/** Lines of code, comments aside. */
const linesOf = (file: string): readonly string[] =>
  read(file)
    .split('\n')
    .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line));

function importsOf(file: string): readonly string[] {
  const specifiers = [...read(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => match[1]!);
  return specifiers.map((specifier) => normalize(join(dirname(file), specifier)));
}

/** The folder whose line of the table a file falls under: a room of storage, else the first folder. */
const folderOf = (file: string): string | undefined => /^src\/(storage\/[^/]+(?=\/)|[^/]+)\/.+/.exec(file)?.[1];
const mayImport = (rules: readonly string[], target: string): boolean =>
  rules.some((rule) => (rule.endsWith('.ts') ? target === `src/${rule}` : target.startsWith(`src/${rule}/`)));

describe('architecture', () => {
  it('there is something to check', () => assert.ok(sources.length > 40));

  it('imports go down only', () => {
    const wrong: string[] = [];
    for (const file of sources) {
      const folder = folderOf(file);
      if (folder === undefined || folder === 'server') continue;
      for (const target of importsOf(file)) {
        if (folderOf(target) === folder) continue;
        const isPhone = folder === 'cli' || folder === 'embedding' || file.startsWith('src/phone-page/app/');
        if (!mayImport(allowed[folder] ?? [], target) && !(isPhone && target.startsWith('sdk/'))) wrong.push(`${file} -> ${target}`);
      }
    }
    assert.deepEqual(wrong, []);
  });

  it('the device SDK imports nothing of src/', () => {
    const wrong = globSync('sdk/**/*.ts', { exclude: (name) => name === 'node_modules' }).flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith('src/'))
        .map((target) => `${file} -> ${target}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('no import cycles at run time', () => {
    const runtime = new Map(sources.map((file) => [file, runtimeImportsOf(file)]));
    const done = new Set<string>();
    const visit = (file: string, path: readonly string[]): void => {
      assert.ok(!path.includes(file), `cycle: ${[...path, file].join(' -> ')}`);
      if (done.has(file)) return;
      for (const target of runtime.get(file) ?? []) visit(target, [...path, file]);
      done.add(file);
    };
    for (const file of sources) visit(file, []);
  });

  it('one writer of users and their lists, one of groups and their members', () => {
    const writers = {
      'user-writer.ts': 'users|user_emails|user_values|user_addresses',
      'group-writer.ts': 'groups|group_members',
    };
    for (const [writer, tables] of Object.entries(writers)) {
      const writes = new RegExp(
        `(insertInto|updateTable|deleteFrom|replaceInto|mergeInto)\\(\\s*'(${tables})'|(INSERT INTO|UPDATE|DELETE FROM) "?(${tables})\\b`,
      );
      assert.deepEqual(
        sources.filter((file) => !file.startsWith('src/storage/engine/migrations/') && writes.test(read(file))),
        [`src/storage/people/${writer}`],
      );
    }
  });

  it('what few sign-ins need loads at its first use', () => {
    assert.deepEqual(
      sources.filter((file) => /^(?:import(?! type)|export)\s[^;]*?from\s+'@simplewebauthn\/server'/m.test(read(file))),
      [],
    );
  });

  it('what nobody uses is not loaded with Node’s HTTP', () => {
    assert.deepEqual(
      sources.filter((file) => !file.startsWith('src/cli/') && /^import(?! type)\s[^;]*?from\s+'node:http'/m.test(read(file))),
      [],
    );
  });

  it('every dependency of the package is imported', () => {
    const { dependencies } = JSON.parse(read('package.json')) as { readonly dependencies: Readonly<Record<string, string>> };
    const importing = globSync('{src,bin,scripts}/**/*', { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => read(join(entry.parentPath, entry.name)));
    const isImported = (name: string): boolean =>
      importing.some((text) => new RegExp(`(?:from|import)[ (]*'${name}(?:/[^']*)?'`).test(text));
    assert.ok(Object.keys(dependencies).length > 10);
    assert.deepEqual(
      Object.keys(dependencies).filter((name) => !isImported(name)),
      [],
    );
  });

  it('no barrels, no junk drawers', () => {
    const names = /(^|\/)(index|utils?|helpers?|common|misc|shared)(\.ts|\/)/;
    assert.deepEqual(
      everything.filter((file) => names.test(file) && file !== 'src/contract/shared.ts'),
      [],
    );
  });

  it('what a file exports, another one names', () => {
    const naming = new Map<string, number>();
    for (const file of everything) for (const name of new Set(read(file).match(/[\w$]+/g))) naming.set(name, (naming.get(name) ?? 0) + 1);
    const exported = /^export (?:async )?(?:const|function\*?|type|interface|class) ([\w$]+)/gm;
    const alone = sources.flatMap((file) =>
      [...read(file).matchAll(exported)].flatMap(([, name]) => (naming.get(name!) === 1 ? [`${file}: ${name}`] : [])),
    );
    // Compiled declarations of other files name Gateway and ConnectorAuth, and so does this line.
    assert.deepEqual(alone, []);
  });

  it(`folders of src have at most ${folderFilesMax} files`, () => {
    const files = Map.groupBy(sources, dirname);
    assert.deepEqual(
      [...files].filter(([, own]) => own.length > folderFilesMax).map(([folder, own]) => `${folder}: ${own.length}`),
      [],
    );
  });

  it(`files have at most ${fileLinesMax} lines`, () => {
    assert.deepEqual(
      everything.filter((file) => read(file).split('\n').length - 1 > fileLinesMax),
      [],
    );
  });

  it(`functions have at most ${functionLinesMax} lines`, () => {
    assert.deepEqual(sources.flatMap(longFunctionsOf), []);
  });

  it(`functions have at most ${parametersMax} parameters`, () => {
    assert.deepEqual(sources.flatMap(wideFunctionsOf), []);
  });

  it('storage keeps the shapes of its tables to itself', () => {
    assert.deepEqual(
      sources.filter((file) => !file.startsWith('src/storage/') && /^import [^;]*\b\w+Table\b[^;]*storage\//m.test(read(file))),
      [],
    );
  });

  it('Services is named in composition and registration only; functions take at most five parts of it', () => {
    assert.deepEqual(
      sources.filter((file) => !composing.test(file) && /^import [^;]*\bServices\b[^;]*services\.ts'/m.test(read(file))),
      [],
    );
    const taken = sources.flatMap((file) => [...read(file).matchAll(/\bParts<([^>]*)>/g)].map((match) => `${file} ${match[1]}`));
    assert.ok(taken.length > 40);
    assert.deepEqual(
      taken.filter((parts) => parts.split('|').length > parametersMax),
      [],
    );
  });

  it('names of grants, sign-in methods and attestation formats stand in their tables only', () => {
    const tables = ['oidc/grant-types', 'sign-in/login-methods', 'device/attestation-formats'].map((name) => `src/domain/${name}.ts`);
    // Google's token endpoint has grants of its own, and the platform knows nothing of ours.
    const elsewhere = 'src/platform/push/fcm.ts';
    const own = [...grantTypeNames, ...loginMethodNames, ...Object.keys(authenticationContexts), ...attestationFormatNames];
    // Three of them are words of other things too: a parameter of the token endpoint, a scope, a step of the sign-in page.
    const words = ['refresh_token', 'phone', 'passkey'];
    const names = own.filter((name) => !words.includes(name));
    assert.ok(names.length > 8);
    const named = new RegExp(`(['"\`])(${names.join('|')})\\1|(method|grant)[^\\n;]*(['"\`])(${words.join('|')})\\4`, 'i');
    assert.deepEqual(
      sources
        .filter((file) => !tables.includes(file) && file !== elsewhere && !file.startsWith('src/storage/engine/migrations/'))
        .flatMap((file) =>
          linesOf(file)
            .filter((line) => named.test(line))
            .map((line) => `${file}: ${line.trim()}`),
        ),
      [],
    );
  });

  it('every file of src says what it is', () => {
    assert.deepEqual(
      sources.filter((file) => !read(file).startsWith('// ')),
      [],
    );
  });
});

function runtimeImportsOf(file: string): readonly string[] {
  const text = read(file).replace(/import type [^;]+;/g, '');
  return [...text.matchAll(/^(?:import|export)\s[^;]*?from\s+'(\.[^']+)'/gm)].map((match) => normalize(join(dirname(file), match[1]!)));
}

/** Top-level functions by their formatted shape: from a declaration at column 0 to the closing brace at column 0. */
function longFunctionsOf(file: string): readonly string[] {
  const lines = read(file).split('\n');
  const found: string[] = [];
  let start = -1;
  lines.forEach((line, index) => {
    if (/^(export )?(async )?function|^(export )?const \w+ = (async )?\(/.test(line)) start = index;
    if (/^\}/.test(line) && start >= 0) {
      if (index - start + 1 > functionLinesMax) found.push(`${file}:${start + 1} (${index - start + 1} lines)`);
      start = -1;
    }
  });
  return found;
}

/** Functions at column 0 with too many parameters, as `file name`: commas between their parentheses, inner brackets aside. */
function wideFunctionsOf(file: string): readonly string[] {
  const text = read(file);
  return [...text.matchAll(/^(?:export )?(?:async )?(?:function\*? (\w+)(?:<[^\n]*?>)?|const (\w+) = (?:async )?(?:<[^\n]*?>)?)\(/gm)]
    .filter((match) => parametersAfter(text, match.index + match[0].length) > parametersMax)
    .map((match) => `${file} ${match[1] ?? match[2]}`);
}

function parametersAfter(text: string, start: number): number {
  const parts = [''];
  for (let at = start, depth = 1; depth > 0 && at < text.length; at += 1) {
    const character = text[at]!;
    if (/[([{<]/.test(character)) depth += 1;
    else if (/[)\]}]/.test(character) || (character === '>' && text[at - 1] !== '=')) depth -= 1;
    if (character === ',' && depth === 1) parts.push('');
    else if (depth > 0) parts[parts.length - 1] += character;
  }
  return parts.filter((part) => part.trim() !== '').length;
}
