// SimpleSAMLphp in front of us, each knowing the other by metadata alone. Its release 1.19 encrypts with CBC whatever it is told, which
// we refuse.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openSamlWorld } from '../support/external-saml.ts';
import { signInThere } from '../support/keycloak-people.ts';
import type { Json } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { rsaKeys } from '../support/rsa-keys.ts';
import { hasSimpleSamlPhp } from '../support/simplesamlphp.ts';
import { type SimpleSamlIdp, startSimpleSamlIdp } from '../support/simplesamlphp-idp.ts';

const person = { uid: 'zoe-1', mail: 'zoe@php.example', givenName: 'Zoë', sn: 'Ångström' };

if (hasSimpleSamlPhp())
  describe('SimpleSAMLphp as the other provider', async () => {
    const world = await openSamlWorld('sqlite');
    const { server, managed, callback, registerSaml, begin, leave, jsonOf, finish } = world;
    let idp: SimpleSamlIdp;
    before(async () => {
      idp = await startSimpleSamlIdp(rsaKeys('simplesamlphp-idp'), person);
      await registerSaml({ metadata: await idp.metadata(), create_users: true });
    });
    after(async () => {
      await idp.close();
      await server.close();
    });
    /** There and back; gives our answer. */
    const come = async (at: Awaited<ReturnType<typeof begin>>): Promise<Response> => {
      const { url, form } = await signInThere(await leave(at, 'corp'), callback);
      const kept = await fetch(url, { method: 'POST', redirect: 'manual', body: form ?? null });
      return at.browser.send(kept.headers.get('location') ?? '');
    };

    it('a person comes from there, and is the same the second time', async () => {
      idp.trust(await (await fetch(`${callback}/metadata`)).text(), false);
      const subjects: unknown[] = [];
      for (let time = 0; time < 2; time += 1) {
        const at = await begin();
        assert.deepEqual(await jsonOf(await come(at)), { state: 'approved' });
        subjects.push((await finish(at))['sub']);
      }
      assert.equal(subjects[0], subjects[1]);
      const user = await managed.make('GET', `/users/${subjects[0]}`);
      assert.deepEqual(user['name'], { given_name: person.givenName, family_name: person.sn });
    });

    it('its answers encrypted with CBC are refused', async () => {
      idp.trust(await (await fetch(`${callback}/metadata`)).text(), true);
      await assertRefusal(await come(await begin()), 'login.external_refused');
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/events?type=external_login.failed&limit=1');
      assert.equal(items[0]?.['reason'], 'encryption_algorithm http://www.w3.org/2001/04/xmlenc#aes128-cbc');
    });
  });
