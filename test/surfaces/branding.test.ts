// Branding (design 13, 3): pictures by what their bytes are, colours people can see, a draft nobody sees, publish and undo.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { deflateSync } from 'node:zlib';
import { imageBytesMax, imagePixelsMax, imagesPerTenantMax } from '../../src/contract/limits.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { jpegOf, pngChunk, pngHeader, pngOf, pngOfBytes, pngSignature, webpChunk, webpOf } from '../support/pictures.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>');
const script = '<script>alert(document.domain)</script>';

for (const database of databases) {
  describe(`branding on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server.close());

    const upload = (bytes: Buffer, type = 'image/png', at = tenant): Promise<Response> =>
      fetch(`${at.managementApi}/images`, {
        method: 'POST',
        headers: { authorization: `Bearer ${at.token}`, 'content-type': type },
        body: new Uint8Array(bytes),
      });
    const uploaded = async (bytes: Buffer, type?: string, at?: Managed): Promise<Json> => jsonOf(await upload(bytes, type, at), 201);
    const served = async (image: Json): Promise<Buffer> => Buffer.from(await (await fetch(String(image['url']))).arrayBuffer());
    const pageOf = async (at: Managed): Promise<string> =>
      (await fetch(`${at.baseUrl}/v1/idp/oidc/authorize?client_id=nobody`, { headers: { accept: 'text/html' } })).text();

    it('a picture is served at its SHA-256, in a sandbox, for ever', async () => {
      const png = pngOf(20, 10);
      const image = await uploaded(png);
      const sha256 = createHash('sha256').update(png).digest('hex');
      assert.deepEqual(
        { ...image, created_at: undefined },
        {
          sha256,
          type: 'image/png',
          width: 20,
          height: 10,
          size_bytes: png.length,
          url: `${tenant.baseUrl}/assets/${sha256}`,
          created_at: undefined,
        },
      );
      const answer = await fetch(String(image['url']));
      assert.equal(answer.status, 200);
      assert.deepEqual(
        ['content-type', 'content-security-policy', 'x-content-type-options', 'cache-control'].map((name) => answer.headers.get(name)),
        ['image/png', "default-src 'none'; sandbox", 'nosniff', 'public, max-age=31536000, immutable'],
      );
      assert.ok(Buffer.from(await answer.arrayBuffer()).equals(png));
      assert.deepEqual((await uploaded(png))['sha256'], sha256);
      assert.ok((await tenant.make<{ items: Json[] }>('GET', '/images')).items.some((one) => one['sha256'] === sha256));
    });

    it('management.not_found: a picture of another tenant, one that is none, and what is no SHA-256', async () => {
      const image = await uploaded(pngOf(3, 3));
      const other = await createTestTenant(server);
      for (const path of [`/assets/${String(image['sha256'])}`, `/assets/${'0'.repeat(64)}`, '/assets/..%2fsettings', '/assets/x'])
        await assertRefusal(await fetch(`${other.baseUrl}${path}`), 'management.not_found');
      await assertRefusal(await other.call('DELETE', `/images/${String(image['sha256'])}`), 'management.not_found');
      await assertRefusal(await fetch(String(image['url']), { method: 'POST' }), 'management.method_not_allowed');
    });

    it('what the bytes are counts, not what they are called; and what draws nothing is not kept', async () => {
      const text = pngChunk('tEXt', Buffer.from(`Comment\0${script}`));
      const zip = Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.from(script)]);
      const png = await uploaded(pngOf(4, 4, { extra: [text, pngChunk('iCCP', Buffer.from(script))], behind: zip }), 'image/jpeg');
      assert.equal(png['type'], 'image/png');
      assert.ok((await served(png)).equals(pngOf(4, 4)));
      const jpeg = await uploaded(jpegOf(5, 4, { comment: script, behind: zip }));
      assert.deepEqual([jpeg['type'], jpeg['width'], jpeg['height']], ['image/jpeg', 5, 4]);
      assert.ok((await served(jpeg)).equals(jpegOf(5, 4)));
      const webp = await uploaded(
        Buffer.concat([webpOf(6, 4, [webpChunk('EXIF', Buffer.from(script)), webpChunk('XMP ', Buffer.from(script))]), zip]),
      );
      assert.deepEqual([webp['type'], webp['width'], webp['height']], ['image/webp', 6, 4]);
      assert.ok((await served(webp)).equals(webpOf(6, 4)));
    });

    it('management.invalid_request: SVG, pages, bombs, animations and damaged files', async () => {
      const bomb = pngChunk('IDAT', deflateSync(Buffer.alloc(64 * 1024 * 1024)));
      const end = pngChunk('IEND', Buffer.alloc(0));
      const broken = pngOf(4, 4);
      broken[40] = broken[40]! ^ 1;
      const hostile: readonly Buffer[] = [
        svg,
        Buffer.from(`<!doctype html>${script}`),
        Buffer.concat([Buffer.from('GIF89a'), svg]),
        Buffer.alloc(0),
        Buffer.concat([pngSignature, pngHeader(4, 4), bomb, end]),
        Buffer.concat([pngSignature, pngHeader(0xffffffff, 0xffffffff), bomb, end]),
        Buffer.concat([pngSignature, pngHeader(4, 4), end]),
        Buffer.concat([pngSignature, pngHeader(4, 4), pngHeader(4, 4), pngOf(4, 4).subarray(33)]),
        pngOf(4, 4).subarray(0, -5),
        broken,
        Buffer.from([0xff, 0xd8, 0xff, 0xe0]),
        jpegOf(4, 4).subarray(0, 12),
        jpegOf(0, 4),
        webpOf(4, 4).subarray(0, 18),
        webpOf(4, 4, [webpChunk('ANIM', Buffer.alloc(6))]),
      ];
      for (const [index, bytes] of hostile.entries()) {
        const answer = await upload(bytes);
        await assertRefusal(answer, 'management.invalid_request', {
          kind: 'image',
          text: `The body must be a PNG, JPEG or WebP of at most 256 kB and 1024 pixels a side, not moving.`,
        }).catch((error: unknown) => assert.fail(`hostile file ${index}: ${String(error)}`));
      }
      await assertRefusal(await tenant.call('POST', '/images', { png: 'x' }), 'management.invalid_request', { kind: 'image', text: /./ });
      await assertRefusal(await upload(svg, 'image/svg+xml'), 'management.unsupported_media_type');
      await assertRefusal(
        await fetch(`${tenant.managementApi}/settings`, {
          method: 'PATCH',
          headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'image/png' },
          body: new Uint8Array(pngOf(1, 1)),
        }),
        'management.unsupported_media_type',
      );
    });

    it('imagePixelsMax, imageBytesMax and imagesPerTenantMax: n and n+1', async () => {
      await uploaded(pngOf(imagePixelsMax, 1));
      for (const bytes of [
        pngOf(imagePixelsMax + 1, 1),
        pngOf(1, imagePixelsMax + 1),
        jpegOf(imagePixelsMax + 1, 1),
        webpOf(imagePixelsMax + 1, 1),
      ])
        await assertRefusal(await upload(bytes), 'management.invalid_request', { kind: 'image', text: /./ });
      assert.equal(pngOfBytes(imageBytesMax).length, imageBytesMax);
      await uploaded(pngOfBytes(imageBytesMax));
      await assertRefusal(await upload(pngOfBytes(imageBytesMax + 1)), 'management.payload_too_large');
      const own = await createTestTenant(server);
      for (let width = 1; width <= imagesPerTenantMax; width += 1) await uploaded(pngOf(width, 1), 'image/png', own);
      await assertRefusal(await upload(pngOf(1, 2), 'image/png', own), 'management.conflict', { kind: 'images', text: /./ });
      await uploaded(pngOf(1, 1), 'image/png', own);
    });

    it('a draft is seen by nobody until it is published; undo brings back what was', async () => {
      const own = await createTestTenant(server);
      const logo = String((await uploaded(pngOf(8, 8), 'image/png', own))['sha256']);
      const none = { published: {}, draft: null, can_undo: false };
      assert.deepEqual(await own.make('GET', '/branding'), none);
      const draft = {
        logo,
        favicon: logo,
        accent: '#123456',
        background: '#ffffff',
        corner_radius: 4,
        help_url: 'https://help.example/?a="b"',
      };
      assert.deepEqual(await own.make('PUT', '/branding/draft', draft), { published: {}, draft, can_undo: false });
      const unbranded = await pageOf(own);
      assert.ok(!unbranded.includes(logo) && !unbranded.includes('#123456'));
      assert.deepEqual(await own.make('POST', '/branding/publish'), { published: draft, draft: null, can_undo: true });
      const page = await pageOf(own);
      for (const part of [
        `<img class="logo" src="${own.baseUrl}/assets/${logo}" alt="Tenant ${own.slug}">`,
        `<link rel="icon" href="${own.baseUrl}/assets/${logo}">`,
        '--accent:#123456',
        '--page:#ffffff',
        '--card-corner:4px',
        '<a href="https://help.example/?a=&#34;b&#34;" rel="noreferrer">Help</a>',
      ])
        assert.ok(page.includes(part), `${part}\n${page.slice(0, 1500)}`);
      assert.deepEqual((await own.make('GET', '/settings'))['branding'], draft);
      assert.deepEqual(await own.make('POST', '/branding/undo'), { published: {}, draft: null, can_undo: true });
      assert.ok(!(await pageOf(own)).includes(logo));
      assert.deepEqual((await own.make('POST', '/branding/undo'))['published'], draft);
      const types = (await own.make<{ items: Json[] }>('GET', '/events?limit=20')).items.map((event) => event['type']);
      for (const type of ['image.added', 'branding.drafted', 'branding.published', 'branding.undone'])
        assert.ok(types.includes(type), type);
    });

    it('management.conflict: nothing to publish, to undo or to discard, and a picture that is shown', async () => {
      const own = await createTestTenant(server);
      await assertRefusal(await own.call('POST', '/branding/publish'), 'management.conflict', {
        kind: 'draft',
        text: 'There is no draft to publish.',
      });
      await assertRefusal(await own.call('POST', '/branding/undo'), 'management.conflict', {
        kind: 'previous',
        text: 'Nothing was published before.',
      });
      await assertRefusal(await own.call('DELETE', '/branding/draft'), 'management.not_found');
      const logo = String((await uploaded(pngOf(8, 8), 'image/png', own))['sha256']);
      await own.make('PUT', '/branding/draft', { logo });
      await assertRefusal(await own.call('DELETE', `/images/${logo}`), 'management.conflict', { kind: 'sha256', text: /./ });
      assert.equal((await own.call('DELETE', '/branding/draft')).status, 204);
      assert.equal((await own.call('DELETE', `/images/${logo}`)).status, 204);
      await assertRefusal(await own.call('PUT', '/branding/draft', { logo }), 'management.invalid_request', {
        kind: 'logo',
        text: /upload it first/,
      });
    });

    it('of ten who publish one draft at once, one does', async () => {
      const own = await createTestTenant(server);
      await own.make('PUT', '/branding/draft', { accent: '#123456' });
      const answers = await Promise.all(Array.from({ length: 10 }, () => own.call('POST', '/branding/publish')));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array.from({ length: 9 }, () => 409)]);
    });

    it('management.invalid_request: an accent nobody can see names the nearest; nothing but the closed fields', async () => {
      const refused = async (draft: Json, kind: string, text: string | RegExp): Promise<void> => {
        await assertRefusal(await tenant.call('PUT', '/branding/draft', draft), 'management.invalid_request', { kind, text });
        await assertRefusal(await tenant.call('PATCH', '/settings', { branding: draft }), 'management.invalid_request', {
          kind: `branding.${kind}`,
          text,
        });
      };
      const nearest =
        'This field must have a contrast of 3:1 with its card (#ffffff), and #ffee00 has 1.20:1; the nearest that has it is #a29700.';
      await refused({ accent: '#ffee00' }, 'accent', nearest);
      await refused({ accent_color: '#ffee00' }, 'accent_color', nearest);
      await tenant.make('PUT', '/branding/draft', { accent: '#a29700' });
      await refused({ accent_dark: '#123456' }, 'accent_dark', /3:1 with its card \(#161925\).*the nearest that has it is #/);
      await refused({ background: '#333333' }, 'background', /4\.5:1 with the text on it/);
      await refused({ background_dark: '#ffffff' }, 'background_dark', /4\.5:1 with the text on it/);
      for (const accent of ['red', '#fff', '#12345g', '#123456;}body{display:none', 'url(//evil.example)', '</style><script>'])
        await refused({ accent }, 'accent', /./);
      for (const url of ['javascript:alert(1)', 'http://help.example', 'https://u:p@help.example', '"><script>', 'data:text/html,x'])
        await refused({ help_url: url }, 'help_url', 'This field must be an https address.');
      for (const corner of [-1, 25, 1.5, '4']) await refused({ corner_radius: corner }, 'corner_radius', /./);
      await refused({ css: 'body{}' }, 'css', 'This field is not known here.');
      await refused({ logo: 'https://evil.example/logo.png' }, 'logo', /./);
    });

    it('accent_color is another name of accent: the last one written counts', async () => {
      const own = await createTestTenant(server);
      const branding = async (change: Json): Promise<unknown> => (await own.make('PATCH', '/settings', { branding: change }))['branding'];
      assert.deepEqual(await branding({ accent_color: '#123456' }), { accent_color: '#123456' });
      assert.ok((await pageOf(own)).includes('--accent:#123456'));
      assert.deepEqual(await branding({ accent: '#654321' }), { accent: '#654321' });
      assert.ok((await pageOf(own)).includes('--accent:#654321'));
      assert.deepEqual(await branding({ accent_color: '#112233' }), { accent_color: '#112233' });
      assert.deepEqual(await branding({ accent_color: null }), {});
    });

    it('a hostile name of a tenant does nothing beside its logo', async () => {
      const own = await createTestTenant(server);
      const name = `"><img src=x onerror=alert(1)>${script}`;
      await server.gatehouse.services.cache.write(own.id as never, (queries) =>
        queries
          .updateTable('tenants')
          .set({ name })
          .where('tenant_id', '=', own.id as never)
          .execute(),
      );
      const { sha256 } = await uploaded(pngOf(2, 2), 'image/png', own);
      await own.make('PATCH', '/settings', { branding: { logo: sha256 } });
      const page = await pageOf(own);
      assert.ok(page.includes('alt="&#34;&#62;&#60;img'));
      assert.ok(!page.includes('<img src=x') && !page.includes(script));
    });

    it('management.forbidden: reading and writing need branding:read and branding:write', async () => {
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: tenant.adminClientId,
        client_secret: tenant.adminClientSecret,
        scope: 'settings:write branding:read',
      });
      const { access_token: token } = await jsonOf<{ access_token: string }>(
        await fetch(`${tenant.baseUrl}/v1/idp/oidc/token`, { method: 'POST', body }),
        200,
      );
      const call = (method: string, path: string): Promise<Response> =>
        fetch(`${tenant.managementApi}${path}`, {
          method,
          headers: { authorization: `Bearer ${token}`, ...(method === 'GET' ? {} : { 'content-type': 'application/json' }) },
          ...(method === 'GET' ? {} : { body: '{}' }),
        });
      assert.equal((await call('GET', '/branding')).status, 200);
      for (const [method, path] of [
        ['PUT', '/branding/draft'],
        ['POST', '/branding/publish'],
        ['POST', '/branding/undo'],
        ['POST', '/images'],
      ] as const)
        await assertRefusal(await call(method, path), 'management.forbidden', { text: 'The token lacks the capability branding:write.' });
    });
  });
}
