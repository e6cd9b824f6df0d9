// The texts of the sign-in that a tenant may word otherwise, per step: plain text, escaped wherever it stands. One table of fields by step;
// beside each the name of the built-in text it takes the place of. `note` is a paragraph more, below the step.
import { noteCharsMax, pageTextCharsMax } from '../../contract/limits.ts';
import { type Field, field, isField, type Json, type Table, text } from '../field.ts';

/** Of each step: its texts, and the built-in ones (texts/page-texts.ts). */
export const builtInTexts = {
  account: { title: 'accountTitle' },
  identify: { title: 'signIn', label: 'identifier' },
  choose: {
    title: 'chooseTitle',
    phone: 'phone',
    phone_hint: 'phoneHint',
    passkey: 'passkey',
    passkey_hint: 'passkeyHint',
    email: 'email',
    email_hint: 'emailHint',
  },
  passkey: { title: 'passkeyTitle', text: 'passkeyText' },
  waiting: { title: 'waitingTitle', text: 'waitingText' },
  pin: { title: 'pinTitle', text: 'pinText', label: 'pin' },
  recovery: { title: 'recoveryTitle', text: 'recoveryText', help: 'recoveryNoCode' },
  approved: { title: 'approvedTitle' },
  consent: { text: 'consentText' },
  denied: { title: 'deniedTitle', text: 'deniedText' },
  expired: { title: 'expiredTitle', text: 'expiredText' },
  finished: { title: 'finishedTitle', text: 'finishedText' },
} as const;

export type LoginStep = keyof typeof builtInTexts;
export const loginSteps = Object.keys(builtInTexts) as readonly LoginStep[];

export const loginStepLabels: Readonly<Record<LoginStep, string>> = {
  account: 'Choose an account',
  identify: 'Who are you',
  choose: 'Choose how to sign in',
  passkey: 'Passkey',
  waiting: 'Waiting for the phone',
  pin: 'Mailed code',
  recovery: 'Recovery code',
  approved: 'Signed in',
  consent: 'Consent',
  denied: 'Declined',
  expired: 'Took too long',
  finished: 'Finished',
};

const labels: Readonly<Record<string, string>> = {
  title: 'Title',
  text: 'Text',
  label: 'Label of the field',
  help: 'Help',
  note: 'Note below',
};
const labelOf = (name: string): string => labels[name] ?? name.replace('_', ', ').replace(/^./, (first) => first.toUpperCase());
const noSource = (value: string): string | undefined =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  /[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]/.test(value) ? 'must be plain text without control characters' : undefined;

const line = text(pageTextCharsMax);
const paragraph = { ...text(noteCharsMax), input: 'paragraph' } as const;
const fieldsOf = (step: LoginStep): Readonly<Record<string, Field>> =>
  Object.fromEntries(
    [...Object.keys(builtInTexts[step]), 'note'].map((name): [string, Field] => [
      name,
      field(name, name === 'note' ? paragraph : line, { label: labelOf(name), tab: loginStepLabels[step], check: noSource }) as Field,
    ]),
  );

/** Steps, each with its texts; a text that is absent is the built-in one. */
export const loginTextFields: Table = Object.fromEntries(loginSteps.map((step) => [step, fieldsOf(step)]));

export type LoginTexts = Readonly<Partial<Record<LoginStep, Readonly<Record<string, string>>>>>;

/** Of JSON that has the shape: the texts that are there. */
export function readLoginTexts(json: Json): LoginTexts {
  const steps = loginSteps.map((step) => {
    const given = (json[step] ?? {}) as Json;
    const names = Object.keys(loginTextFields[step] ?? {}).filter((name) => typeof given[name] === 'string');
    return [step, Object.fromEntries(names.map((name) => [name, given[name]]))] as const;
  });
  return Object.fromEntries(steps.filter(([, texts]) => Object.keys(texts).length > 0)) as LoginTexts; // steps of the table
}

/** The first text that must not be, by its path. */
export function loginTextsFault(texts: LoginTexts): { readonly field: string; readonly text: string } | undefined {
  for (const [step, given] of Object.entries(texts))
    for (const [name, value] of Object.entries(given)) {
      const one = (loginTextFields[step] as Table)[name];
      const fault = one !== undefined && isField(one) ? one.about.check?.(value) : undefined;
      if (fault !== undefined) return { field: `${step}.${name}`, text: fault };
    }
  return undefined;
}
