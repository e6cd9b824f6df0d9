// The examples of the API reference: for each operation what to send, and the request in curl, JavaScript and Python. Sent to a
// server by test/docs/api-examples.test.ts.

export interface Example {
  /** Of the query string. */
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Instead of JSON: the bytes of a file. */
  readonly file?: { readonly name: string; readonly type: string };
}

/** What one request is made of. */
export interface ExampleRequest extends Example {
  readonly method: string;
  /** Parameters as `{name}`. */
  readonly path: string;
  /** Of the variables that hold the address and the token. */
  readonly base: { readonly variable: string; readonly path: string; readonly token: string };
  readonly isAnswered: boolean;
}

/** The person the examples put into groups and give access. */
export const examplePersonId = '0199a2b4-5c6d-7e8f-9a0b-1c2d3e4f5a6b';

/** By operation of the management API, then of the system API (`system: `). Those without query and body need none. */
const examples: Readonly<Record<string, Example>> = {
  'POST /clients': {
    body: { name: 'Portal', redirect_uris: ['https://portal.example.com/callback'], scopes: ['openid', 'profile', 'email'] },
  },
  'GET /clients': { query: { search: 'Portal' } },
  'PATCH /clients/{id}': { body: { name: 'Customer portal', require_consent: true } },
  'POST /clients/{id}/assignments': { body: { user_id: examplePersonId } },
  'POST /initial-access-tokens': {
    body: {
      count: 1,
      expires_in_seconds: 86_400,
      policy: { hosts: ['app.example.com'], grant_types: ['authorization_code'], scopes: ['openid'] },
    },
  },
  'POST /workload-issuers': {
    body: { name: 'GitHub Actions', issuer: 'https://token.actions.githubusercontent.com', audiences: ['https://id.example.com/t/acme'] },
  },
  'PATCH /workload-issuers/{id}': { body: { lifetime_seconds_max: 600 } },
  'POST /organization-roles': { body: { name: 'approver', description: 'Approves orders', scopes: ['orders:approve'] } },
  'PATCH /organization-roles/{name}': { body: { scopes: ['orders:approve', 'orders:read'] } },
  'POST /organizations': { body: { name: 'globex', display_name: 'Globex GmbH', metadata: { plan: 'gold' } } },
  'PATCH /organizations/{id}': { body: { display_name: 'Globex SE' } },
  'PUT /organizations/{id}/members/{user_id}': { body: { roles: ['approver'] } },
  'POST /organizations/{id}/scim-tokens': { body: { name: 'Entra', expires_in_days: 365 } },
  'POST /organizations/{id}/setup-links': { body: {} },
  'POST /organizations/{id}/invitations': { body: { email: 'grace@example.com', roles: ['approver'] } },
  'POST /resources': {
    body: { identifier: 'https://orders.example.com', name: 'Orders', scopes: [{ name: 'orders:read', description: 'See orders' }] },
  },
  'PATCH /resources/{id}': { body: { access_token_lifetime_seconds: 300 } },
  'POST /custom-attributes': { body: { name: 'cost_code', label: 'Cost code', claim: 'cost_code' } },
  'PATCH /custom-attributes/{id}': { body: { label: 'Cost centre' } },
  'POST /users': {
    body: {
      user_name: 'grace',
      name: { given_name: 'Grace', family_name: 'Hopper' },
      emails: [{ value: 'grace@example.com', primary: true }],
    },
  },
  'GET /users': { query: { search: 'hopper', limit: '20' } },
  'PATCH /users/{id}': { body: { display_name: 'Grace Hopper' } },
  'PUT /users/{id}/roles': { body: { roles: ['support'] } },
  'GET /administrators': { query: { role: 'owner' } },
  'POST /roles': { body: { name: 'help-desk', description: 'Answers the phone', capabilities: ['users:read', 'users:recover'] } },
  'PATCH /roles/{name}': { body: { capabilities: ['users:read', 'users:recover', 'events:read'] } },
  'POST /groups': { body: { display_name: 'Engineers' } },
  'PATCH /groups/{id}': { body: { display_name: 'All engineers' } },
  'POST /groups/{id}/members': { body: { user_id: examplePersonId } },
  'POST /users/{id}/enrollments': { body: { require_pin: true } },
  'POST /users/{id}/invitations': { body: { mail: true } },
  'POST /scim-tokens': { body: { name: 'Okta', expires_in_days: 365 } },
  'POST /invitations': {
    body: { people: [{ emails: [{ value: 'grace@example.com' }], name: { given_name: 'Grace' }, groups: ['Editors'] }], dry_run: true },
  },
  'POST /users/{id}/recoveries': { body: { reason: 'Phone lost on the train' } },
  'POST /service-providers': {
    body: { entity_id: 'https://wiki.example.com/saml', acs: [{ url: 'https://wiki.example.com/saml/acs' }], name: 'Wiki' },
  },
  'POST /service-providers/import': { file: { name: 'metadata.xml', type: 'application/samlmetadata+xml' } },
  'POST /service-providers/import/address': { body: { metadata_url: 'https://wiki.example.com/saml/metadata', dry_run: true } },
  'PATCH /service-providers/{id}': { body: { name: 'Company wiki' } },
  'POST /resources/{id}/assignments': { body: { user_id: examplePersonId } },
  'POST /service-providers/{id}/assignments': { body: { user_id: examplePersonId } },
  'POST /service-providers/{id}/signing-keys': { body: { force: false } },
  'POST /service-providers/{id}/metadata-refresh/approve': { body: { hosts: ['wiki.example.com'] } },
  'POST /identity-providers': {
    body: {
      alias: 'google',
      kind: 'oidc',
      name: 'Google',
      issuer: 'https://accounts.google.com',
      client_id: 'your-client-id',
      client_secret: 'your-client-secret',
    },
  },
  'PATCH /identity-providers/{id}': { body: { domains: ['example.com'] } },
  'PUT /mappings/inbound': { body: { rules: [{ to: 'enterprise.department', from: 'upstream.department', apply: 'always' }] } },
  'PUT /mappings/oidc': { body: { rules: [{ to: 'department', from: 'enterprise.department', scope: 'profile' }] } },
  'PUT /mappings/saml': { body: { rules: [{ to: 'department', from: 'enterprise.department' }] } },
  'POST /mappings/preview': { body: { kind: 'oidc', user_id: examplePersonId } },
  'POST /signing-keys': { body: { use: 'oidc', alg: 'ES256' } },
  'PATCH /settings': { body: { access_token_lifetime_seconds: 600 } },
  'POST /settings/lists': { body: { add: { client_hosts: { trusted: ['agents.example.com'] } } } },
  'POST /document': {
    body: { document: { gatehouse: 1, resources: [{ identifier: 'https://orders.example.com', name: 'Orders' }] }, plan: true },
  },
  'POST /hooks': { body: { point: 'sign_in', url: 'https://hooks.example.com/sign-in', on_failure: 'continue' } },
  'PATCH /hooks/{id}': { body: { deadline_ms: 500 } },
  'POST /webhooks': { body: { url: 'https://hooks.example.com/gatehouse', types: ['user.*', 'group.created'] } },
  'PATCH /webhooks/{id}': { body: { types: ['user.*'] } },
  'POST /webhooks/{id}/replay': { body: { state: 'dead' } },
  'POST /ssf-streams/{id}/status': { body: { status: 'paused', reason: 'The application moves.' } },
  'PUT /mappings/scim': { body: { rules: [{ to: 'nickName', from: 'display_name' }] } },
  'POST /connectors': {
    body: {
      name: 'Payroll',
      enabled: false,
      base_url: 'https://payroll.example.com/scim/v2',
      auth: { type: 'bearer', token: 'a-token-of-the-application' },
      groups: ['Staff'],
    },
  },
  'PATCH /connectors/{id}': { body: { rate: 20 } },
  'POST /connectors/{id}/provision': { body: { user_id: examplePersonId } },
  'POST /connectors/{id}/links/{link_id}/resolve': { body: { action: 'create' } },
  'POST /directories': {
    body: {
      name: 'Corporate directory',
      enabled: false,
      kind: 'active_directory',
      url: 'ldaps://dc1.corp.example.com',
      bind_dn: 'reader@corp.example.com',
      bind_password: 'the-password-of-the-reader',
      base_dn: 'ou=People,dc=corp,dc=example,dc=com',
      groups: 'all',
    },
  },
  'PATCH /directories/{id}': { body: { every_minutes: 30 } },
  'POST /directories/{id}/sync': { body: { full: true } },
  'POST /directories/{id}/links/{link_id}/resolve': { body: { action: 'create' } },
  'PUT /branding/draft': { body: { accent: '#1d4ed8', corner_radius: 8 } },
  'PUT /texts/{language}/draft': { body: { identify: { title: 'Welcome back', note: 'Trouble? Call 4711.' } } },
  'PUT /mails/{kind}/{language}/draft': { body: { subject: '{{code}} is your code', body: 'Your code is **{{code}}**.' } },
  'POST /mails/{kind}/{language}/test': { body: { to: 'ada@example.com' } },
  'PUT /mail-server': {
    body: {
      host: 'smtp.example.com',
      port: 587,
      security: 'starttls',
      username: 'acme',
      password: 'secret',
      from: 'Acme <login@example.com>',
    },
  },
  'POST /mail-server/test': { body: { to: 'ada@example.com' } },
  'PUT /domain': { body: { domain: 'https://login.example.com' } },
  'POST /images': { file: { name: 'logo.png', type: 'image/png' } },
  'GET /events/feed': { query: { after: '0', types: 'user.*', limit: '100' } },
  'GET /events': { query: { type: 'refusal', limit: '20' } },
  'GET /statistics': { query: { days: '7' } },
  'POST /tenants': { body: { slug: 'acme', name: 'Acme' } },
  'PATCH /tenants/{id}': { body: { name: 'Acme Inc' } },
  'POST /tenants/{id}/invitations': { body: {} },
  'system: POST /tenants': { body: { slug: 'globex', name: 'Globex' } },
  'system: PATCH /tenants/{id}': { body: { name: 'Globex Inc' } },
  'system: POST /tenants/{id}/invitations': { body: {} },
  'system: GET /outbox': { query: { to: 'ada@example.com' } },
};

