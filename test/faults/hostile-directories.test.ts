// Servers of LDAP that mean no good, or are broken: each ends within its limit, as the failure it is, and costs no more than a page of memory.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import {
  directoryConnectSecondsMax,
  directoryEmptyPagesMax,
  directoryGroupsMax,
  directoryMessageBytesMax,
  directoryMessageValuesMax,
  directoryPageEntries,
  directoryPageSecondsMax,
  directoryPeopleMax,
} from '../../src/contract/directory-limits.ts';
import { readingLimits } from '../../src/directories/ldap/pages.ts';
import type { LdapDirectory } from '../../src/domain/extending/ldap-directory.ts';
import { failureOf, ldapDirectory, openDirectory, readAll, readDirectory } from '../support/directory-readers.ts';
import { ber, doneMessage, entryMessage, message, octets } from '../support/ldap-messages.ts';
import { type LdapRequest, type Play, type PlayedServer, playServer, playSocket, readRequests } from '../support/ldap-server.ts';

const short = { connectMs: 500, pageMs: 500 };
const personMessage = (id: number, name: number | string): Buffer =>
  entryMessage(id, `uid=p${name},dc=x`, { entryUUID: [`id-${name}`], uid: [`p${name}`] });
/** Answers the search of people; groups are none. */
const people =
  (answer: (request: LdapRequest, socket: Socket) => unknown): Play =>
  async (request, socket) => {
    if (request.operation !== 'search' || request.base === '') return false;
    await answer(request, socket);
    return true;
  };

