// A service provider from metadata in the console: pasted and uploaded, shown and then saved, by one form without scripts; what is no such
// form, or too large, is refused; and the wizard that sets SCIM up and tries it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { consoleUploadBytesMax } from '../../src/contract/limits.ts';
import { samlMetadataXmlLimits } from '../../src/contract/saml-metadata-limits.ts';
import { createConsoleTenant, openConsole, previewedIn } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import type { Json } from '../support/management.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import { signMetadata } from '../support/saml-requests.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const metadataOf = (entityId: string): string =>
  `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}"><md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://sp.example/acs" index="0"/></md:SPSSODescriptor></md:EntityDescriptor>`;

for (const database of databases) {
  describe(`console, set-up of others, on ${database}`, () => {
    let server: TestServer;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const { tenant, email } = await createConsoleTenant(server);
      ({ visitor } = await openConsole(server, tenant, email));
    });
    after(() => server.close());

    const post = async (body: FormData | string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      visitor.keep(
        await fetch(`${visitor.tenant.baseUrl}/console/service-providers/import`, {
          method: 'POST',
          redirect: 'manual',
          headers: { accept: 'text/html', cookie: visitor.cookie(), origin: new URL(visitor.tenant.baseUrl).origin, ...headers },
          body,
        }),
      );
    const formOf = (
      metadata: string,
      file: string | undefined,
      csrf = visitor.csrf,
      more: Readonly<Record<string, string>> = {},
    ): FormData => {
      const form = new FormData();
      form.set('csrf', `${csrf}.${randomUUID()}`);
      form.set('file', new Blob(file === undefined ? [] : [file]), file === undefined ? '' : 'metadata.xml');
      form.set('metadata', metadata);
      for (const [name, value] of Object.entries(more)) form.set(name, value);
      return form;
    };
    /** Shown, and saved by the form that shows it. */
    const shown = async (form: FormData): Promise<string> => {
      const response = await post(form);
      const text = await response.text();
      assert.equal(response.status, 200, noticeOf(text));
      return text;
    };
    const savingOf = (text: string): FormData => {
      const { metadata = '', ...more } = previewedIn(text);
      return formOf(metadata, undefined, visitor.csrf, more);
    };
    const pageAfter = async (response: Response): Promise<string> => {
      assert.equal(response.status, 303, noticeOf(await response.text()));
      return (await visitor.page((response.headers.get('location') ?? '').replace(/^.*\/console/, ''))).text();
    };
    const registered = async (entityId: string): Promise<Json | undefined> =>
      (await visitor.tenant.make<{ items: readonly Json[] }>('GET', '/service-providers?limit=200')).items.find(
        (item) => item['entity_id'] === entityId,
      );
    const entityIds = async (): Promise<readonly unknown[]> =>
      (await visitor.tenant.make<{ items: readonly Json[] }>('GET', '/service-providers')).items.map((item) => item['entity_id']);
    const noticeOf = (text: string): string => /id="notice">([^<]*)/.exec(text)?.[1] ?? '';

    it('pasted, uploaded, and given again: shown, and then made, made, updated', async () => {
      for (const [metadata, file, entityId, title] of [
        [metadataOf('https://pasted.example'), undefined, 'https://pasted.example', 'Add'],
        ['', metadataOf('https://uploaded.example'), 'https://uploaded.example', 'Add'],
        [metadataOf('https://pasted.example'), undefined, 'https://pasted.example', 'Update'],
      ] as const) {
        const before = await entityIds();
        const text = await shown(formOf(metadata, file));
        for (const part of [
          `<h1>${title} ${entityId}?</h1>`,
          'https://sp.example/acs',
          'Nothing is saved yet',
          'may be unsigned',
          '>never<',
        ])
          assert.ok(text.includes(part), part);
        assert.deepEqual(await entityIds(), before);
        const page = await pageAfter(await post(savingOf(text)));
        assert.equal(noticeOf(page), `The metadata of ${entityId} was imported.`);
        assert.ok(page.includes(entityId));
      }
      assert.deepEqual((await entityIds()).toSorted(), ['https://pasted.example', 'https://uploaded.example']);
    });

    it('the same form sent twice saves once', async () => {
      const saving = savingOf(await shown(formOf(metadataOf('https://twice.example'), undefined)));
      await pageAfter(await post(saving));
      assert.match(noticeOf(await pageAfter(await post(saving))), /^This form was sent before/);
    });

    it('what changed meanwhile is shown, and nothing is saved', async () => {
      const entityId = 'https://meanwhile.example';
      const moved = metadataOf(entityId).replace('sp.example/acs', 'sp.example/moved');
      await pageAfter(await post(savingOf(await shown(formOf(metadataOf(entityId), undefined)))));
      const text = await shown(formOf('', moved));
      assert.equal((text.match(/>changes</g) ?? []).length, 1);
      const { id } = (await registered(entityId))!;
      await visitor.tenant.make('PATCH', `/service-providers/${String(id)}`, { name: 'Another <name>' });
      const refused = await post(savingOf(text));
      const now = await refused.text();
      assert.equal(refused.status, 400);
      assert.match(noticeOf(now), /^This has changed since you looked, and nothing was saved\./);
      assert.ok(now.includes('<h1>Update Another &#60;name&#62;?</h1>'));
      assert.ok(JSON.stringify((await registered(entityId))!['acs']).includes('sp.example/acs'));
      await pageAfter(await post(savingOf(now)));
      assert.ok(JSON.stringify((await registered(entityId))!['acs']).includes('sp.example/moved'));
    });

    it('who signs it: verified in what is given, kept, and asked for again; a fault stands at its field', async () => {
      const entityId = 'https://signed.example';
      const certificate = await certificatePem(rsaKeys());
      const unsigned = metadataOf(entityId).replace('<md:EntityDescriptor', '<md:EntityDescriptor ID="_m"').replaceAll('><', '>\n\t<');
      // As a file of another system is: what a browser makes of it must not break the signature.
      const signed = `\ufeff<?xml version="1.0"?>\n${signMetadata(unsigned, rsaKeys().privateKey)}`.replaceAll('\n', '\r\n');
      for (const [document, metadata_certificate, where, words] of [
        [signed, 'no certificate', 'field-metadata_certificate-wrong', /PEM/],
        [signed, await certificatePem(rsaKeys('second')), 'notice', /^The document is signed by another key\.$/],
        [unsigned, certificate, 'notice', /^The document is not signed, and a signature is asked for\.$/],
      ] as const) {
        const response = await post(formOf(document, undefined, visitor.csrf, { metadata_certificate }));
        const text = await response.text();
        assert.equal(response.status, 400);
        assert.match(new RegExp(`id="${where}">([^<]*)`).exec(text)?.[1] ?? '', words);
        for (const typed of [metadata_certificate.split('\n', 1)[0]!, 'entityID=&#34;https://signed.example&#34;'])
          assert.ok(text.includes(typed), typed);
      }
      assert.equal(await registered(entityId), undefined);
      const text = await shown(formOf('', signed, visitor.csrf, { metadata_certificate: certificate }));
      assert.match(text, /must be signed by <code>[0-9A-F:]{95}<\/code> until/);
      await pageAfter(await post(savingOf(text)));
      assert.equal((await registered(entityId))!['metadata_certificate'], certificate.trim());
      const again = await post(formOf(unsigned, undefined));
      assert.match(noticeOf(await again.text()), /^The document is not signed/);
      assert.ok(!(await shown(formOf(signed, undefined))).includes('>changes<'));
    });

    it('what was left out is shown, and told, escaped, on the page of the provider', async () => {
      const metadata = metadataOf('https://remarks.example').replace(
        '</md:SPSSODescriptor>',
        '<md:AssertionConsumerService Binding="urn:x:&lt;b&gt;" Location="https://sp.example/x" index="1"/></md:SPSSODescriptor>',
      );
      const left = /Left out: AssertionConsumerService https:\/\/sp\.example\/x: the binding is &#60;b&#62;, answers go by HTTP-POST/;
      const preview = await shown(formOf(metadata, undefined));
      assert.match(preview, left);
      const text = await pageAfter(await post(savingOf(preview)));
      assert.match(text, left);
      const [item] = (await visitor.tenant.make<{ items: readonly Json[] }>('GET', '/service-providers?search=remarks')).items;
      assert.ok(text.includes(`/console/service-providers/${item?.['id']}"`));
    });

    it('what is no metadata is refused with the reason, and stays typed', async () => {
      const before = await entityIds();
      for (const [metadata, file, notice] of [
        ['<no-metadata/>', undefined, /Expected an EntityDescriptor or EntitiesDescriptor/],
        ['', '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>', /Expected well-formed SAML metadata/],
        ['', undefined, /Give the address, choose a file, or paste the metadata/],
      ] as const) {
        const response = await post(formOf(metadata, file));
        const text = await response.text();
        assert.equal(response.status, 400);
        assert.match(noticeOf(text), notice);
        if (metadata !== '') assert.ok(text.includes('&#60;no-metadata/&#62;'));
      }
      assert.deepEqual(await entityIds(), before);
    });

    it('forged and broken forms: 403 and 400, and nothing is made', async () => {
      const before = await entityIds();
      const good = metadataOf('https://forged.example');
      assert.equal((await post(formOf(good, undefined, 'wrong'))).status, 403);
      assert.equal((await post(formOf(good, undefined), { origin: 'https://evil.example' })).status, 403);
      const boundary = { 'content-type': 'multipart/form-data; boundary=b' };
      const part = (name: string, value: string): string => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
      const whole = `${part('csrf', `${visitor.csrf}.1`)}${part('metadata', good)}`;
      assert.equal((await post(whole, boundary)).status, 400); // no end
      assert.equal((await post('nothing of the kind', boundary)).status, 400);
      assert.equal((await post(whole, { 'content-type': 'multipart/form-data' })).status, 400); // no boundary
      assert.equal((await post(`${part('csrf', `${visitor.csrf}.1`)}${part('x', '1').repeat(200)}--b--\r\n`, boundary)).status, 400);
      assert.deepEqual(await entityIds(), before);
    });

    it('limits: metadata as large as may be is imported, one byte more is refused, by the API and by the form', async () => {
      // A line is a byte longer once a browser has sent it.
      const padded = (bytes: number): string =>
        metadataOf('https://large.example').replace(
          '></md:Entity',
          (end) => `>${'\n'.repeat(bytes - metadataOf('https://large.example').length)}${end.slice(1)}`,
        );
      const { bytesMax } = samlMetadataXmlLimits;
      assert.equal(padded(bytesMax).length, bytesMax);
      await pageAfter(await post(savingOf(await shown(formOf('', padded(bytesMax))))));
      await shown(formOf(padded(bytesMax), undefined));
      assert.equal((await post(formOf('', padded(bytesMax + 1)))).status, 400);
      assert.equal((await post(formOf('', padded(consoleUploadBytesMax + 1)))).status, 400);
      assert.equal((await post(formOf('', padded(consoleUploadBytesMax * 2)))).status, 413);
    });

    it('SCIM: a client is made, its secret shown once, and it works', async () => {
      const text = await (await visitor.page('/scim')).text();
      assert.ok(text.includes(`${visitor.tenant.baseUrl}/scim/v2`));
      const made = await visitor.act('/scim', { name: 'Entra' });
      assert.equal(noticeOf(made), 'The application was made, and it works.');
      const id = /id="made-client-id">([^<]+)/.exec(made)?.[1] ?? '';
      const secret = /id="made-client-secret">([^<]+)/.exec(made)?.[1] ?? '';
      const client = await visitor.tenant.make('GET', `/clients/${id}`);
      assert.deepEqual(
        [client['name'], client['grant_types'], client['scopes'], client['token_endpoint_auth_method']],
        ['Entra', ['client_credentials'], ['scim:read', 'scim:write'], 'client_secret_post'],
      );
      const tried = await visitor.submit('/scim/test', { client_id: id, client_secret: secret });
      assert.equal(tried.status, 200);
      const results = await tried.text();
      assert.equal(noticeOf(results), 'It works.');
      assert.equal((results.match(/>works</g) ?? []).length, 3);
    });

    it('SCIM: what does not work is said: a wrong secret, a client without the scopes; basic works too', async () => {
      const wrong = await visitor.submit('/scim/test', { client_id: 'nobody', client_secret: 'wrong' });
      assert.equal(wrong.status, 400);
      assert.match(noticeOf(await wrong.text()), /^Token: expected 200, found 401 invalid_client/);
      const fields = {
        name: 'Basic',
        type: 'confidential',
        token_endpoint_auth_method: 'client_secret_basic',
        grant_types: ['client_credentials'],
      };
      for (const [scopes, status] of [
        [['scim:read', 'scim:write'], 200],
        [['users:read'], 400],
      ] as const) {
        const client = await visitor.tenant.make('POST', '/clients', { ...fields, scopes });
        const typed = { client_id: String(client['client_id']), client_secret: String(client['client_secret']) };
        assert.equal((await visitor.submit('/scim/test', typed)).status, status);
      }
      assert.equal((await visitor.submit('/scim', { name: '' })).status, 400);
    });
  });
}
