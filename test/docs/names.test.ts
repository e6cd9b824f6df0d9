// Every package and image that documents, help, deployment files and the demo name is one a person looked up: a name in a public
// registry belongs to whoever took it first, and `gatehouse` on npm is a stranger's. A name that is new here fails until it is
// reviewed into the list below.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { blocksOf, documents, root } from '../support/documents.ts';

/** Whose each name is. */
const reviewed: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  npm: {
    './gatehouse-0.2.0.tgz': 'ours, packed from the checkout',
    './gatehouse-device-sdk-0.2.0.tgz': 'ours, packed from the checkout',
    './sdk': 'ours, in the checkout',
    express: 'the OpenJS Foundation',
    'gatehouse-device-sdk': 'ours, installed from the tarball of npm pack ./sdk, never from a registry',
    jose: 'Filip Skokan (panva)',
    '@types/node': 'DefinitelyTyped',
    '@types/react': 'DefinitelyTyped',
    next: 'Vercel',
    'mcp-remote': 'Glen Maddern, and Frank Fiegel since; a bridge to servers of the Model Context Protocol',
    'oidc-client-ts': 'the authts maintainers, who went on with oidc-client',
    react: 'Meta',
    'react-dom': 'Meta',
    'react-oidc-context': 'the authts maintainers',
    typescript: 'Microsoft',
    vite: 'the Vite team (VoidZero)',
    standardwebhooks: 'Svix, for the Standard Webhooks project',
    'openid-client': 'Filip Skokan (panva), certified by the OpenID Foundation',
  },
  image: {
    'gatehouse:local': 'ours, built from the checkout; a tag no registry gives out',
    'registry.example.com/gatehouse': "the reader's own registry",
    'registry.example.com/gatehouse:0.2.0': "the reader's own registry",
    'node:24.21.0-bookworm-slim': 'the official Node image',
    'postgres:17-bookworm': 'the official PostgreSQL image',
    'redis:7-bookworm': 'the official Redis image',
  },
  debian: { patroni: 'Debian', postgresql: 'Debian', 'postgresql-client': 'Debian', 'python3-etcd': 'Debian' },
  other: {
    authlib: 'Authlib on PyPI, by Hsiaoming Yang',
    cryptography: 'the Python Cryptographic Authority, on PyPI',
    fastapi: 'FastAPI on PyPI, by Sebastián Ramírez',
    'google-auth': 'Google, on PyPI',
    httpx: 'Encode on PyPI, which Authlib asks for',
    itsdangerous: 'Pallets on PyPI, which Starlette signs cookies with',
    pyjwt: 'José Padilla on PyPI; the protocol’s own SDK asks for it',
    requests: 'the Python Software Foundation, on PyPI',
    uvicorn: 'the server FastAPI names, on PyPI',
    'github.com/coreos/go-oidc/v3/oidc': 'the CoreOS authors',
    'golang.org/x/oauth2': 'the Go authors',
  },
};

type Kind = 'npm' | 'image' | 'debian' | 'other';
interface Named {
  readonly kind: Kind;
  readonly name: string;
}

/** What our own package exports to whoever installed its tarball (package.json); to install it by name is refused as before. */
const exported: readonly string[] = ['gatehouse', 'gatehouse/testing'];

const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '' && !word.startsWith('-'));
const named = (kind: Kind, names: readonly string[]): readonly Named[] => names.map((name) => ({ kind, name }));
/** An image without its digest; the alias of a build stage and a template are none. */
const isImage = (name: string): boolean => !name.includes('{{');
/** What a command line goes on with, up to its end. */
const rest = String.raw`((?:[^\S\n]+[-@\w./:=~^*]+)+)`;

const commands: readonly (readonly [RegExp, (text: string) => readonly Named[]])[] = [
  [new RegExp(`\\bnpm (?:install|i|add|exec|x|create|init|pack|view)\\b${rest}`, 'g'), (text) => named('npm', words(text))],
  [
    new RegExp(`\\b(?:npx|pnpx|bunx|pnpm add|yarn add|bun add|pnpm dlx|yarn dlx)\\b${rest}`, 'g'),
    (text) => named('npm', words(text).slice(0, 1)),
  ],
  [new RegExp(`\\b(?:docker|podman) (?:pull|push)\\b${rest}`, 'g'), (text) => named('image', words(text))],
  [/\b(?:docker|podman) build\b.*?--tag[= ](\S+)/g, (text) => named('image', [text])],
  [/\b(?:docker|podman) run\b((?:.*\\\n)*.*)/g, (text) => named('image', imageOfRun(text))],
  [new RegExp(`\\bapt(?:-get)? install\\b${rest}`, 'g'), (text) => named('debian', words(text))],
  [
    new RegExp(
      `\\b(?:pip3? install|pipx (?:install|run)|uvx|go (?:get|install)|brew install|cargo install|gem install|helm repo add)\\b${rest}`,
      'g',
    ),
    (text) => named('other', words(text)),
  ],
];

