// A SAML application in the console from the address of its metadata, without scripts: what it says is shown first and then saved, or what it
// says by then is shown; faults stand at their fields; who may not write reads no address. The API's part: saml-import-address.test.ts.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { pageBytesMax } from '../../journeys/page-bounds.ts';
import { samlAcsPerProviderMax, urlCharsMax } from '../../src/contract/limits.ts';
import { samlMetadataReadsPerMinuteMax } from '../../src/contract/saml-metadata-limits.ts';
import { createConsoleTenant, openConsole, previewedIn } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import type { Json } from '../support/management.ts';
import { acs, entity, key, type MetadataWorld, md, openMetadataWorld, role, simple } from '../support/metadata-host.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';

for (const database of databases) {
  describe(`console, a SAML application by address, on ${database}`, () => {
    let world: MetadataWorld;
    let visitor: AppVisitor;
    let pem: string;
    let made = 0;
    before(async () => {
      world = await openMetadataWorld(database);
      pem = await certificatePem(rsaKeys());
      visitor = await open({});
    });
    after(() => world.close());

    async function open(person: Json): Promise<AppVisitor> {
      const { tenant, email } = await createConsoleTenant(world.server, person);
      return (await openConsole(world.server, tenant, email)).visitor;
    }
    function application() {
      made += 1;
      const path = `/console-${made}`;
      return {
        entityId: `https://console-${made}.example`,
        url: `${world.origin}${path}`,
        serve: (body: string) => void world.answers.set(path, { body }),
        asked: () => world.asked.filter((request) => request.path === path).length,
      };
    }
    const upload = async (fields: Readonly<Record<string, string>>, who = visitor, file?: string): Promise<Response> => {
      const form = new FormData();
      form.set('csrf', fields['csrf'] ?? `${who.csrf}.${randomUUID()}`);
      form.set('file', new Blob(file === undefined ? [] : [file]), file === undefined ? '' : 'metadata.xml');
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      return who.keep(
        await fetch(`${who.tenant.baseUrl}/console/service-providers/import`, {
          method: 'POST',
          redirect: 'manual',
          headers: { accept: 'text/html', cookie: who.cookie(), origin: new URL(who.tenant.baseUrl).origin },
          body: form,
        }),
      );
    };
    const noticeOf = (text: string): string => /id="notice">([^<]*)/.exec(text)?.[1] ?? '';
    const entityIds = async (): Promise<readonly unknown[]> =>
      (await visitor.tenant.make<{ items: readonly Json[] }>('GET', '/service-providers?limit=200')).items.map((item) => item['entity_id']);
    const confirm = (text: string, who = visitor): Promise<Response> => upload(previewedIn(text), who);

    it('shown, and saved as it was shown; a reload shows it again', async () => {
      const one = application();
      one.serve(entity(one.entityId, role(key(pem, 'signing') + acs('https://sp.example/acs'), 'AuthnRequestsSigned="true"')));
      const csrf = `${visitor.csrf}.${randomUUID()}`;
      for (const _look of ['first', 'reload']) {
        const shown = await upload({ metadata_url: one.url, csrf });
        const text = await shown.text();
        assert.equal(shown.status, 200);
        for (const part of [`Add ${one.entityId}?`, 'https://sp.example/acs', 'must be signed<', 'Nothing is saved yet', one.url])
          assert.ok(text.includes(part), part);
        assert.ok(!(await entityIds()).includes(one.entityId));
        if (_look === 'first') continue;
        const saved = await confirm(text);
        assert.equal(saved.status, 303, noticeOf(await saved.text()));
        const page = await (await visitor.page((saved.headers.get('location') ?? '').replace(/^.*\/console/, ''))).text();
        assert.equal(noticeOf(page), `The metadata of ${one.entityId} was imported.`);
      }
      const [item] = (await visitor.tenant.make<{ items: readonly Json[] }>('GET', `/service-providers?search=${one.entityId}`)).items;
      assert.deepEqual([item?.['metadata_url'], item?.['require_signed_requests']], [one.url, true]);
      const again = await (await upload({ metadata_url: one.url })).text();
      assert.match(again, new RegExp(`<h1>Update ${one.entityId}\\?</h1>`));
      assert.match(again, /id="known"/);
      assert.ok(!again.includes('>changes<'));
      one.serve(entity(one.entityId, role(key(pem, 'signing') + acs('https://sp.example/new'))));
      const moved = await (await upload({ metadata_url: one.url })).text();
      assert.match(
        moved,
        /<dt>Answers go to<\/dt><dd><span class="badge plain">changes<\/span> <code>https:\/\/sp\.example\/new<\/code><div class="muted">Until now: <code>https:\/\/sp\.example\/acs<\/code><\/div><\/dd>/,
      );
      assert.equal((moved.match(/>changes</g) ?? []).length, 1);
    });

    it('what is there is another by the time it is saved: nothing is saved, and that is shown', async () => {
      const one = application();
      one.serve(simple(one.entityId));
      const text = await (await upload({ metadata_url: one.url })).text();
      one.serve(entity(one.entityId, role(acs('https://moved.example/acs'))));
      const refused = await confirm(text);
      const now = await refused.text();
      assert.equal(refused.status, 400);
      assert.match(noticeOf(now), /^This has changed since you looked, and nothing was saved\./);
      assert.ok(now.includes('https://moved.example/acs'));
      assert.ok(!(await entityIds()).includes(one.entityId));
      assert.equal((await confirm(now)).status, 303);
      assert.ok((await entityIds()).includes(one.entityId));
    });

    it('a form that was made up saves nothing that was not shown', async () => {
      const one = application();
      one.serve(simple(one.entityId));
      for (const digest of ['', 'x', 'x'.repeat(43)]) {
        const response = await upload({ metadata_url: one.url, digest });
        assert.equal(response.status, 400);
      }
      assert.equal((await visitor.submit('/service-providers/import', { metadata_url: one.url, digest: 'x'.repeat(43) })).status, 400);
      assert.ok(!(await entityIds()).includes(one.entityId));
    });

    it('faults stand at their fields, in words with what to do; what was typed stays', async () => {
      const several = application();
      several.serve(
        `<md:EntitiesDescriptor ${md}>${simple('https://one.example')}${simple('https://two.example')}</md:EntitiesDescriptor>`,
      );
      const page = application();
      page.serve('<!doctype html><p>Sign in</p>');
      const gone = application();
      for (const [typed, field, words] of [
        [
          { metadata_url: 'http://10.0.0.1/' },
          'metadata_url',
          /not known, or is not public\. Check the spelling\. The operator of this server can allow/,
        ],
        [{ metadata_url: 'https://nobody.invalid/' }, 'metadata_url', /not known, or is not public/],
        [{ metadata_url: 'sp.example' }, 'metadata_url', /An https URL/],
        [{ metadata_url: page.url }, 'metadata_url', /There is no SAML metadata at this address\. Give the address of the metadata itself/],
        [{ metadata_url: gone.url }, 'metadata_url', /The host answered 404\. Check the address/],
        [
          { metadata_url: several.url },
          'entity_id',
          /Say which one with “Entity ID”\. The metadata has: https:\/\/one\.example, https:\/\/two\.example\./,
        ],
        [{ metadata_url: several.url, entity_id: 'https://three.example' }, 'entity_id', /does not name that entity once/],
      ] as const) {
        const response = await upload(typed);
        const text = await response.text();
        assert.equal(response.status, 400, typed.metadata_url);
        assert.match(/id="field-[a-z_]+-wrong">([^<]*)/.exec(text)?.[0] ?? '', new RegExp(`^id="field-${field}-wrong"`), noticeOf(text));
        assert.match(/-wrong">([^<]*)/.exec(text)?.[1] ?? '', words);
        assert.ok(text.includes(`name="metadata_url" id="field-metadata_url" value="${typed.metadata_url}"`));
      }
      const two = await upload({ metadata_url: several.url, entity_id: 'https://two.example' });
      assert.equal((await confirm(await two.text())).status, 303);
      assert.ok((await entityIds()).includes('https://two.example'));
      const pasted = await upload({
        metadata: `<md:EntitiesDescriptor ${md}>${simple('https://four.example')}${simple('https://five.example')}</md:EntitiesDescriptor>`,
        entity_id: 'https://five.example',
      });
      assert.equal((await confirm(await pasted.text())).status, 303);
      for (const [fields, file] of [
        [{ metadata_url: several.url, metadata: simple('https://x.example') }, undefined],
        [{ metadata_url: several.url }, simple('https://x.example')],
      ] as const) {
        const text = await (await upload(fields, visitor, file)).text();
        assert.equal(noticeOf(text), 'Give one of them: the address, a file or the text.');
      }
      assert.match(noticeOf(await (await upload({})).text()), /^Give the address, choose a file, or paste the metadata\.$/);
    });

    it('text of the document is escaped, and a long document is a short page', async () => {
      const one = application();
      const evil = '&lt;script&gt;alert(1)&lt;/script&gt;';
      const long = (at: number): string => `https://sp.example/${at}/`.padEnd(urlCharsMax, 'x');
      const services = Array.from({ length: samlAcsPerProviderMax }, (_, at) => acs(long(at), `index="${at}"`)).join('');
      const unknown = Array.from({ length: 200 }, (_, at) => `<md:NameIDFormat>urn:${evil}:${at}${'y'.repeat(500)}</md:NameIDFormat>`).join(
        '',
      );
      one.serve(entity(`${one.entityId}/${evil}`, role(unknown + services)));
      const text = await (await upload({ metadata_url: one.url })).text();
      assert.ok(text.includes('&#60;script&#62;alert(1)'));
      assert.ok(!text.includes('<script>alert'));
      assert.ok(Buffer.byteLength(text) < pageBytesMax, String(Buffer.byteLength(text)));
      assert.ok(text.includes(`and ${samlAcsPerProviderMax - 8} more`));
    });

    it('forged forms and those of others: refused, and no address is read', async () => {
      const one = application();
      one.serve(simple(one.entityId));
      assert.equal((await upload({ metadata_url: one.url, csrf: 'wrong.1' })).status, 403);
      const reader = await open({ role: 'user', admin_roles: ['auditor'] });
      for (const response of [
        await upload({ metadata_url: one.url }, reader),
        await upload({ metadata_url: one.url, digest: 'x'.repeat(43) }, reader),
      ])
        assert.ok(response.status >= 400, String(response.status));
      assert.equal(one.asked(), 0);
      assert.equal((await reader.page('/service-providers/import')).status, 403);
    });

    it('samlMetadataReadsPerMinuteMax: beyond the budget, the page says to wait', async () => {
      const own = await open({});
      const one = application();
      one.serve(simple(one.entityId));
      for (let at = 0; at < samlMetadataReadsPerMinuteMax; at += 1)
        await own.tenant.make('POST', '/service-providers/import/address', { metadata_url: one.url, dry_run: true });
      const text = await (await upload({ metadata_url: one.url }, own)).text();
      assert.equal(noticeOf(text), 'Too many addresses were read within a minute. Wait a minute, and try again.');
    });
  });
}
