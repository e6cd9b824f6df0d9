// Account pages about the person's devices: list, rename, remove after a question, add one by QR code where the tenant's policy
// lets people add devices themselves. An id that is not one of theirs is unknown, whosever it is.
import type { FastifyReply } from 'fastify';
import type { Enrollment } from '../administration/people/enrollments.ts';
import { enrollOwnDevice, mayAddDevice, removeDevice, renameDevice } from '../administration/people/own-account.ts';
import { reject } from '../contract/contract-error.ts';
import { accountListRows, deviceNameCharsMax } from '../contract/limits.ts';
import type { Typed } from '../first-party/app-form.ts';
import { csrfField } from '../first-party/app-page.ts';
import { redirect } from '../first-party/app-sign-in.ts';
import { qrCode } from '../pages/qr-code.ts';
import { type Html, html } from '../platform/html.ts';
import type { Device } from '../storage/device/devices.ts';
import { findOwnDevice, listOwnDevices } from '../storage/people/own-account.ts';
import { timeOf } from './account-time.ts';
import { type AccountVisit, goTo, holdSession, isFresh, pathTo, selfOf, showPage, signInFirst } from './account-visit.ts';
import { isTooWeak, proveMorePage } from './recovery-pages.ts';

/** A name that was refused, to be shown again where it was typed. */
interface RefusedName {
  readonly id: string;
  readonly name: string;
}

export async function devicesPage(visit: AccountVisit, refused?: RefusedName): Promise<FastifyReply> {
  const { services, request, user, words, query } = visit;
  const { tenant } = request;
  const number = /^[0-9]{1,3}$/.test(query.get('page') ?? '') ? Number(query.get('page')) : 0;
  const rows = await services.database.read(tenant.id, (queries) =>
    listOwnDevices(queries, tenant.id, user.id, { offset: number * accountListRows, limit: accountListRows + 1 }),
  );
  const devices = rows.slice(0, accountListRows);
  const notice = refused === undefined ? {} : { notice: { kind: 'bad', text: words.badDeviceName(deviceNameCharsMax) } as const };
  return showPage(
    visit,
    words.devices,
    html`<p class="muted">${words.devicesLead}</p>
${devices.length === 0 ? html`<p id="none">${words.noDevices}</p>` : html`<ul class="cards">${devices.map((device) => deviceCard(visit, device, refused))}</ul>`}
${rows.length > accountListRows && html`<p><a class="button quiet" id="next" href="${pathTo(visit, '/devices')}?page=${number + 1}">${words.more}</a></p>`}
<h2>${words.addDevice}</h2>
${addBox(visit)}`,
    notice,
  );
}

function deviceCard(visit: AccountVisit, device: Device, refused: RefusedName | undefined): Html {
  const { words, session } = visit;
  const typed = refused?.id === device.id ? refused.name : undefined;
  const path = pathTo(visit, `/devices/${device.id}`);
  const protection = words.keyProtections[device.key_protection ?? ''];
  const facts = [platformName(device.platform), device.model, device.os_version].filter((fact) => fact !== null && fact !== '').join(' · ');
  return html`<li class="card"><h2>${device.name}</h2><p class="muted">${facts}</p>
<dl><dt>${words.added}</dt><dd>${timeOf(visit, device.created_at)}</dd><dt>${words.lastSeen}</dt><dd>${device.last_seen_at === null ? words.unknown : timeOf(visit, device.last_seen_at)}</dd>${protection !== undefined && html`<dt>${words.key}</dt><dd>${protection}</dd>`}</dl>
<details${typed !== undefined && html` open`}><summary>${words.rename}</summary><form method="post" action="${path}">${csrfField(session)}
<label for="name-${device.id}">${words.newName}</label><input id="name-${device.id}" name="name" value="${typed ?? device.name}" required maxlength="${deviceNameCharsMax}" autocomplete="off"${typed !== undefined && html` aria-invalid="true" aria-describedby="notice"`}>
<button>${words.save}</button></form></details>
<p><a class="button danger" href="${path}/remove" aria-label="${words.removeNamed(device.name)}">${words.remove}</a></p></li>`;
}

const platformNames: Readonly<Record<string, string>> = { ios: 'iOS', android: 'Android' };
const platformName = (platform: string): string => platformNames[platform] ?? '';

function addBox(visit: AccountVisit): Html {
  const { request, words, session } = visit;
  if (!mayAddDevice(request.tenant)) return html`<p id="add-by-administrator">${words.addByAdministrator}</p>`;
  return html`<p>${words.addDeviceLead}</p>
<form method="post" action="${pathTo(visit, '/devices/add')}">${csrfField(session)}<button id="add">${words.addDevice}</button></form>`;
}

