// Platforms whose tokens programs are commonly known by (design 18, part 3): what each asks for, whose tokens those are, which of them the
// program is, and what is written on the platform. Data for `client create --workload`, and for forms. Pure.
import { isDeepStrictEqual } from 'node:util';
import { urlCharsMax, workloadLifetimeSecondsMax } from '../../contract/limits.ts';
import type { Json } from '../field.ts';
import { quoted } from '../shell.ts';
import type { Workload, WorkloadIssuer } from './workload.ts';

/** A value that a preset asks for. */
export interface PresetAsk {
  /** On a form, where it is not its name. */
  readonly label?: string;
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
  /** What was given, of such a workload and the audiences of its issuer; undefined: it is of another platform. */
  readonly read: (workload: Workload, audiences: readonly string[]) => Given | undefined;
  readonly snippets: (writing: Writing) => readonly Snippet[];
}

const digits = /^[0-9]+$/;
const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const dnsName = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

const issuerAsked = { about: 'the iss of its tokens' } as const;
/** Where its keys are, for those whose discovery document is not to be read. */
const keysAsked = {
  jwks_uri: { label: 'Address of its keys', about: 'the address of its keys, instead of its discovery document', isOptional: true },
  jwks: { label: 'Its keys', about: 'its keys themselves, as JSON', isOptional: true },
} as const;

const shell = (lines: readonly string[]): Snippet => ({ language: 'sh', text: lines.join('\n') });
const yaml = (lines: readonly string[]): Snippet => ({ language: 'yaml', text: lines.join('\n') });
const indented = (lines: readonly string[], by: number): readonly string[] => lines.map((line) => `${' '.repeat(by)}${line}`);
const inQuery = (text: string): string => encodeURIComponent(text).replaceAll("'", '%27');

/** Of what was given, what its tokens say by the same name; or of what they say, what was given. */
const claimsOf = (given: Given, names: readonly string[]): Given =>
  Object.fromEntries(names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));

/** What stands at the names of a pattern. */
const partsOf = (pattern: RegExp, text: string | undefined): Given | undefined => {
  const found = text === undefined ? null : pattern.exec(text);
  return found === null ? undefined : { ...found.groups };
};

/** Of workloads that are named by claims: those, where the first is there. */
const readClaims =
  (...names: readonly string[]) =>
  ({ issuer, claims = {} }: Workload): Given | undefined =>
    claims[names[0]!] === undefined ? undefined : { issuer, ...claimsOf(claims, names) };

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
  read: ({ issuer, subject }) => {
    const parts = partsOf(/^system:serviceaccount:(?<namespace>[^:]+):(?<service_account>[^:]+)$/, subject);
    return parts && { issuer, ...parts };
  },
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
  read: readClaims('repository_id', 'environment', 'ref'),
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
  read: readClaims('project_id', 'ref_protected'),
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

const googleIssuer = 'https://accounts.google.com';

const google: WorkloadPreset = {
  label: 'Google Cloud',
  asks: {
    service_account: { about: 'its number: gcloud iam service-accounts describe EMAIL --format="value(uniqueId)"', syntax: digits },
  },
  issuer: () => googleIssuer,
  workload: ({ service_account }) => ({ subject: service_account! }),
  read: ({ issuer, subject }) => (issuer === googleIssuer && subject !== undefined ? { service_account: subject } : undefined),
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
  read: ({ issuer, subject }) => (subject?.startsWith('arn:') === true ? { issuer, role: subject } : undefined),
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
  read: ({ issuer, subject }, [audience]) => {
    const parts = partsOf(/^https:\/\/login\.microsoftonline\.com\/(?<tenant>[^/]+)\/v2\.0$/, issuer);
    return parts && subject !== undefined && audience !== undefined
      ? { ...parts, object_id: subject, application_id: audience }
      : undefined;
  },
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
  read: ({ issuer, subject }) => (subject?.startsWith('spiffe://') === true ? { id: subject, issuer } : undefined),
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
  /** Of which value, what was expected, and what was found. */
  | { readonly ok: false; readonly name: string; readonly expected: string; readonly found: string };

/** What a preset was given, with its defaults. */
export function readPreset({ asks, oneOf }: Pick<WorkloadPreset, 'asks' | 'oneOf'>, words: Given): ReadPreset {
  const names = Object.keys(asks);
  for (const [name, value] of Object.entries(words)) {
    if (!Object.hasOwn(asks, name)) return { ok: false, name, expected: `one of ${names.join(', ')}`, found: name };
    const { about, syntax } = asks[name]!;
    const isLong = name !== 'jwks' && value.length > urlCharsMax;
    if (value === '' || isLong || syntax?.test(value) === false)
      return { ok: false, name, expected: `${name}=… (${about})`, found: isLong ? `${value.length} characters` : JSON.stringify(value) };
  }
  const missing = names.find((name) => words[name] === undefined && asks[name]!.default === undefined && asks[name]!.isOptional !== true);
  if (missing !== undefined) return { ok: false, name: missing, expected: `${missing}=… (${asks[missing]!.about})`, found: 'none' };
  if (oneOf !== undefined && !oneOf.some((name) => words[name] !== undefined))
    return { ok: false, name: oneOf[0]!, expected: oneOf.map((name) => `${name}=…`).join(' or '), found: 'none' };
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

/** How an issuer that is there differs from what a preset takes, after "expected": whoever wrote other keys would be the client. */
export function whyNotTaken(
  { keys, audiences, enabled }: Pick<WorkloadIssuer, 'keys' | 'audiences' | 'enabled'>,
  wanted: Json,
): string | undefined {
  if (!enabled) return 'to be enabled, found it disabled';
  if (!isDeepStrictEqual(keys, wanted['keys'])) return `with the keys ${shown(wanted['keys'])}, found ${shown(keys)}`;
  const [audience] = (wanted['audiences'] ?? []) as readonly string[]; // issuerOfPreset names one at most
  return audience === undefined || audiences.includes(audience) ? undefined : `with the audience ${audience}, found ${shown(audiences)}`;
}

/** Keys may be long. */
const shown = (value: unknown): string => JSON.stringify(value).slice(0, 200);