/** The last word of each line that is no option's value stands for the image: our examples end with it, or with its command. */
function imageOfRun(text: string): readonly string[] {
  const parts = text
    .replaceAll('\\\n', ' ')
    .split(/\s+/)
    .filter((part) => part !== '');
  const found: string[] = [];
  for (let index = 0; index < parts.length && found.length === 0; index += 1) {
    const part = parts[index]!;
    if (['--volume', '--publish', '--env', '--name', '--cap-drop', '--user', '-v', '-p', '-e'].includes(part)) index += 1;
    else if (!part.startsWith('-')) found.push(part);
  }
  return found;
}

/** What a text tells its reader to fetch. */
function namesIn(text: string): readonly Named[] {
  const run = commands.flatMap(([pattern, read]) => [...text.matchAll(pattern)].flatMap(([, arguments_]) => read(arguments_!)));
  const from = [...text.matchAll(/^FROM (\S+)/gm)].map(([, name]) => name!);
  const keyed = [...text.matchAll(/^\s*(?:image|repository): *["']?([^\s"'{]+)/gm)].map(([, name]) => name!);
  return [...run, ...named('image', [...from, ...keyed].filter(isImage))];
}

/** The packages a program of a document imports; Node's own and its own files are none. */
const importsIn = (text: string): readonly Named[] =>
  named(
    'npm',
    [...text.matchAll(/(?:from|import|require\()\s*\(?'([a-z@][^']*)'/g)]
      .filter(([, path]) => !exported.includes(path!))
      .map(([, name]) => name!)
      .filter((name) => !name.startsWith('node:'))
      .map((name) =>
        name
          .split('/')
          .slice(0, name.startsWith('@') ? 2 : 1)
          .join('/'),
      ),
  );

const files = [
  ...documents,
  'Dockerfile',
  'compose.yaml',
  'bin/gatehouse',
  ...globSync(['deploy/**/*.*', 'demo/**/*.ts', 'src/**/*.ts', 'sdk/**/*.{ts,md,json}'], {
    cwd: root,
    exclude: (name) => String(name).includes('node_modules'),
  }),
];

const unreviewed = (found: readonly Named[]): readonly string[] =>
  found.filter(({ kind, name }) => !Object.hasOwn(reviewed[kind], name)).map(({ kind, name }) => `${kind} ${name}`);

describe('names of packages and images', () => {
  it('every one is reviewed', () => {
    const faults = files.flatMap((file) => unreviewed(namesIn(readFileSync(join(root, file), 'utf8'))).map((name) => `${file}: ${name}`));
    const imports = documents.flatMap((file) =>
      unreviewed(blocksOf(file).flatMap(({ text }) => importsIn(text))).map((name) => `${file}: ${name}`),
    );
    assert.deepEqual([...faults, ...imports], []);
  });

  it('every reviewed name is still used', () => {
    const found = [
      ...files.flatMap((file) => namesIn(readFileSync(join(root, file), 'utf8'))),
      ...documents.flatMap((file) => blocksOf(file).flatMap(({ text }) => importsIn(text))),
    ].map(({ kind, name }) => `${kind} ${name}`);
    const listed = Object.entries(reviewed).flatMap(([kind, names]) => Object.keys(names).map((name) => `${kind} ${name}`));
    assert.deepEqual(
      listed.filter((name) => !found.includes(name)),
      [],
    );
  });

  it('a stranger’s name is found, however it is asked for', () => {
    const strangers = {
      'npx gatehouse serve': ['npm gatehouse'],
      'npx --yes gatehouse': ['npm gatehouse'],
      'npm install --global gatehouse': ['npm gatehouse'],
      'npm i express gatehouse': ['npm gatehouse'],
      'pnpm dlx gatehouse': ['npm gatehouse'],
      'docker run --publish 127.0.0.1:8080:8080 \\\n  --env A=b gatehouse serve': ['image gatehouse'],
      'docker pull gatehouse': ['image gatehouse'],
      'docker build --tag gatehouse .': ['image gatehouse'],
      'image: gatehouse/gatehouse:latest': ['image gatehouse/gatehouse:latest'],
      'FROM gatehouse:1': ['image gatehouse:1'],
      'pip install gatehouse': ['other gatehouse'],
      'apt-get install gatehouse': ['debian gatehouse'],
    };
    for (const [text, expected] of Object.entries(strangers)) assert.deepEqual(unreviewed(namesIn(text)), expected, text);
    assert.deepEqual(unreviewed(importsIn("import { x } from 'gatehouse/client';\nimport 'node:fs';")), ['npm gatehouse']);
  });

  it('our own packages cannot be published by mistake', () => {
    for (const file of ['package.json', 'sdk/package.json']) {
      const { private: isPrivate } = JSON.parse(readFileSync(join(root, file), 'utf8')) as { readonly private?: boolean };
      assert.equal(isPrivate, true, file);
    }
  });
});