/**
 * Makes an enrolment token and shows it on the page the 303 leads to, whose address carries it sealed for this person. A
 * device is a way to sign in, so a session that was left open adds none: sign in again first.
 */
export async function addDevice(visit: AccountVisit): Promise<FastifyReply> {
  const { services, request } = visit;
  if (!mayAddDevice(request.tenant)) throw reject('login.forbidden', { reason: 'additional_device', expected: 'admin' });
  if (await isTooWeak(visit)) return proveMorePage(visit, '/devices/sign-in');
  if (!isFresh(visit)) return signInFirst(services, request, visit.reply, '/devices');
  const made = await enrollOwnDevice(services, selfOf(visit), (queries) => holdSession(queries, visit));
  if (made === undefined) return signInFirst(services, request, visit.reply, '/devices');
  const { qrUri, expiresAtMs } = made;
  const sealed = services.encryption.seal(JSON.stringify({ qrUri, expiresAtMs }), sealPurpose(visit));
  return redirect(visit.reply, `${pathTo(visit, '/devices/add')}?enrollment=${encodeURIComponent(sealed)}`);
}

type Shown = Pick<Enrollment, 'qrUri' | 'expiresAtMs'>;

const sealPurpose = ({ request, user }: AccountVisit): string => `account-enrollment:${request.tenant.id}:${user.id}`;

function unseal(visit: AccountVisit): Shown {
  try {
    const sealed = visit.query.get('enrollment') ?? '';
    return JSON.parse(visit.services.encryption.open(sealed, sealPurpose(visit))) as Shown; // only addDevice seals for this purpose
  } catch {
    throw reject('login.not_found', 'unknown_enrollment');
  }
}

export async function enrollmentPage(visit: AccountVisit): Promise<FastifyReply> {
  const { request, words } = visit;
  const { qrUri, expiresAtMs } = unseal(visit);
  return showPage(
    visit,
    words.addDevice,
    html`<div class="card"><ol><li>${words.addStepApp}</li><li>${words.addStepScan}</li></ol>
<div id="qr">${await qrCode(qrUri, words.qrLabel)}</div>
<p><a class="button quiet" id="enroll" href="${qrUri}">${words.enrollHere}</a></p>
<p class="hint">${words.worksOnceUntil} ${timeOf(visit, expiresAtMs)}</p>
${request.tenant.settings.device.additional_device === 'existing_device' && html`<p class="hint">${words.addNeedsApproval}</p>`}</div>
<p><a href="${pathTo(visit, '/devices')}">${words.back}</a></p>`,
  );
}

export async function renameDevicePage(visit: AccountVisit, typed: Typed, id: string): Promise<FastifyReply> {
  const device = await loadOwn(visit, id);
  const name = (typed.get('name') ?? '').trim();
  if (name === '' || name.length > deviceNameCharsMax) return devicesPage(visit, { id: device.id, name: typed.get('name') ?? '' });
  if (!(await renameDevice(visit.services, selfOf(visit), device.id, name))) throw unknownDevice();
  return goTo(visit, '/devices', 'doneRenamed');
}

export async function removeQuestion(visit: AccountVisit, id: string): Promise<FastifyReply> {
  const { words, session } = visit;
  const device = await loadOwn(visit, id);
  return showPage(
    visit,
    words.removeQuestion(device.name),
    html`<p>${words.removeConsequence}</p>
<form class="bar" method="post" action="${pathTo(visit, `/devices/${device.id}/remove`)}">${csrfField(session)}<button class="danger" id="remove">${words.remove}</button><a class="button quiet" href="${pathTo(visit, '/devices')}">${words.keep}</a></form>`,
  );
}

export async function removeDevicePage(visit: AccountVisit, id: string): Promise<FastifyReply> {
  if (await isTooWeak(visit)) return proveMorePage(visit, '/devices/sign-in');
  if (!(await removeDevice(visit.services, selfOf(visit), id))) throw unknownDevice();
  return goTo(visit, '/devices', 'doneRemoved');
}

async function loadOwn({ services, request, user }: AccountVisit, id: string): Promise<Device> {
  const { tenant } = request;
  const device = await services.database.read(tenant.id, (queries) => findOwnDevice(queries, tenant.id, user.id, id));
  if (device === undefined) throw unknownDevice();
  return device;
}

const unknownDevice = (): Error => reject('login.not_found', 'unknown_device');
