// Plays the server against somebody's SDK: the same story over and over, undisturbed and with each request lost, each answer lost and the
// phone killed at each of them. However it went, it must end as it does undisturbed. Then what single answers mean.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createDriver, type Driver, type DriverAnswer } from './driver-process.ts';
import type { Fault } from './gateway.ts';
import type { Report } from './report.ts';
import { openSandbox, type Person, type Sandbox } from './sandbox.ts';

interface Life {
  readonly sandbox: Sandbox;
  readonly driver: Driver;
  readonly person: Person;
  readonly token: string;
}

interface PhoneView {
  readonly status: string;
  readonly device_id: string | undefined;
}

/** Undefined: the rule holds; else what was found. */
type Finding = string | undefined;

const kinds = ['request lost', 'answer lost', 'sent twice', 'killed before the request', 'killed before the answer'] as const;
const unavailable = { status: 503, body: { error: 'temporarily_unavailable', message: 'Try again.' }, headers: { 'retry-after': '1' } };
const requests: readonly (readonly [name: string, path: RegExp])[] = [
  ['redeem', /\/enrollment\/redeem$/],
  ['pin/verify', /\/pin\/verify$/],
  ['enroll', /\/enroll$/],
  ['approvals', /\/approvals$/],
  ['approve', /\/approve$/],
  ['deny', /\/deny$/],
  ['rotate/start', /\/rotate\/start$/],
  ['rotate/confirm', /\/rotate\/confirm$/],
];
const turnsMax = 8;

/** Runs the rules that are wanted against the program that `command` starts. */
export async function runSdkRules(command: string, report: Report, isWanted: (rule: string) => boolean): Promise<void> {
  const sandbox = await openSandbox();
  let lives = 0;
  const judge = async (rule: string, expected: string, work: (life: Life) => Promise<Finding>): Promise<void> => {
    if (!isWanted(rule)) return;
    lives += 1;
    const state = join(sandbox.folder, `phone-${lives}`);
    mkdirSync(state);
    const driver = createDriver(command, { GATEHOUSE_BASE_URL: sandbox.gateway.url, GATEHOUSE_STATE: state });
    const person = await sandbox.person();
    try {
      const found = await work({ sandbox, driver, person, token: await sandbox.enrollmentToken(person, true) });
      report.add(found === undefined ? { rule, passed: true } : { rule, passed: false, expected, found });
    } finally {
      driver.kill();
    }
  };
  try {
    await judge('undisturbed: enrols, approves by number, denies, replaces its keys', ends, story);
    for (const [name, path] of requests) {
      for (const kind of kinds) await judge(`${name}: ${kind}`, ends, (life) => disturbed(life, { path, kind }));
      await judge(`${name}: 503`, ends, (life) => disturbed(life, { path, kind: unavailable }));
    }
    for (const [rule, expected, work] of singleRules) await judge(rule, expected, work);
  } finally {
    await sandbox.close();
  }
}

const ends = 'one active device, known by the phone’s keys, and every decision made';

async function disturbed(life: Life, fault: Fault): Promise<Finding> {
  life.sandbox.gateway.plan(fault, () => life.driver.kill());
  const found = await story(life);
  return found ?? (life.sandbox.gateway.isMet() ? undefined : 'the phone never made this request');
}

async function story(life: Life): Promise<Finding> {
  const { sandbox, person } = life;
  const found = await enrol(life);
  if (found !== undefined) return found;
  for (const [command, wanted] of [
    ['approve', 'approved'],
    ['deny', 'denied'],
  ] as const) {
    const state = await decide(life, command);
    if (state !== wanted) return `an approval that should be ${wanted} is ${state}`;
  }
  const before = await sandbox.keysOf(person);
  for (let turn = 0; turn < turnsMax && (await sandbox.keysOf(person)) === before; turn += 1) await tell(life, 'rotate');
  if ((await sandbox.keysOf(person)) === before) return 'the server knows the phone by its old keys';
  await tell(life, 'resume');
  return judgeEnd(life);
}

/** What an undisturbed phone is at the end, by its own word and by the server's. */
async function judgeEnd({ sandbox, driver, person }: Life): Promise<Finding> {
  const devices = await sandbox.activeDevices(person);
  const view = await viewOf(driver);
  if (devices.length !== 1) return `${devices.length} active devices`;
  if (view.status !== 'enrolled' || view.device_id !== devices[0]!.id) return `the phone says ${JSON.stringify(view)}`;
  const self = await driver.call('self');
  return self.ok ? undefined : `self: ${self.error}`;
}

/** Does what the phone's state asks for until it is enrolled. */
async function enrol(life: Life): Promise<Finding> {
  for (let turn = 0; turn < turnsMax; turn += 1) {
    const { status } = await viewOf(life.driver);
    if (status === 'enrolled') return undefined;
    if (status === 'none') await tell(life, 'redeem', { token: life.token });
    else if (status === 'unverified') await tell(life, 'pin', { pin: await life.sandbox.pinOf(life.person) });
    else await tell(life, status === 'verified' || status === 'pending_approval' ? 'enroll' : 'resume');
  }
  return `not enrolled but ${(await viewOf(life.driver)).status}`;
}

