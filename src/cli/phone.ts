// `gatehouse phone`: a simulated phone on the device SDK, with its keys in a file. For demonstrations and trying things out;
// it talks to a server like any phone and touches no database.
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import {
  type Approval,
  createDevice,
  type DenyReason,
  type Device,
  type EnrollOutcome,
  type PhoneState,
  parseEnrollmentLink,
} from '../../sdk/device.ts';
import { createSoftwareVault, fileStore } from '../../sdk/node.ts';
import { conformanceCommand } from './conformance/command.ts';

interface Common {
  readonly state: string;
  readonly json?: boolean;
}

export function phoneCommand(program: Command): void {
  const phone = program.command('phone').description('A simulated phone: enrol, list, approve, deny, rotate');
  const add = (name: string, description: string): Command =>
    phone
      .command(name)
      .description(description)
      .option('--state <file>', 'where the phone keeps its state; its keys lie beside it', 'gatehouse-phone.json')
      .option('--json', 'print JSON');
  conformanceCommand(phone);
  addEnrolment(add);
  add('list', 'List what waits for approval')
    .option('--wait <seconds>', 'wait for something, at most 25 seconds')
    .action(async (options: Common & { readonly wait?: string }) => {
      const device = await openPhone(options);
      const items = await device.listApprovals(options.wait === undefined ? undefined : Number(options.wait));
      print(options, items, items.length === 0 ? 'Nothing waits.' : items.map(describeApproval).join('\n'));
    });
  add('approve [id]', 'Approve what waits, the only one when no id is given')
    .option('--number <digits>', 'the number the page shows')
    .option('--qr <link>', 'the link of the page’s QR code, instead of id and number')
    .action(async (id: string | undefined, options: Common & { readonly number?: string; readonly qr?: string }) => {
      const device = await openPhone(options);
      const approval = options.qr === undefined ? await findApproval(device, id) : await device.claim(options.qr, { scanned: true });
      await device.approve(approval, options.number);
      print(options, { id: approval.id, state: 'approved' }, `Approved ${approval.id}.`);
    });
  add('deny [id]', 'Deny what waits, the only one when no id is given')
    .option('--reason <reason>', 'not_me, mistake or other', 'other')
    .action(async (id: string | undefined, options: Common & { readonly reason: DenyReason }) => {
      const device = await openPhone(options);
      const approval = await findApproval(device, id);
      await device.deny(approval, options.reason);
      print(options, { id: approval.id, state: 'denied' }, `Denied ${approval.id}.`);
    });
  add('rotate', 'Replace the phone’s keys').action(async (options: Common) => {
    const device = await openPhone(options);
    await device.rotateKeys();
    print(options, { rotated: true }, 'The keys were replaced.');
  });
  add('show', 'Show the phone as the server knows it').action(async (options: Common) => {
    const self = await (await openPhone(options)).self();
    print(options, self, JSON.stringify(self, null, 2));
  });
}

function addEnrolment(add: (name: string, description: string) => Command): void {
  add('enrol', 'Become a device: with the link of an enrolment QR code, or by email')
    .alias('enroll')
    .option('--link <url>', 'enrolment link, <base_url>/enroll#v=1&t=<token>')
    .option('--url <base_url>', 'the tenant’s base_url, with --email')
    .option('--email <email>', 'register by a PIN sent to this email')
    .option('--signup', 'sign up instead of registering an existing user')
    .option('--pin <pin>', 'the PIN, instead of being asked for it')
    .option('--name <name>', 'what the phone is called', 'Simulated phone')
    .action(async (options: EnrolOptions) => {
      const { baseUrl, device } = await newPhone(options);
      const outcome = await enrol(device, options);
      const waits = `Waiting: approve it on an existing device with the number ${'number' in outcome ? outcome.number : ''}, then run: gatehouse phone resume`;
      print(options, { base_url: baseUrl, ...shown(outcome) }, outcome.status === 'enrolled' ? 'Enrolled.' : waits);
    });
  add('resume', 'Finish an enrolment that waited for an approval or a PIN')
    .option('--pin <pin>', 'the PIN that was mailed')
    .action(async (options: Common & { readonly pin?: string }) => {
      const device = await openPhone(options, true);
      const outcome = await resumeEnrolment(device, options.pin);
      print(options, shown(outcome), outcome.status === 'enrolled' ? 'Enrolled.' : `Still waiting; the number is ${outcome.number}.`);
    });
}

