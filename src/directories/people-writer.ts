// Writes a page of people in one transaction: those who are new in a statement a table, those who differ one after the other, and their links.
// A value that somebody else got meanwhile never costs the page: it is divided until the one entry is alone, which then is a conflict.
import { emailsPerUserMax } from '../contract/limits.ts';
import { foldKey } from '../domain/fold.ts';
import type { UserId } from '../domain/ids.ts';
import type { WantedPerson } from '../domain/mappings/directory-values.ts';
import { fromCustomCell, toCustomCells } from '../domain/people/custom-attributes.ts';
import { uuidV7 } from '../platform/random.ts';
import type { Queries } from '../storage/engine/database.ts';
import { isUniqueViolation, ValueTaken } from '../storage/engine/unique-violation.ts';
import { listUserEmails } from '../storage/people/user-lists.ts';
import type { NewEmail, UserEmail } from '../storage/people/user-rows.ts';
import { changeUser, insertUsers, type NewUser, type UserChange } from '../storage/people/user-writer.ts';
import { type AuditEvent, insertAuditEvents } from '../storage/records/audit-events.ts';
import {
  freeLocal,
  holdEntries,
  noteEndingSeen,
  noteEntriesSeen,
  type WrittenLink,
  writeLinks,
} from '../storage/records/directory-links.ts';
import { type Counted, eventOf, type RunningWork, writeIn } from './parts.ts';
import { type Judged, judgePeople, noClaims } from './people.ts';
import type { EntryPage, PersonEntry } from './reading.ts';

/** Writes a page and counts what became of it. Gives whether somebody came who was an entry before: groups that name them were read without. */
export async function writePeople(work: RunningWork, page: EntryPage<PersonEntry>, counted: Counted): Promise<boolean> {
  const { judged, rejoins } = await writePart(work, page);
  for (const one of judged) {
    counted.read += 1;
    const name = figureOf[one.counts];
    if (name !== undefined) counted[name] += 1;
  }
  return rejoins;
}

const figureOf: Readonly<Record<Judged['counts'], 'created' | 'updated' | 'unchanged' | 'conflicts' | 'skipped' | undefined>> = {
  create: 'created',
  adopt: 'updated',
  update: 'updated',
  activate: 'updated',
  unchanged: 'unchanged',
  conflict: 'conflicts',
  skipped: 'skipped',
  ignored: 'unchanged',
  end: undefined, // counted when they do
};

interface Part {
  readonly judged: readonly Judged[];
  readonly rejoins: boolean;
}

async function writePart(work: RunningWork, page: EntryPage<PersonEntry>): Promise<Part> {
  // With the attributes of now: values of one that is newer than the run would be written over.
  const tenant = (await work.parts.tenants.byId(work.tenant.id)) ?? work.tenant;
  const parts = await writeDivided(page, 'user_name', (part, taken) => writeOnce({ ...work, tenant }, part, taken));
  return { judged: parts.flatMap(({ judged }) => judged), rejoins: parts.some(({ rejoins }) => rejoins) };
}

/** Writes a page, or where a value of it is taken its halves, down to the one entry that is then told what is. @param otherwise what is, where the database does not say */
export async function writeDivided<Entry, Result>(
  page: EntryPage<Entry>,
  otherwise: string,
  write: (page: EntryPage<Entry>, taken?: string) => Promise<Result>,
): Promise<readonly Result[]> {
  try {
    return [await write(page)];
  } catch (error) {
    if (!(error instanceof ValueTaken) && !isUniqueViolation(error)) throw error;
    const { entries, skipped } = page;
    if (entries.length <= 1) return [await write(page, error instanceof ValueTaken ? error.field : otherwise)];
    const half = Math.ceil(entries.length / 2);
    const first = await writeDivided({ entries: entries.slice(0, half), skipped }, otherwise, write);
    return [...first, ...(await writeDivided({ entries: entries.slice(half), skipped: [] }, otherwise, write))];
  }
}

const writeOnce = (work: RunningWork, page: EntryPage<PersonEntry>, taken?: string): Promise<Part> =>
  writeIn(work, async (queries) => {
    const judged = await judgePeople(queries, work, page, { isPlan: false, claims: noClaims(), taken });
    const { links, events } = await writeAll(queries, work, judged);
    await insertAuditEvents(queries, work.tenant.id, work.parts.clock.nowMs(), events);
    const { whose, run } = work;
    await writeLinks(queries, whose, run.run, links);
    const ids = (holds: (one: Judged) => boolean): readonly string[] => judged.filter(holds).map(({ remoteId }) => remoteId);
    await noteEntriesSeen(
      queries,
      whose,
      run.run,
      ids(({ decision }) => decision.does === 'seen'),
    );
    await noteEndingSeen(
      queries,
      whose,
      run.run,
      ids(({ decision }) => decision.does === 'ends'),
    );
    await holdEntries(
      queries,
      whose,
      ids(({ decision }) => decision.does === 'ends' && !decision.waits),
    );
    return { judged, rejoins: judged.some(joins) };
  });

