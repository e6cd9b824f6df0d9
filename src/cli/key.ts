// `gatehouse key rotate`.
import { type Command, Option } from 'commander';
import { rotateSigningKey } from '../administration/signing-keys.ts';
import type { SigningAlg } from '../domain/client.ts';
import { rotateSamlKeys } from '../tokens/saml-keys.ts';
import { addCommonOptions, addTenantOption, administer, by, loadTenant, type Options } from './administrator.ts';
import { CommandFailure } from './failure.ts';

export function keyCommand(program: Command): void {
  const key = program.command('key').description('Signing keys');
  addCommonOptions(addTenantOption(key.command('rotate').description('Make the next key current and publish a new next one')))
    .addOption(new Option('--use <use>', 'what the key signs').choices(['oidc', 'saml']).default('oidc'))
    .addOption(new Option('--alg <alg>', 'algorithm of OIDC keys (that of access tokens when absent)').choices(['ES256', 'RS256', 'EdDSA']))
    .action(rotate);
}

async function rotate(options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const alg = (options['alg'] ?? tenant.settings.access_token_alg) as SigningAlg; // commander checked the choices
    const kid =
      options['use'] === 'saml'
        ? await rotateSamlKeys(administrator, tenant, { actor: by.actor, requestId: undefined })
        : (await rotateSigningKey(administrator, tenant.id, alg, by))?.kid;
    if (kid === undefined) throw new CommandFailure('expected to rotate alone, found another rotation under way. Try again');
    const use = String(options['use']);
    administrator.print({ kid, use, alg: use === 'saml' ? 'RS256' : alg }, `Key ${kid} of tenant ${tenant.slug} signs from now on.`);
  });
}
