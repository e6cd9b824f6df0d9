// Debian's Shibboleth service provider, unmodified, from metadata alone; then REFEDS affiliation and the roles of AWS by rules alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rsaKeys } from '../support/rsa-keys.ts';
import { person, tryWebsite } from '../support/saml-website-trial.ts';
import { hasShibboleth, startShibboleth } from '../support/shibboleth.ts';

if (hasShibboleth())
  tryWebsite({
    name: 'Shibboleth',
    open: (idp) => startShibboleth(rsaKeys(), idp),
    bindings: ['redirect', 'post'],
    encryption: 'aes256-gcm',
    shows: [person.email, person.displayName],
    more: ({ tenant, sites, introduce, visit, user }) => {
      test('REFEDS affiliation and the roles of AWS by rules alone', async () => {
        const { id } = await introduce(sites().unsigned);
        for (const name of ['uni-staff', 'uni-alumni', 'aws-Admin', 'aws-ReadOnly']) {
          const group = await tenant().make('POST', '/groups', { display_name: name });
          await tenant().make('POST', `/groups/${group['id']}/members`, { user_id: user() });
        }
        const affiliation = { strip: 'uni-', values: { staff: 'staff', students: 'student' }, template: '{value}@uni.example' };
        await tenant().make('PATCH', `/service-providers/${id}`, {
          mappings: [
            { to: 'urn:oid:1.3.6.1.4.1.5923.1.1.1.9', from: 'groups', only: { prefix: ['uni-'] }, ...affiliation },
            {
              to: 'https://aws.amazon.com/SAML/Attributes/Role',
              from: 'groups',
              only: { prefix: ['aws-'] },
              strip: 'aws-',
              template: 'arn:aws:iam::123456789012:role/{value}',
            },
          ],
        });
        const page = await visit(sites().unsigned);
        for (const shown of [
          person.email,
          'staff@uni.example',
          'arn:aws:iam::123456789012:role/Admin;arn:aws:iam::123456789012:role/ReadOnly',
        ])
          assert.ok(page.includes(shown), `expected ${shown}: ${page.slice(0, 2000)}`);
        assert.ok(!page.includes('alumni'), page.slice(0, 2000));
      });
    },
  });