/** Whether an entry that was known came to be somebody: groups that were read before did not have them. */
const joins = ({ decision }: Judged): boolean =>
  decision.does === 'creates' ? decision.wasKnown : decision.does === 'changes' && (decision.adopts || decision.activates);

interface Writes {
  readonly links: readonly WrittenLink[];
  readonly events: readonly AuditEvent[];
}

async function writeAll(queries: Queries, work: RunningWork, judged: readonly Judged[]): Promise<Writes> {
  const links: WrittenLink[] = [];
  const events: AuditEvent[] = [];
  const made: NewUser[] = [];
  const adopted = judged.flatMap(({ decision }) => (decision.does === 'changes' && decision.adopts ? decision.row.id : []));
  if (adopted.length > 0) await freeLocal(queries, work.tenant.id, adopted);
  for (const { decision } of judged) {
    if (decision.does === 'linked') links.push(decision.link);
    if (decision.does === 'creates') {
      const user = newUser(work, decision.person);
      made.push(user);
      links.push({ ...decision.link, local_id: user.id });
      events.push(eventOf(work, { type: 'user.created', target: `user:${user.id}`, data: { role: 'user' } }));
    }
    if (decision.does === 'changes') {
      links.push(decision.link);
      events.push(...(await changePerson(queries, work, decision)));
    }
  }
  await insertUsers(queries, work.tenant.id, made);
  return { links, events };
}

/** Without anything to sign in with: they are invited, or mailed a code. */
const newUser = ({ parts, tenant }: RunningWork, { columns, email, custom }: WantedPerson): NewUser => ({
  id: uuidV7(parts.clock.nowMs()) as UserId, // made here
  state: 'active',
  origin: 'scim',
  profile: columns,
  lists: email == null ? {} : { emails: [{ value: email, type: null, display: null, is_primary: 1 }] },
  custom: toCustomCells(tenant.customAttributes, custom),
});

type Changing = Extract<Judged['decision'], { readonly does: 'changes' }>;

/** Writes what differs of a person whose row is held. */
async function changePerson(queries: Queries, work: RunningWork, { person, row, activates }: Changing): Promise<readonly AuditEvent[]> {
  const { tenant } = work;
  const columns = Object.entries(person.columns).filter(([name, text]) => row[name as keyof typeof row] !== text); // columns of the row
  const emails = person.email === undefined ? undefined : emailsWith(await listUserEmails(queries, tenant.id, row.id), person.email);
  const before = fromCustomCell(tenant.customAttributes, row.custom);
  const kept = Object.fromEntries(Object.entries(before).filter(([name]) => !person.customNames.includes(name)));
  const custom = toCustomCells(tenant.customAttributes, { ...kept, ...person.custom });
  const isOther = custom.cell !== toCustomCells(tenant.customAttributes, before).cell;
  const fields = [...columns.map(([name]) => name), ...(emails === undefined ? [] : ['emails']), ...(isOther ? ['custom'] : [])];
  if (fields.length === 0 && !activates) return [];
  const change: UserChange = {
    profile: Object.fromEntries(columns),
    ...(emails !== undefined && { lists: { emails } }),
    ...(isOther && { custom }),
    ...(activates && { state: 'active' }),
    writer: 'directory',
  };
  await changeUser(queries, tenant.id, row.id, change);
  const target = `user:${row.id}`;
  return [
    ...(activates ? [eventOf(work, { type: 'user.activated', target })] : []),
    ...(fields.length > 0 ? [eventOf(work, { type: 'user.updated', target, data: { fields } })] : []),
  ];
}

/** The addresses of a person with this main one, or none: others than the main one before, such as those added here, stay. Undefined: they are so. */
function emailsWith(before: readonly UserEmail[], wanted: string | null): readonly NewEmail[] | undefined {
  const main = before.find(({ is_primary: isPrimary }) => isPrimary === 1);
  if ((main?.value ?? null) === wanted) return undefined;
  const isMain = ({ value }: UserEmail): boolean => wanted !== null && foldKey(value) === foldKey(wanted);
  const others = before.filter((one) => one !== main && !isMain(one));
  const { type = null, display = null } = before.find(isMain) ?? main ?? {};
  const first: readonly NewEmail[] = wanted === null ? [] : [{ value: wanted, type, display, is_primary: 1 }];
  const rest = others.map((one) => ({ value: one.value, type: one.type, display: one.display, is_primary: 0 }));
  return [...first, ...rest].slice(0, emailsPerUserMax);
}
