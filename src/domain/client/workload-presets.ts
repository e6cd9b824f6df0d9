// Platforms whose tokens programs are commonly known by (design 18, part 3): what each asks for, whose tokens those are, which of them the
// program is, and what is written on the platform. Data for `client create --workload`, and for forms. Pure.
import { urlCharsMax, workloadLifetimeSecondsMax } from '../../contract/limits.ts';
import type { Json } from '../field.ts';
import { quoted } from '../shell.ts';
import type { Workload } from './workload.ts';

/** A value that a preset asks for. */
export interface PresetAsk {
  readonly about: string;
  readonly syntax?: RegExp;
  /** Taken where it is not given; without one it may be left out only where `isOptional`. */
  readonly default?: string;
  readonly isOptional?: true;
}

type Given = Readonly<Record<string, string>>;

/** What a snippet is made of. */
interface Writing {
  readonly given: Given;
  /** What the tokens of the platform are asked for. */
  readonly audience: string;
  /** Lines of a shell that send `$platform_token` for a token. */
  readonly request: readonly string[];
}

export interface Snippet {
  readonly language: 'yaml' | 'sh';
  readonly text: string;
}

export interface WorkloadPreset {
  readonly label: string;
  readonly asks: Readonly<Record<string, PresetAsk>>;
  /** One of these at least, beside what is required. */
  readonly oneOf?: readonly string[];
  readonly issuer: (given: Given) => string;
  /** What its tokens are for, where they cannot be for the tenant. */
  readonly audience?: (given: Given) => string;
  readonly lifetimeSecondsMax?: number;
  readonly workload: (given: Given) => Omit<Workload, 'issuer'>;
  readonly snippets: (writing: Writing) => readonly Snippet[];
}

const digits = /^[0-9]+$/;
const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const dnsName = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

const issuerAsked = { about: 'the iss of its tokens' } as const;
/** Where its keys are, for those whose discovery document is not to be read. */
const keysAsked = {
  jwks_uri: { about: 'the address of its keys, instead of its discovery document', isOptional: true },
  jwks: { about: 'its keys themselves, as JSON', isOptional: true },
} as const;

const shell = (lines: readonly string[]): Snippet => ({ language: 'sh', text: lines.join('\n') });
const yaml = (lines: readonly string[]): Snippet => ({ language: 'yaml', text: lines.join('\n') });
const indented = (lines: readonly string[], by: number): readonly string[] => lines.map((line) => `${' '.repeat(by)}${line}`);
const inQuery = (text: string): string => encodeURIComponent(text).replaceAll("'", '%27');

/** Of what was given, what its tokens say by the same name. */
const claimsOf = (given: Given, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));

const kubernetes: WorkloadPreset = {
  label: 'Kubernetes',
  asks: {
    issuer: { about: 'what kubectl get --raw /.well-known/openid-configuration says' },
    namespace: { about: 'of the pod', syntax: dnsName },
    service_account: { about: 'of the pod', syntax: dnsName },
    ...keysAsked,
  },
  issuer: ({ issuer }) => issuer!,
  workload: ({ namespace, service_account }) => ({ subject: `system:serviceaccount:${namespace}:${service_account}` }),
  snippets: ({ given, audience, request }) => [
    yaml([
      'spec:',
      `  serviceAccountName: ${JSON.stringify(given['service_account'])}`,
      '  containers:',
      '    - name: job',
      '      volumeMounts:',
      '        - { name: gatehouse, mountPath: /var/run/secrets/gatehouse, readOnly: true }',
      '  volumes:',
      '    - name: gatehouse',
      '      projected:',
      '        sources:',
      `          - serviceAccountToken: { path: token, audience: ${JSON.stringify(audience)}, expirationSeconds: 3600 }`,
    ]),
    shell(['platform_token=$(cat /var/run/secrets/gatehouse/token)', ...request]),
  ],
};

