// What Active Directory does and no other: numbers of changes of each of its servers, members by ranges, ids of 16 bytes. Played byte by byte, as a
// real one is no program of a test; and servers that play it badly.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { BerReader, PresenceFilter, SearchRequest } from 'ldapts';
import { fileTimeOf } from '../../src/directories/ldap/disabled.ts';
import type { ChangeMark } from '../../src/directories/reading.ts';
import type { LdapDirectory } from '../../src/domain/extending/ldap-directory.ts';
import { failureOf, ldapDirectory, openDirectory, readDirectory } from '../support/directory-readers.ts';
import { type Attributes, doneMessage, entryMessage, octets } from '../support/ldap-messages.ts';
import { type LdapRequest, type PlayedServer, playServer } from '../support/ldap-server.ts';

const service = 'CN=NTDS Settings,CN=DC1,CN=Servers,CN=Site,CN=Sites,CN=Configuration,DC=x';
const guidOf = (number: number): Buffer => Buffer.from(`${String(number).padStart(2, '0')}112233445566778899aabbccddeeff`, 'hex');
const member = (number: number): string => `CN=P${number},DC=x`;
const peopleBase = 'OU=People,DC=x';
const groupsBase = 'OU=Groups,DC=x';
const groupDn = 'CN=Big,OU=Groups,DC=x';

interface Played {
  readonly invocationId?: Buffer;
  readonly root?: Attributes;
  /** Of the group, by where a range begins; 0 of the search that finds it. */
  readonly ranges?: Readonly<Record<number, Attributes>>;
}

/** Of the last search there, as another reader of requests has them. */
function attributesAsked(requests: readonly LdapRequest[], base: string): readonly string[] {
  const reader = new BerReader(requests.findLast((request) => request.base === base)?.bytes ?? Buffer.alloc(0));
  reader.readSequence();
  const messageId = reader.readInt() ?? 0;
  reader.readSequence();
  const request = new SearchRequest({ messageId, filter: new PresenceFilter({ attribute: 'none' }) });
  request.parse(reader, []);
  return request.attributes.toSorted();
}

