// `gatehouse key rotate`.
import { type Command, Option } from 'commander';
import { rotateSigningKey } from '../../administration/signing-keys.ts';
import type { SigningAlg } from '../../domain/client/client.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { rotateSamlKeys } from '../../tokens/saml-keys.ts';
import { CommandFailure } from '../failure.ts';
import { type Administrator, addCommonOptions, addTenantOption, administer, by, loadTenant, type Options } from './administrator.ts';

export function keyCommand(program: Command): void {
  const key = program.command('key').description('Signing keys');
  addCommonOptions(addTenantOption(key.command('rotate').description('Make the next key current and publish a new next one')))
    .addOption(new Option('--use <use>', 'what the key signs').choices(['oidc', 'saml']).default('oidc'))
    .addOption(new Option('--alg <alg>', 'algorithm of OIDC keys (that of access tokens when absent)').choices(['ES256', 'RS256', 'EdDSA']))
    .option('--force', 'saml: sign with the next key before service providers had 30 days to read it')
    .action(rotate);
}

async function rotate(options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const alg = (options['alg'] ?? tenant.settings.access_token_alg) as SigningAlg; // commander checked the choices
    const kid =
      options['use'] === 'saml'
        ? await rotateSaml(administrator, tenant, options['force'] === true)
        : (await rotateSigningKey(administrator, tenant.id, alg, by))?.kid;
    if (kid === undefined) throw new CommandFailure('expected to rotate alone, found another rotation under way. Try again');
    const use = String(options['use']);
    administrator.print({ kid, use, alg: use === 'saml' ? 'RS256' : alg }, `Key ${kid} of tenant ${tenant.slug} signs from now on.`);
  });
}

async function rotateSaml(administrator: Administrator, tenant: Tenant, force: boolean): Promise<string | undefined> {
  const rotation = await rotateSamlKeys(administrator, tenant, { actor: by.actor, requestId: undefined, force });
  if (rotation.ok) return rotation.kid;
  if (rotation.reason === 'rotated_meanwhile') return undefined;
  const day = new Date(rotation.signsFromMs).toISOString().slice(0, 10);
  throw new CommandFailure(
    `expected a next certificate that providers had 30 days to read, found one that may sign from ${day}. Add --force`,
  );
}
