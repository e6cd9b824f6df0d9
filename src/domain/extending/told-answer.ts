// What a target answers, as administrators read it: without what we told it to sign in, which some targets echo. Pure.

const mask = '***';

/** The text without these credentials, as they are and as URLs, JSON and base64 write them. */
export function withoutCredentials(text: string, credentials: readonly string[]): string {
  const forms = credentials.filter((one) => one !== '').flatMap(formsOf);
  return forms.toSorted((a, b) => b.length - a.length).reduce((shown, form) => shown.replaceAll(form, mask), text);
}

function formsOf(credential: string): readonly string[] {
  const bytes = Buffer.from(credential);
  return [
    credential,
    encodeURIComponent(credential),
    JSON.stringify(credential).slice(1, -1),
    bytes.toString('base64'),
    bytes.toString('base64url'),
  ];
}