const github: WorkloadPreset = {
  label: 'GitHub Actions',
  asks: {
    repository_id: { about: 'the number of the repository: gh api repos/OWNER/NAME --jq .id', syntax: digits },
    environment: { about: 'of the job; this or ref', isOptional: true },
    ref: { about: 'the branch or tag, such as refs/heads/main; this or environment', syntax: /^refs\/./, isOptional: true },
    issuer: { ...issuerAsked, default: 'https://token.actions.githubusercontent.com' },
  },
  oneOf: ['environment', 'ref'],
  issuer: ({ issuer }) => issuer!,
  workload: (given) => ({ claims: claimsOf(given, ['repository_id', 'environment', 'ref']) }),
  snippets: ({ given, audience, request }) => [
    yaml([
      'permissions:',
      '  id-token: write',
      'jobs:',
      '  deploy:',
      '    runs-on: ubuntu-latest',
      ...(given['environment'] === undefined ? [] : [`    environment: ${JSON.stringify(given['environment'])}`]),
      '    steps:',
      '      - run: |',
      ...indented(
        [
          'platform_token=$(curl -sS --fail-with-body -H "Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" \\',
          `  "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=${inQuery(audience)}" | jq -r .value)`,
          ...request,
        ],
        10,
      ),
    ]),
  ],
};

const gitlab: WorkloadPreset = {
  label: 'GitLab CI',
  asks: {
    project_id: { about: 'the number of the project', syntax: digits },
    ref_protected: { about: 'true: protected branches and tags alone', syntax: /^(true|false)$/, default: 'true' },
    issuer: { ...issuerAsked, default: 'https://gitlab.com' },
  },
  issuer: ({ issuer }) => issuer!,
  workload: (given) => ({ claims: claimsOf(given, ['project_id', 'ref_protected']) }),
  snippets: ({ audience, request }) => [
    yaml([
      'deploy:',
      '  id_tokens:',
      '    PLATFORM_TOKEN:',
      `      aud: ${JSON.stringify(audience)}`,
      '  script:',
      '    - |',
      ...indented(['platform_token=$PLATFORM_TOKEN', ...request], 6),
    ]),
  ],
};

const google: WorkloadPreset = {
  label: 'Google Cloud',
  asks: {
    service_account: { about: 'its number: gcloud iam service-accounts describe EMAIL --format="value(uniqueId)"', syntax: digits },
  },
  issuer: () => 'https://accounts.google.com',
  workload: ({ service_account }) => ({ subject: service_account! }),
  snippets: ({ audience, request }) => [
    shell([
      "platform_token=$(curl -sS --fail-with-body -H 'Metadata-Flavor: Google' \\",
      `  "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/identity?audience=${inQuery(audience)}")`,
      ...request,
    ]),
  ],
};

const aws: WorkloadPreset = {
  label: 'AWS',
  asks: {
    issuer: { about: 'of the account: aws iam get-outbound-web-identity-federation-info' },
    role: { about: 'the ARN of the role', syntax: /^arn:aws[a-z-]*:iam::[0-9]{12}:role\/./ },
  },
  issuer: ({ issuer }) => issuer!,
  workload: ({ role }) => ({ subject: role! }),
  snippets: ({ audience, request }) => [
    shell([
      `platform_token=$(aws sts get-web-identity-token --audience ${quoted(audience)} \\`,
      '  --signing-algorithm ES384 --duration-seconds 300 --query WebIdentityToken --output text)',
      ...request,
    ]),
  ],
};

const azure: WorkloadPreset = {
  label: 'Azure',
  asks: {
    tenant: { about: 'the id of the directory', syntax: guid },
    object_id: { about: 'of the managed identity', syntax: guid },
    application_id: { about: 'of an application with tokens of version 2, which they are for', syntax: guid },
  },
  issuer: ({ tenant }) => `https://login.microsoftonline.com/${tenant}/v2.0`,
  audience: ({ application_id }) => application_id!,
  lifetimeSecondsMax: workloadLifetimeSecondsMax,
  workload: ({ object_id }) => ({ subject: object_id! }),
  snippets: ({ given, request }) => [
    shell([
      'platform_token=$(curl -sS --fail-with-body -H Metadata:true \\',
      `  "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=${inQuery(`api://${given['application_id']}`)}" \\`,
      '  | jq -r .access_token)',
      ...request,
    ]),
  ],
};

