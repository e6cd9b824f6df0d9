// Debian's SimpleSAMLphp, unmodified, from metadata alone.
import { test } from 'node:test';
import { assertRefusal } from '../support/refusal.ts';
import { rsaKeys } from '../support/rsa-keys.ts';
import { openVisitor, type SamlWebsite } from '../support/saml-website.ts';
import { person, tryWebsite } from '../support/saml-website-trial.ts';
import { hasSimpleSamlPhp, startSimpleSamlPhp } from '../support/simplesamlphp.ts';

let sha1: SamlWebsite;
if (hasSimpleSamlPhp())
  tryWebsite({
    name: 'SimpleSAMLphp',
    open: async (idp) => {
      const sites = await startSimpleSamlPhp(rsaKeys(), idp);
      sha1 = sites.sha1;
      return sites;
    },
    bindings: ['redirect', 'post'],
    encryption: 'aes256-gcm',
    shows: [person.email, person.displayName, person.userName],
    more: ({ introduce, ask }) => {
      test('told to sign with SHA-1 it stays refused', async () => {
        await introduce(sha1);
        await assertRefusal(await ask(openVisitor(), sha1, 'redirect'), 'saml.signature_invalid');
      });
    },
  });