/** Asks for a decision until there is one; gives the approval's state on the server. */
async function decide(life: Life, command: 'approve' | 'deny'): Promise<string> {
  const { id, number } = await life.sandbox.ask(life.person);
  for (let turn = 0; turn < turnsMax && (await life.sandbox.stateOf(id)) === 'pending'; turn += 1)
    await tell(life, command, command === 'approve' ? { approval: id, number } : { approval: id, reason: 'mistake' });
  return life.sandbox.stateOf(id);
}

/** A command; a phone that died is started again and resumes. */
async function tell({ driver }: Life, command: string, fields?: Readonly<Record<string, unknown>>): Promise<DriverAnswer> {
  const answer = await driver.call(command, fields);
  if (!answer.ok && answer.error === 'died') await driver.call('resume');
  return answer;
}

async function viewOf(driver: Driver): Promise<PhoneView> {
  const answer = await driver.call('state');
  if (!answer.ok) return { status: answer.error, device_id: undefined };
  const { status, device_id: id } = (answer.value ?? {}) as Readonly<Record<string, unknown>>;
  return { status: String(status), device_id: typeof id === 'string' ? id : undefined };
}

/** An enrolled phone first, then the rule. */
const enrolled =
  (work: (life: Life) => Promise<Finding>) =>
  async (life: Life): Promise<Finding> =>
    (await enrol(life)) ?? work(life);

const refusal = (status: number, kind: string | undefined, error = 'unauthorized', more: object = {}) => ({
  status,
  body: { error, message: 'No.', ...(kind === undefined ? {} : { kind }), ...more },
});

const singleRules: readonly (readonly [rule: string, expected: string, work: (life: Life) => Promise<Finding>])[] = [
  ['a PIN is sent once, even when its answer is lost', 'one request', pinOnce],
  ['a wrong link leaves an enrolled phone as it is', 'token_invalid, and still enrolled', enrolled(wrongLink)],
  ['a clock an hour off is corrected', 'an answer', enrolled(skewed)],
  ['426 fails that call, and the phone works again when it is tried later', 'upgrade_required, then an answer', enrolled(upgrade)],
  ['one device_key_revoked is doubted: the phone asks /self and stays', 'still enrolled', enrolled(doubted)],
  ['a phone that is revoked says so', 'revoked', enrolled(revoked)],
  ['429 is waited for', 'an answer', enrolled(limited)],
];

async function pinOnce({ sandbox, driver, person, token }: Life): Promise<Finding> {
  await driver.call('redeem', { token });
  sandbox.gateway.plan({ path: /\/pin\/verify$/, kind: 'answer lost' });
  await driver.call('pin', { pin: await sandbox.pinOf(person) });
  const { size } = sandbox.gateway.asked(/\/pin\/verify$/);
  return size === 1 ? undefined : `${size} requests`;
}

async function wrongLink(life: Life): Promise<Finding> {
  const answer = await life.driver.call('redeem', { token: 'A'.repeat(43) });
  if (answer.ok || answer.error !== 'token_invalid') return answer.ok ? 'no refusal' : answer.error;
  return judgeEnd(life);
}

async function skewed(life: Life): Promise<Finding> {
  await life.driver.call('clock', { offset_ms: 3_600_000 });
  return judgeEnd(life);
}

async function upgrade(life: Life): Promise<Finding> {
  const { driver, sandbox } = life;
  sandbox.gateway.plan({ path: /\/self$/, kind: refusal(426, undefined, 'upgrade_required', { min_supported: 2, current: 2 }) });
  const answer = await driver.call('self');
  if (answer.ok || answer.error !== 'upgrade_required') return answer.ok ? 'an answer to the call that got 426' : answer.error;
  await driver.call('clock', { offset_ms: 120_000 });
  return judgeEnd(life);
}

async function doubted(life: Life): Promise<Finding> {
  life.sandbox.gateway.plan({ path: /\/approvals$/, kind: refusal(401, 'device_key_revoked') });
  await life.driver.call('list');
  if (!life.sandbox.gateway.isMet()) return 'the phone never asked for its approvals';
  return judgeEnd(life);
}

async function revoked({ sandbox, driver, person }: Life): Promise<Finding> {
  await sandbox.revoke(person);
  const answer = await driver.call('list');
  const { status } = await viewOf(driver);
  return !answer.ok && status === 'revoked' ? undefined : `${answer.ok ? 'an answer' : answer.error}, and ${status}`;
}

async function limited(life: Life): Promise<Finding> {
  const kind = { ...refusal(429, undefined, 'rate_limited', { retry_after_seconds: 1 }), headers: { 'retry-after': '1' } };
  life.sandbox.gateway.plan({ path: /\/self$/, kind });
  return judgeEnd(life);
}