const spiffe: WorkloadPreset = {
  label: 'SPIFFE',
  asks: {
    id: { about: 'the SPIFFE ID', syntax: /^spiffe:\/\/[a-z0-9._-]+\/./ },
    issuer: { about: 'the iss of its tokens, where it is not the trust domain', isOptional: true },
    ...keysAsked,
  },
  issuer: ({ id, issuer }) => issuer ?? /^spiffe:\/\/[^/]+/.exec(id!)![0],
  workload: ({ id }) => ({ subject: id! }),
  snippets: ({ given, audience, request }) => [
    shell([
      `platform_token=$(spire-agent api fetch jwt -audience ${quoted(audience)} -spiffeID ${quoted(given['id']!)} -output json \\`,
      "  | jq -r '.[0].svids[0].svid')",
      ...request,
    ]),
  ],
};

const presets = { kubernetes, github, gitlab, google, aws, azure, spiffe } as const;

type PresetName = keyof typeof presets;
export const workloadPresets: Readonly<Record<PresetName, WorkloadPreset>> = presets;
export const presetNames = Object.keys(presets) as readonly PresetName[];
export const isPresetName = (name: string): name is PresetName => Object.hasOwn(presets, name);

type ReadPreset =
  | { readonly ok: true; readonly given: Given }
  /** What was expected, and what was found. */
  | { readonly ok: false; readonly expected: string; readonly found: string };

/** What a preset was given, with its defaults. */
export function readPreset({ asks, oneOf }: WorkloadPreset, words: Given): ReadPreset {
  const names = Object.keys(asks);
  for (const [name, value] of Object.entries(words)) {
    if (!Object.hasOwn(asks, name)) return { ok: false, expected: `one of ${names.join(', ')}`, found: name };
    const { about, syntax } = asks[name]!;
    const isLong = name !== 'jwks' && value.length > urlCharsMax;
    if (value === '' || isLong || syntax?.test(value) === false)
      return { ok: false, expected: `${name}=… (${about})`, found: isLong ? `${value.length} characters` : JSON.stringify(value) };
  }
  const missing = names.find((name) => words[name] === undefined && asks[name]!.default === undefined && asks[name]!.isOptional !== true);
  if (missing !== undefined) return { ok: false, expected: `${missing}=… (${asks[missing]!.about})`, found: 'none' };
  if (oneOf !== undefined && !oneOf.some((name) => words[name] !== undefined))
    return { ok: false, expected: oneOf.map((name) => `${name}=…`).join(' or '), found: 'none' };
  const defaults = names.flatMap((name) => (asks[name]!.default === undefined ? [] : [[name, asks[name]!.default] as const]));
  return { ok: true, given: { ...Object.fromEntries(defaults), ...words } };
}

/** The workload issuer of a preset, as it is registered; `jwks` is JSON. @throws SyntaxError where it is none */
export function issuerOfPreset({ label, issuer, audience, lifetimeSecondsMax }: WorkloadPreset, given: Given): Json {
  const { jwks, jwks_uri } = given;
  return {
    name: label,
    issuer: issuer(given),
    keys: jwks !== undefined ? { jwks: JSON.parse(jwks) } : jwks_uri !== undefined ? { jwks_uri } : { discovery: true },
    ...(audience !== undefined && { audiences: [audience(given)] }),
    ...(lifetimeSecondsMax !== undefined && { lifetime_seconds_max: lifetimeSecondsMax }),
  };
}

/** Which tokens a program of a preset is known by. */
export const workloadOfPreset = (preset: WorkloadPreset, given: Given): Workload => ({
  issuer: preset.issuer(given),
  ...preset.workload(given),
});

/** How a shell sends the token of a platform: as the program's authentication, or as its grant. */
export function requestOfToken(
  issuer: string,
  { clientId, isGrant }: { readonly clientId: string; readonly isGrant: boolean },
): readonly string[] {
  const form = isGrant
    ? ['-d grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer', '--data-urlencode "assertion=$platform_token"']
    : [
        `-d grant_type=client_credentials -d client_id=${clientId}`,
        '-d client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        '--data-urlencode "client_assertion=$platform_token"',
      ];
  const [first, ...rest] = [`curl -sS --fail-with-body ${quoted(`${issuer}/v1/idp/oidc/token`)}`, ...form, '| jq -r .access_token)'];
  return [`token=$(${first}`, ...rest.map((part) => `  ${part}`)].map((line, at, all) => (at === all.length - 1 ? line : `${line} \\`));
}
