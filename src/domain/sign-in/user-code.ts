// The code a person types to sign a device in (RFC 8628 6.1): eight of twenty consonants, so that it spells no word, shown in two
// halves. Pure; how it is drawn is the caller's.

/** Twenty letters, none of which is read as another. */
export const userCodeLetters = 'BCDFGHJKLMNPQRSTVWXZ';
export const userCodeLength = 8;

export const shownUserCode = (code: string): string => `${code.slice(0, userCodeLength / 2)}-${code.slice(userCodeLength / 2)}`;

const syntax = new RegExp(`^[${userCodeLetters}]{${userCodeLength}}$`);

/** What was typed as the code it stands for, in whatever case and with whatever dashes and spaces; undefined for no code at all. */
export function parseUserCode(typed: string): string | undefined {
  const code = typed.replaceAll(/[\s\p{Pd}.]/gu, '').toUpperCase();
  return syntax.test(code) ? code : undefined;
}