const shown = (outcome: EnrollOutcome) => (outcome.status === 'enrolled' ? { status: outcome.status, user: outcome.user } : outcome);

interface EnrolOptions extends Common {
  readonly link?: string;
  readonly url?: string;
  readonly email?: string;
  readonly signup?: boolean;
  readonly pin?: string;
  readonly name: string;
}

async function enrol(device: Device, options: EnrolOptions) {
  const description = { platform: 'other', name: options.name } as const;
  const link = options.link === undefined ? undefined : parseEnrollmentLink(options.link);
  if (link !== undefined) await device.redeemEnrollment(link.token, description);
  else {
    const person = { email: options.email ?? '', device: description };
    await (options.signup === true ? device.startSignup(person) : device.startRegistration(person));
  }
  if ((await device.state()).status === 'unverified') await device.verifyPin(options.pin ?? (await askPin()));
  return device.enroll();
}

// Whatever the process before was in the middle of is finished first.
async function resumeEnrolment(device: Device, pin: string | undefined): Promise<EnrollOutcome> {
  const { status, draft, account } = await device.resume();
  if (status === 'enrolled' && account !== undefined) return { status, deviceId: account.deviceId, user: account.user };
  if (status === 'pending_approval') return { status, number: draft?.number ?? '' };
  if (pin !== undefined) await device.verifyPin(pin);
  return device.enroll();
}

async function askPin(): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const pin = await terminal.question('PIN from the mail: ');
  terminal.close();
  return pin.trim();
}

async function newPhone(options: EnrolOptions): Promise<{ readonly baseUrl: string; readonly device: Device }> {
  const link = options.link === undefined ? undefined : parseEnrollmentLink(options.link);
  if (options.link !== undefined && link === undefined)
    throw new Error(`--link: expected <base_url>/enroll#v=1&t=<token>, found ${options.link}`);
  const baseUrl = link?.baseUrl ?? options.url;
  if (baseUrl === undefined || (link === undefined && options.email === undefined))
    throw new Error('expected --link, or --url with --email');
  return { baseUrl, device: deviceIn(options.state, baseUrl) };
}

async function openPhone(options: Common, prefersDraft = false): Promise<Device> {
  const known = await fileStore<PhoneState>(options.state).load();
  const [account, draft] = [known?.accounts.at(-1), known?.draft];
  const baseUrl = (prefersDraft ? (draft ?? account) : (account ?? draft))?.baseUrl;
  if (baseUrl === undefined) throw new Error(`expected an enrolled phone in ${options.state}, found none. Run: gatehouse phone enrol`);
  return deviceIn(options.state, baseUrl);
}

function deviceIn(file: string, baseUrl: string): Device {
  const vault = createSoftwareVault(fileStore<Readonly<Record<string, string>>>(`${file}.keys`));
  return createDevice({ baseUrl, store: fileStore(file), vault });
}

async function findApproval(device: Device, id: string | undefined): Promise<Approval> {
  const items = await device.listApprovals();
  const wanted = id === undefined && items.length === 1 ? items[0] : items.find((item) => item.id === id);
  if (wanted !== undefined) return wanted;
  const found = items.length === 0 ? 'nothing' : items.map((item) => item.id).join(', ');
  throw new Error(`expected ${id ?? 'exactly one approval'}, found ${found}`);
}

function describeApproval(approval: Approval): string {
  const who = approval.client?.['name'] ?? approval.type;
  const number = approval.match.required ? ', asks for the number' : '';
  return `${approval.id}  ${who}  ${approval.binding_message ?? ''}  from ${approval.initiated['ip'] ?? 'unknown'}${number}`;
}

function print(options: Common, value: unknown, text: string): void {
  process.stdout.write(`${options.json === true ? JSON.stringify(value) : text}\n`);
}
