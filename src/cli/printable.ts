// What commands print goes to a terminal, and much of it strangers typed: names at a sign-in, values that were refused. None of it
// may command the terminal (ECMA-48), or make a line of its own where we show one.

/** Text for a terminal: control characters but line breaks and tabs as JSON writes them, which leaves JSON what it is. */
export const printable = (text: string): string => text.replace(/(?![\n\t])\p{Cc}/gu, escaped);

/** A value within a line. */
export const oneLine = (text: string): string => text.replace(/\p{Cc}/gu, escaped);

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