describe('hostile servers of LDAP', () => {
  let server: Pick<PlayedServer, 'url' | 'stop' | 'connections'> & Partial<PlayedServer>;
  const at = (fields: Partial<LdapDirectory> = {}): LdapDirectory =>
    ldapDirectory({ url: server.url, ca: server.ca, groups: 'none', ...fields });
  const failure = (fields: Partial<LdapDirectory> = {}, limits = {}) =>
    failureOf(readDirectory(at(fields), { limits: { ...short, ...limits } }));
  afterEach(() => server?.stop());

  it('silence after connecting, during TLS, at the bind and at the search is a time-out', async () => {
    server = await playSocket(() => undefined);
    assert.deepEqual(await failure(), { reason: 'timeout', detail: 'no answer in time' });
    await server.stop();
    for (const silentAt of ['bind', 'search'] as const) {
      server = await playServer(({ operation, base }) => operation === silentAt && (silentAt === 'bind' || base !== ''));
      assert.equal((await failure()).reason, 'timeout', silentAt);
      await server.stop();
    }
    assert.deepEqual([readingLimits.connectMs, readingLimits.pageMs], [directoryConnectSecondsMax * 1000, directoryPageSecondsMax * 1000]);
  });

  it('silence after STARTTLS, and an answer to it with something behind it', async () => {
    server = await playSocket((socket) => readRequests(socket, [], () => true));
    const starttls = { url: server.url.replace('ldaps', 'ldap'), starttls: true };
    assert.equal((await failure(starttls)).reason, 'timeout');
    await server.stop();
    for (const [behind, reason, detail] of [
      [doneMessage(2, 0, '', { operation: 'bind' }), 'malformed', 'something else than an answer to STARTTLS'],
      [Buffer.from([0x30, 0x84, 0, 0, 4, 0]), 'malformed', 'something else than an answer to STARTTLS'],
    ] as const) {
      const requests: LdapRequest[] = [];
      server = await playSocket((socket) =>
        readRequests(socket, requests, ({ id }) => {
          socket.write(Buffer.concat([doneMessage(id, 0, '', { operation: 'extended' }), behind]));
          return true;
        }),
      );
      assert.deepEqual(await failure({ url: server.url.replace('ldaps', 'ldap'), starttls: true }), { reason, detail });
      assert.deepEqual(
        requests.map(({ operation }) => operation),
        ['extended'],
      );
      await server.stop();
    }
  });

  it('STARTTLS that is refused, and answered by something else: nobody is signed in in the clear', async () => {
    for (const [answer, reason] of [
      [(id: number) => doneMessage(id, 2, 'no TLS here', { operation: 'extended' }), 'refused'],
      [(id: number) => doneMessage(id, 0, '', { operation: 'bind' }), 'malformed'],
      [(id: number) => doneMessage(id + 1, 0, '', { operation: 'extended' }), 'malformed'],
      [() => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), 'malformed'],
    ] as const) {
      const requests: LdapRequest[] = [];
      server = await playSocket((socket) =>
        readRequests(socket, requests, ({ id, operation }) => {
          if (operation === 'extended') socket.write(answer(id));
          return true;
        }),
      );
      assert.equal((await failure({ url: server.url.replace('ldaps', 'ldap'), starttls: true })).reason, reason);
      assert.deepEqual(
        requests.map(({ operation }) => operation),
        ['extended'],
      );
      await server.stop();
    }
  });

  it('a page that comes in drops has its time as a whole', async () => {
    server = await playServer(
      people(async ({ id }, socket) => {
        for (const byte of personMessage(id, 1)) {
          if (socket.destroyed) return;
          socket.write(Buffer.from([byte]));
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }),
    );
    assert.equal((await failure({}, { pageMs: 200 })).reason, 'timeout');
  });

  it('pages that never end: too many people, and no more of them than that', async () => {
    let sent = 0;
    server = await playServer(
      people(async ({ id }, socket) => {
        while (!socket.destroyed) {
          const some = Array.from({ length: 100 }, (_, at) => personMessage(id, sent + at));
          sent += some.length;
          if (!socket.write(Buffer.concat(some))) await new Promise((resolve) => socket.once('drain', resolve));
        }
      }),
    );
    assert.deepEqual(await failure({}, { people: 20_000, pageMs: 30_000 }), { reason: 'too_many', detail: 'more than 20000 entries' });
    assert.equal(readingLimits.people, directoryPeopleMax);
  });

  it('as many people and groups as may be, and one more', async () => {
    server = await playServer(
      people(({ id }, socket) => {
        socket.write(Buffer.concat([...[1, 2, 3].map((name) => personMessage(id, name)), doneMessage(id, 0)]));
      }),
    );
    assert.equal((await readDirectory(at(), { limits: { people: 3 } })).people.entries.length, 3);
    assert.equal((await failure({}, { people: 2 })).reason, 'too_many');
    const groups = { groups: 'all', groupBaseDn: 'ou=groups,dc=x' } as const;
    assert.equal((await readDirectory(at(groups), { limits: { groups: 3 } })).groups.entries.length, 3);
    assert.equal((await failure(groups, { groups: 2 })).reason, 'too_many');
    assert.equal(readingLimits.groups, directoryGroupsMax);
  });

  it('the same page again and again, however its cookie changes', async () => {
    let pages = 0;
    server = await playServer(
      people(({ id }, socket) => {
        pages += 1;
        const cookie = Buffer.from(String(pages));
        socket.write(Buffer.concat([personMessage(id, 'x'), personMessage(id, pages), doneMessage(id, 0, '', { cookie })]));
      }),
    );
    assert.deepEqual(await failure(), { reason: 'malformed', detail: 'the same page again' });
    assert.equal(pages, 2);
  });

  it('pages without anybody: as many as may be, and one more', async () => {
    let left = directoryEmptyPagesMax;
    server = await playServer(
      people(({ id }, socket) => {
        left -= 1;
        socket.write(
          left < 0 ? Buffer.concat([personMessage(id, 1), doneMessage(id, 0)]) : doneMessage(id, 0, '', { cookie: Buffer.from('again') }),
        );
      }),
    );
    assert.equal((await readDirectory(at())).people.entries.length, 1);
    left = directoryEmptyPagesMax + 1;
    assert.deepEqual(await failure(), { reason: 'malformed', detail: `more than ${directoryEmptyPagesMax} pages without an entry` });
  });

  it('a message as long as may be is waited for, a longer one and garbage are not', async () => {
    const head = (bytes: number): Buffer => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes);
      return Buffer.concat([Buffer.from([0x30, 0x84]), length]);
    };
    for (const [bytes, reason] of [
      [head(directoryMessageBytesMax - 6), 'timeout'],
      [head(directoryMessageBytesMax - 5), 'malformed'],
      [head(0xffff_ffff), 'malformed'],
      [Buffer.from([0x30, 0x80]), 'malformed'],
      [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), 'malformed'],
      [Buffer.alloc(4096, 0xff), 'malformed'],
      [message(2, ber(0x64, Buffer.concat([octets('cn=x'), Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff])]))), 'malformed'],
    ] as const) {
      server = await playServer(people((_, socket) => void socket.write(bytes)));
      assert.equal((await failure()).reason, reason, bytes.subarray(0, 8).toString('hex'));
      await server.stop();
    }
  });

  it('an entry of as many values as may be, and of one more', async () => {
    const group = (values: number): Play =>
      people(({ id }, socket) => {
        // The values of its id, its name and its members, and three attributes.
        const members = Array.from({ length: values - 5 }, (_, at) => `cn=${at}`);
        socket.write(Buffer.concat([entryMessage(id, 'cn=g', { entryUUID: ['g'], cn: ['g'], member: members }), doneMessage(id, 0)]));
      });
    const groups = { groups: 'all', groupBaseDn: 'ou=groups,dc=x' } as const;
    const limits = { pageMs: 60_000 };
    server = await playServer((request, socket) => request.base === 'ou=groups,dc=x' && group(directoryMessageValuesMax)(request, socket));
    const { groups: read } = await readDirectory(at({ ...groups, baseDn: 'ou=groups,dc=x' }), { limits });
    assert.equal(read.entries[0]?.members.length, directoryMessageValuesMax - 5);
    await server.stop();
    server = await playServer(
      (request, socket) => request.base === 'ou=groups,dc=x' && group(directoryMessageValuesMax + 1)(request, socket),
    );
    assert.deepEqual(await failure({ ...groups, baseDn: 'ou=groups,dc=x' }, limits), {
      ...{ reason: 'too_many', detail: `more than ${directoryMessageValuesMax} values of an entry` },
    });
    await server.stop();
    // A message of two bytes an attribute or value is refused before it is a hundred times as large.
    const empty = ber(0x30, Buffer.alloc(6 * (directoryMessageValuesMax + 1), Buffer.from([0x30, 0x04, 0x04, 0x00, 0x31, 0x00])));
    server = await playServer(
      people(({ id }, socket) => void socket.write(message(id, ber(0x64, Buffer.concat([octets('cn=x'), empty]))))),
    );
    assert.equal((await failure({}, limits)).reason, 'too_many');
  });

  it('garbage instead of TLS is no TLS', async () => {
    for (const said of ['HTTP/1.1 400 Bad Request\r\n\r\n', '\0'.repeat(5000), '\x15\x03\x01\x00\x02\x02\x28']) {
      server = await playSocket((socket) => void socket.write(said));
      assert.equal((await failure()).reason, 'malformed', said.slice(0, 10));
      await server.stop();
    }
  });

  it('a connection that ends: at once, at the bind, within an entry, between them; and one that is told so before', async () => {
    server = await playSocket((socket) => socket.destroy());
    assert.equal((await failure()).reason, 'unreachable');
    await server.stop();
    const plays: readonly Play[] = [
      ({ operation }, socket) => operation === 'bind' && void socket.destroy() === undefined,
      people(({ id }, socket) => socket.end(personMessage(id, 1).subarray(0, 20))),
      people(({ id }, socket) => socket.end(personMessage(id, 1))),
    ];
    for (const play of plays) {
      server = await playServer(play);
      assert.deepEqual(await failure(), { reason: 'unreachable', detail: 'the connection was closed' });
      await server.stop();
    }
    server = await playServer(people((_, socket) => socket.end(doneMessage(0, 52, 'shutting down\u001b[2J', { operation: 'extended' }))));
    assert.deepEqual(await failure(), { reason: 'unreachable', detail: 'disconnected: shutting down [2J' });
    await server.stop();
    assert.equal((await failure()).reason, 'unreachable', 'nobody listens');
  });

  it('answers to other requests are passed over, and an answer of another kind is none', async () => {
    server = await playServer(
      people(({ id }, socket) => {
        socket.write(Buffer.concat([personMessage(id + 7, 9), doneMessage(id + 7, 0), personMessage(id, 1), doneMessage(id, 0)]));
      }),
    );
    assert.equal((await readDirectory(at())).people.entries.length, 1);
    await server.stop();
    server = await playServer(people(({ id }, socket) => void socket.write(doneMessage(id, 0, '', { operation: 'bind' }))));
    assert.equal((await failure()).reason, 'malformed');
    await server.stop();
    server = await playServer(({ operation, id }, socket) => operation === 'bind' && socket.write(doneMessage(id, 0)) !== undefined);
    assert.equal((await failure()).reason, 'malformed');
  });

  it('a password is not told a server that is asked with none, and not shown where a server says it', async () => {
    const said: LdapRequest[] = [];
    server = await playServer((request, socket) => {
      said.push(request);
      return (
        request.operation === 'bind' &&
        socket.write(doneMessage(request.id, 49, 'no: secret-of-mine\r\n', { operation: 'bind' })) !== undefined
      );
    });
    assert.deepEqual(await failureOf(openDirectory(at(), { password: 'secret-of-mine' })), {
      reason: 'refused',
      detail: 'result 49: no: ***',
    });
    assert.equal(said.length, 1);
    assert.equal((await failureOf(openDirectory(at(), { password: '' }))).reason, 'refused');
    assert.equal((await failureOf(openDirectory(at({ bindDn: '' }), { password: 'x' }))).reason, 'refused');
    assert.equal(said.length, 1);
  });

  it('how a search ends says why there is no more', async () => {
    for (const [code, reason] of [
      ...([
        [3, 'partial'],
        [4, 'partial'],
        [9, 'partial'],
        [11, 'partial'],
        [32, 'no_entry'],
        [34, 'no_entry'],
        [10, 'no_entry'],
      ] as const),
      ...([
        [50, 'refused'],
        [53, 'refused'],
        [51, 'unreachable'],
        [52, 'unreachable'],
        [1, 'malformed'],
        [80, 'malformed'],
        [127, 'malformed'],
      ] as const),
    ]) {
      server = await playServer(
        people(({ id }, socket) => void socket.write(Buffer.concat([personMessage(id, 1), doneMessage(id, code, 'why')]))),
      );
      assert.deepEqual(await failure(), { reason, detail: `result ${code}: why` });
      await server.stop();
    }
  });

  it('what was yielded before is whole, and people of a page that breaks are nobody', async () => {
    server = await playServer(
      people(({ id }, socket) => {
        const some = Array.from({ length: directoryPageEntries + 20 }, (_, at) => personMessage(id, at));
        socket.end(Buffer.concat(some));
      }),
    );
    const reader = await openDirectory(at());
    const seen: number[] = [];
    await assert.rejects(async () => {
      for await (const { entries } of reader.people()) seen.push(entries.length);
    }, /unreachable/);
    assert.deepEqual(seen, [directoryPageEntries]);
    await reader.close();
  });

  it('whoever stops is not kept waiting', async () => {
    server = await playServer(people(() => undefined));
    const abort = new AbortController();
    const reader = await openDirectory(at(), { signal: abort.signal });
    const reading = failureOf(readAll(reader.people()));
    setImmediate(() => abort.abort());
    assert.equal((await reading).reason, 'timeout');
    await reader.close();
    assert.equal((await failureOf(openDirectory(at(), { signal: AbortSignal.abort() }))).reason, 'timeout');
  });

  it('an address of ours, a name without an address and one in the clear are called by nobody', async () => {
    server = await playServer(() => false);
    assert.equal((await failureOf(openDirectory(at(), { allow: [] }))).reason, 'not_allowed');
    assert.equal((await failureOf(openDirectory(at(), { resolve: async () => [] }))).reason, 'unreachable');
    const mixed = [
      { address: '127.0.0.1', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ];
    assert.equal((await failureOf(openDirectory(at(), { resolve: async () => mixed }))).reason, 'not_allowed');
    assert.equal((await failureOf(openDirectory(at({ url: server.url.replace('ldaps', 'ldap') })))).reason, 'not_allowed');
    const never = new Promise<never>(() => undefined);
    assert.equal((await failureOf(openDirectory(at(), { resolve: () => never, limits: short }))).reason, 'timeout');
    assert.equal(server.connections(), 0);
  });

  it('a certificate of another name, another authority, or of yesterday', async () => {
    const admitted = async () => [{ address: '127.0.0.1', family: 4 }];
    const at127 = () => server.url.replace('localhost', '127.0.0.1');
    const reasonOf = async (fields: Partial<LdapDirectory>): Promise<string> => {
      try {
        await (await openDirectory(at(fields), { resolve: admitted, limits: short })).close();
        return 'open';
      } catch (error) {
        return (error as Error).message;
      }
    };
    const requests: LdapRequest[] = [];
    const count: Play = (request) => void (request.operation !== 'unbind' && requests.push(request));
    const named = (name: string): string => server.url.replace('localhost', name);
    server = await playServer(count, ['dc1.corp.example']);
    assert.equal(await reasonOf({ url: named('dc1.corp.example') }), 'open');
    assert.ok(requests.length > 0);
    requests.length = 0;
    assert.equal(await reasonOf({ url: named('dc2.corp.example') }), 'certificate');
    assert.equal(await reasonOf({ url: at127() }), 'certificate');
    assert.equal(await reasonOf({ url: named('dc1.corp.example'), ca: undefined }), 'certificate');
    assert.equal(
      await reasonOf({ url: named('dc1.corp.example'), ca: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' }),
      'certificate',
    );
    await server.stop();
    server = await playServer(count, ['127.0.0.1']);
    assert.equal(await reasonOf({ url: at127() }), 'open');
    requests.length = 0;
    assert.equal(await reasonOf({ url: named('localhost') }), 'certificate');
    await server.stop();
    server = await playServer(count, ['localhost'], new Date(Date.now() - 1000));
    assert.deepEqual(await failure(), { reason: 'certificate', detail: 'CERT_HAS_EXPIRED' });
    assert.deepEqual(requests, [], 'nothing was said to any of them');
  });
});