describe('Active Directory', () => {
  let server: PlayedServer;
  afterEach(() => server?.stop());

  const play = async ({ invocationId = guidOf(1), root = {}, ranges = { 0: {} } }: Played = {}): Promise<void> => {
    const answer = ({ id, base, bytes }: LdapRequest): Buffer => {
      if (base === '')
        return entryMessage(id, '', {
          highestCommittedUSN: ['4711'],
          dsServiceName: [service],
          currentTime: ['20260101000000.0Z'],
          ...root,
        });
      if (base === service) return entryMessage(id, service, { invocationId: [invocationId] });
      if (base === peopleBase)
        return entryMessage(id, member(1), {
          ...{
            objectGUID: [guidOf(7)],
            sAMAccountName: ['ada'],
            userAccountControl: ['512'],
            accountExpires: [String(fileTimeOf(Date.UTC(2025, 5, 1)))],
          },
        });
      const from = Number(/range=(\d+)-/i.exec(bytes.toString('latin1'))?.[1] ?? 0);
      return entryMessage(id, groupDn, { ...(base === groupsBase && { objectGUID: [guidOf(9)], cn: ['Big'] }), ...ranges[from] });
    };
    server = await playServer((request: LdapRequest, socket: Socket) => {
      if (request.operation !== 'search') return false;
      const isOfUnits = request.bytes.includes('organizationalUnit');
      socket.write(Buffer.concat([...(isOfUnits ? [] : [answer(request)]), doneMessage(request.id, 0)]));
      return true;
    });
  };
  const at = (fields: Partial<LdapDirectory> = {}): LdapDirectory =>
    ldapDirectory({ kind: 'active_directory', url: server.url, ca: server.ca, baseDn: peopleBase, groupBaseDn: groupsBase, ...fields });
  const asked = (base: string): string => server.requests.findLast((request) => request.base === base)?.bytes.toString('latin1') ?? '';

  it('gives people by their GUID, expired by its own time, and asks by the time and numbers of that server', async () => {
    await play();
    const { people, mark } = await readDirectory(at({ groups: 'none' }), { nowMs: 0 });
    assert.deepEqual(people.entries, [
      {
        ...{ remoteId: '33221107-5544-7766-8899-aabbccddeeff', dn: 'CN=P1,DC=x', dnKey: 'cn=p1,dc=x', isDisabled: true },
        attributes: { samaccountname: ['ada'] },
      },
    ]);
    assert.deepEqual(mark, { mark: '4711', server: `${service.toLowerCase()} ${guidOf(1).toString('hex')}` });
    assert.doesNotMatch(asked(peopleBase), /uSNChanged|modifyTimestamp/);
    await readDirectory(at({ groups: 'none' }), {}, { ...mark, mark: '4700' } as ChangeMark);
    assert.ok(asked(peopleBase).includes(octets('uSNChanged').toString('latin1') + octets('4701').toString('latin1')));
  });

  it('is asked for what rules name and what says who is disabled, and nothing else', async () => {
    await play();
    await readDirectory(at({ mappings: [{ to: 'title', from: 'upstream.Title' }] as never }));
    assert.deepEqual(attributesAsked(server.requests, peopleBase), [
      ...['accountexpires', 'givenname', 'mail', 'nsaccountlock', 'objectguid', 'pwdaccountlockedtime', 'samaccountname', 'sn', 'title'],
      'useraccountcontrol',
    ]);
    assert.deepEqual(attributesAsked(server.requests, groupsBase), ['cn', 'member', 'objectguid', 'uniquemember']);
  });

  it('a group that says no id is skipped, with its reason', async () => {
    await play({ ranges: { 0: { objectGUID: [] } } });
    const { groups } = await readDirectory(at());
    assert.deepEqual(groups, {
      ...{ entries: [], pages: [1] },
      skipped: [{ remoteId: undefined, dn: groupDn, dnKey: groupDn.toLowerCase(), reason: 'It says no objectGUID that can be read.' }],
    });
  });

  it('one expires as its server says, whatever our clock does', async () => {
    await play({ root: { currentTime: ['20250101000000.0Z'] } });
    const { people } = await readDirectory(at({ groups: 'none' }), { nowMs: Date.UTC(2090, 0, 1) });
    assert.deepEqual(
      people.entries.map(({ isDisabled }) => isDisabled),
      [false],
    );
  });

  it('numbers of another server, of one that was restored, and later ones are not read on from', async () => {
    await play();
    const { mark } = await readDirectory(at());
    const canRead = async (of: Partial<ChangeMark> = {}): Promise<boolean> => {
      const reader = await openDirectory(at());
      await reader.close();
      return reader.canReadSince({ ...(mark as ChangeMark), ...of });
    };
    assert.equal(await canRead(), true);
    assert.equal(await canRead({ mark: '4712' }), false);
    assert.equal(await canRead({ server: 'cn=ntds settings,cn=dc2' }), false);
    await server.stop();
    await play({ invocationId: guidOf(2) });
    assert.equal(await canRead(), false);
    await server.stop();
    await play({ root: { highestCommittedUSN: [] } });
    assert.equal(await canRead(), false);
  });

  it('members by ranges are asked for to the end', async () => {
    await play({
      ranges: {
        0: { member: [], 'member;range=0-2': [0, 1, 2].map(member) },
        3: { 'Member;Range=3-5': [3, 4, 5].map(member) },
        6: { 'member;range=6-*': [6].map(member) },
      },
    });
    const { groups } = await readDirectory(at());
    assert.deepEqual(groups.entries, [
      {
        ...{ remoteId: '33221109-5544-7766-8899-aabbccddeeff', dn: groupDn, dnKey: groupDn.toLowerCase(), name: 'Big' },
        members: [0, 1, 2, 3, 4, 5, 6].map((number) => member(number).toLowerCase()),
      },
    ]);
    assert.deepEqual(
      server.requests.flatMap(({ bytes }) => /member;range=[\d*-]+/.exec(bytes.toString('latin1'))?.[0] ?? []),
      ['member;range=3-*', 'member;range=6-*'],
    );
  });

  it('a range that goes back, or never ends, is malformed or too many', async () => {
    await play({ ranges: { 0: { 'member;range=0-2': [0, 1, 2].map(member) }, 3: { 'member;range=0-2': [0, 1, 2].map(member) } } });
    assert.deepEqual(await failureOf(readDirectory(at())), { reason: 'malformed', detail: 'a range of members that goes back' });
    await server.stop();
    const ranges = new Proxy({} as Record<number, Attributes>, {
      get: (_, from) => ({ [`member;range=${String(from)}-${Number(from)}`]: [member(Number(from))] }),
    });
    await play({ ranges });
    assert.equal((await failureOf(readDirectory(at(), { limits: { members: 50 } }))).reason, 'too_many');
    assert.ok(server.requests.length < 60);
  });
});
