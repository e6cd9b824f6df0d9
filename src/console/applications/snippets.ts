// What one types for an application in each framework there is a guide for, with its values filled in: the file of the environment, what
// is installed, and how it starts. The program itself is in the guide; a test holds that both say the same.
import { type Html, html } from '../../platform/html.ts';

interface Framework {
  readonly name: string;
  /** Below /docs/how-to. */
  readonly guide: string;
  readonly isFor: 'web' | 'public';
  /** Lines of the guide. */
  readonly install: readonly string[];
  readonly start: readonly string[];
  /** How the key of the app's cookies is made, where it has one. */
  readonly sessionKey?: string;
}

const readEnv = 'set -a && . .gatehouse/app.env && set +a';

// biome-ignore format: a table, one framework a line or two
export const frameworks: readonly Framework[] = [
  { name: 'Next.js', guide: 'oidc-nextjs', isFor: 'web', sessionKey: 'SESSION_KEY=$(openssl rand -base64 32)"',
    install: ['npm init --yes && npm install next react react-dom openid-client jose', 'npm install --save-dev typescript @types/node @types/react'], start: [readEnv, 'npx next dev --port 3000'] },
  { name: 'Express', guide: 'oidc-express', isFor: 'web', install: ['npm init --yes && npm install express openid-client'], start: ['node --env-file=.gatehouse/app.env server.mjs'] },
  { name: 'FastAPI', guide: 'oidc-fastapi', isFor: 'web', sessionKey: 'SESSION_KEY=$(openssl rand -hex 32)"',
    install: ['python3 -m venv .venv', '.venv/bin/pip install fastapi uvicorn authlib httpx itsdangerous'], start: [readEnv, '.venv/bin/uvicorn main:app --host localhost --port 8000'] },
  { name: 'Go', guide: 'oidc-go', isFor: 'web', install: ['go mod init example.com/my-app', 'go get github.com/coreos/go-oidc/v3/oidc golang.org/x/oauth2'], start: [readEnv, 'go run .'] },
  { name: 'Spring', guide: 'oidc-spring', isFor: 'web', install: [], start: [readEnv, 'mvn spring-boot:run'] },
  { name: 'React', guide: 'oidc-react', isFor: 'public',
    install: ['npm init --yes && npm install react react-dom react-oidc-context oidc-client-ts && npm install --save-dev vite'], start: [readEnv, 'npx vite --port 5173 --strictPort'] },
];

/** A part to open for each framework of the kind. `env`: the lines of the file. `address`: where people come back to; undefined while there is none. */
export const snippetsOf = (isFor: string, env: readonly string[], address: string | undefined): readonly Html[] =>
  frameworks
    .filter((one) => one.isFor === isFor)
    .map(
      (one) =>
        html`<details class="snippet"><summary>${one.name}</summary><p>In the folder of the app, keep its values:</p><pre id="env-${one.guide}">${saved(one, env, address)}</pre>${one.install.length > 0 && html`<p>Install:</p><pre id="install-${one.guide}">${one.install.join('\n')}</pre>`}<p>Write the program of the <a href="/docs/how-to/${one.guide}">guide</a>, then start it:</p><pre id="start-${one.guide}">${one.start.join('\n')}</pre></details>`,
    );

/** Shell lines that write the file; nothing in them is expanded but the key. */
function saved({ isFor, sessionKey }: Framework, env: readonly string[], address: string | undefined): string {
  const origin = isFor === 'web' && address !== undefined && URL.canParse(address) ? [`APP_URL=${new URL(address).origin}`] : [];
  return [
    "mkdir -p .gatehouse && cat > .gatehouse/app.env <<'END'",
    ...env,
    ...origin,
    'END',
    ...(sessionKey === undefined ? [] : [`echo "${sessionKey} >> .gatehouse/app.env`]),
  ].join('\n');
}
