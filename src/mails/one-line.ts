// Names in mails come from tenants, clients and people.

/** A name without line breaks: one must not make a new line of a mail. */
export const oneLine = (name: string): string => name.replace(/\s+/gu, ' ').trim();
