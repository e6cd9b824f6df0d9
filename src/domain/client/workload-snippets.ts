// What is written on the platform of a client that is known by its tokens: read back from what is registered, so that whoever made the client,
// and however, finds it. Pure.
import { jwtBearerGrantType, machineGrantType } from '../oidc/grant-types.ts';
import { quoted } from '../shell.ts';
import type { Workload } from './workload.ts';
import { readPreset, type Snippet, type WorkloadPreset, workloadPresets } from './workload-presets.ts';

type Given = Readonly<Record<string, string>>;

/** Whose tokens they are: the platform that such workloads are of, and what was given to it. */
interface Recognised {
  readonly preset: WorkloadPreset;
  readonly given: Given;
}

/** The platform of a workload; undefined where none of ours makes such. */
export function platformOf(workload: Workload, audiences: readonly string[]): Recognised | undefined {
  for (const preset of Object.values(workloadPresets)) {
    const words = preset.read(workload, audiences);
    const read = words === undefined ? undefined : readPreset(preset, words);
    if (read?.ok === true) return { preset, given: read.given };
  }
  return undefined;
}

/** The client that a snippet is of. */
interface Known {
  readonly clientId: string;
  readonly grantTypes: readonly string[];
}

/** What a workload's platform is told, and how the program gets its token. `audiences`: of its issuer. */
export function snippetsOf(
  baseUrl: string,
  { preset, given, audiences }: Recognised & { readonly audiences: readonly string[] },
  { clientId, grantTypes }: Known,
): readonly Snippet[] {
  const isGrant = grantTypes.includes(jwtBearerGrantType) && !grantTypes.includes(machineGrantType);
  return preset.snippets({
    given,
    audience: preset.audience?.(given) ?? audiences[0] ?? baseUrl,
    request: requestOfToken(baseUrl, { clientId, isGrant }),
  });
}

/** How a shell sends the token of a platform: as the program's authentication, or as its grant. */
function requestOfToken(
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