/** What to send to an operation. @throws when it takes a body and none is written down above */
export function exampleOf(operation: string, takesBody: boolean): Example {
  const found = examples[operation];
  if (takesBody && found?.body === undefined && found?.file === undefined)
    throw new Error(`expected an example of what to send to ${operation} in scripts/api-examples.ts, found none`);
  return found ?? {};
}

/** Examples of operations that are not there any more. */
export const unusedExamples = (operations: readonly string[]): readonly string[] =>
  Object.keys(examples).filter((operation) => !operations.includes(operation));

/** The request as code blocks of markdown. */
export const exampleLines = (request: ExampleRequest): readonly string[] => [
  ...['```bash', ...curlLines(request), '```', ''],
  ...['```javascript', ...scriptLines(request), '```', ''],
  ...['```python', ...pythonLines(request), '```', ''],
];

/** The address, each path parameter written as the language writes a variable. */
function addressOf({ base, path, query }: ExampleRequest, variable: (name: string) => string): string {
  const asked = query === undefined ? '' : `?${new URLSearchParams(query)}`;
  return `${variable(base.variable)}${base.path}${path.replace(/\{(\w+)\}/g, (_all, name: string) => variable(name.toUpperCase()))}${asked}`;
}

function curlLines(request: ExampleRequest): readonly string[] {
  const { method, base, body, file } = request;
  const parts = [
    `curl -sS --fail-with-body${method === 'GET' ? '' : ` -X ${method}`} "${addressOf(request, (name) => `$${name}`)}"`,
    `-H "Authorization: Bearer $${base.token}"`,
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d '${literalOf(body, jsonWords)}'`]),
    ...(file === undefined ? [] : [`-H 'Content-Type: ${file.type}'`, `--data-binary @${file.name}`]),
  ];
  return parts.map((part, index) => `${index === 0 ? '' : '  '}${part}${index < parts.length - 1 ? ' \\' : ''}`);
}

function scriptLines(request: ExampleRequest): readonly string[] {
  const { method, base, body, file, isAnswered } = request;
  const type = body === undefined ? file?.type : 'application/json';
  const sent = body === undefined ? file && `readFileSync('${file.name}')` : `JSON.stringify(${literalOf(body, jsonWords)})`;
  return [
    `const answer = await fetch(\`${addressOf(request, (name) => `\${${name}}`)}\`, {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    `  headers: { authorization: \`Bearer \${${base.token}}\`${type === undefined ? '' : `, 'content-type': '${type}'`} },`,
    ...(sent === undefined ? [] : [`  body: ${sent},`]),
    '});',
    `console.log(answer.status${isAnswered ? ', await answer.json()' : ''});`,
  ];
}

function pythonLines(request: ExampleRequest): readonly string[] {
  const { method, base, body, file, isAnswered } = request;
  const type = file === undefined ? '' : `, "Content-Type": "${file.type}"`;
  return [
    `answer = httpx.${method.toLowerCase()}(`,
    `    f"${addressOf(request, (name) => `{${name}}`)}",`,
    `    headers={"Authorization": f"Bearer {${base.token}}"${type}},`,
    ...(body === undefined ? [] : [`    json=${literalOf(body, pythonWords)},`]),
    ...(file === undefined ? [] : [`    content=open("${file.name}", "rb").read(),`]),
    ')',
    `print(answer.status_code${isAnswered ? ', answer.json()' : ''})`,
  ];
}

const jsonWords: Words = { true: 'true', false: 'false' };
const pythonWords: Words = { true: 'True', false: 'False' };
interface Words {
  readonly true: string;
  readonly false: string;
}

/** A value as JSON or Python writes it, with spaces as people do. */
function literalOf(value: unknown, words: Words): string {
  if (Array.isArray(value)) return `[${value.map((one) => literalOf(one, words)).join(', ')}]`;
  if (typeof value === 'boolean') return value ? words.true : words.false;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, one]) => `${JSON.stringify(name)}: ${literalOf(one, words)}`)
    .join(', ')}}`;
}
