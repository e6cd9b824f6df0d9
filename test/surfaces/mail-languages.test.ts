// In which language a mail is written: the person's, else that of the request, else English. For the PIN at sign-in, the PINs
// and the notice of the device plane.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createAccountTenant, createPerson, domainTenant } from '../support/account.ts';
import { databases } from '../support/databases.ts';
import { createEnrollmentToken, type Redeemed, type TestUser, testDevice } from '../support/enrolled-phone.ts';
import { createClient } from '../support/fixtures.ts';
import { beginLogin } from '../support/login.ts';
import { mailsTo } from '../support/mailbox.ts';
import { jsonOf, type Managed } from '../support/management.ts';
import { createPhone } from '../support/phone.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** What a person has, what the request says, what is written. */
const cases = [
  [{ preferred_language: 'de' }, 'fr', 'de'],
  [{ preferred_language: 'ja-JP', locale: 'fr-FR' }, 'de', 'ja'],
  [{ locale: 'fr-CA' }, 'de', 'fr'],
  [{ preferred_language: 'es', locale: 'es' }, 'pt, fr;q=0.5', 'fr'],
  [{}, 'de-AT', 'de'],
  [{}, undefined, 'en'],
] as const;

const pinSubjects = { en: /is your code for/, de: /ist Ihr Code für/, fr: /est votre code pour/, ja: /確認コード/ } as const;
const deviceSubjects = { en: /A phone was added/, de: /Ein Telefon wurde/, fr: /Un téléphone a été/, ja: /スマートフォンが追加/ } as const;

for (const database of databases) {
  describe(`languages of mails on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createAccountTenant(server, { device: { additional_device: 'email_pin' } });
    });
    after(() => server.close());

    const lastSubject = async (person: TestUser): Promise<string> => (await mailsTo(server, person.email))[0]?.subject ?? '';
    const headersOf = (language: string | undefined): Readonly<Record<string, string>> => ({ 'accept-language': language ?? '*' });

    for (const [wishes, asked, written] of cases)
      it(`${JSON.stringify(wishes)}, asked in ${asked ?? 'no language'}: ${written}`, async () => {
        const person = await createPerson(tenant, wishes);
        const domain = await domainTenant(server, tenant);
        const login = await beginLogin(server, domain, await createClient(server.gatehouse.services, domain));
        const identified = await login.post('identify', { identifier: person.email }, headersOf(asked));
        assert.equal(identified.status, 200);
        assert.match(await lastSubject(person), pinSubjects[written]);

        const invited = await createPerson(tenant, wishes);
        const phone = createPhone(tenant.baseUrl, server.clock.nowMs);
        const pinToken = await createEnrollmentToken(server, invited, 86_400_000, true);
        const body = { device: testDevice, keys: phone.publicKeys() };
        await jsonOf(await phone.post('/enrollment/redeem', { enrollment_token: pinToken, ...body }, { headers: headersOf(asked) }), 202);
        assert.match(await lastSubject(invited), pinSubjects[written]);

        const owner = await createPerson(tenant, wishes);
        const second = createPhone(tenant.baseUrl, server.clock.nowMs);
        const token = await createEnrollmentToken(server, owner);
        const answer = await second.post('/enrollment/redeem', { enrollment_token: token, device: testDevice, keys: second.publicKeys() });
        const redeemed = await jsonOf<Redeemed>(answer, 200);
        const proofs = second.proofs(redeemed.attestation.challenge);
        await jsonOf(
          await second.post('/enroll', { registration_token: redeemed.registration_token, proofs }, { headers: headersOf(asked) }),
          201,
        );
        assert.match(await lastSubject(owner), deviceSubjects[written]);
      });

    it('a registration: the PIN and its successor', async () => {
      const person = await createPerson(tenant, { preferred_language: 'fr' });
      const phone = createPhone(tenant.baseUrl, server.clock.nowMs);
      const started = await phone.post('/registration/start', { email: person.email, device: testDevice, keys: phone.publicKeys() });
      const { registration_token: token } = await jsonOf<{ registration_token: string }>(started, 202);
      assert.match(await lastSubject(person), pinSubjects.fr);
      await server.clock.advance(61_000);
      assert.equal((await phone.post('/pin/resend', { registration_token: token })).status, 202);
      const subjects = (await mailsTo(server, person.email)).map(({ subject }) => subject);
      assert.equal(subjects.length, 2);
      for (const subject of subjects) assert.match(subject, pinSubjects.fr);
    });
  });
}
