// The links of QR codes. Everything secret stands in the fragment, so no server logs it.

export interface EnrollmentLink {
  readonly baseUrl: string;
  readonly token: string;
}

export interface SignInLink {
  readonly baseUrl: string;
  readonly code: string;
}

/** The token inside an enrolment link, or undefined when the text is none. */
export function parseEnrollmentLink(text: string): EnrollmentLink | undefined {
  const match = /^(https?:\/\/[^#?\s]+)\/enroll#v=1&t=([A-Za-z0-9_-]+)$/.exec(text);
  return match?.[1] !== undefined && match[2] !== undefined ? { baseUrl: match[1], token: match[2] } : undefined;
}

/** The code inside the link of a sign-in page, or undefined when the text is none. */
export function parseSignInLink(text: string): SignInLink | undefined {
  const match = /^(https?:\/\/[^#?\s]+)\/scan#v=1&c=([A-Za-z0-9._-]+)$/.exec(text);
  return match?.[1] !== undefined && match[2] !== undefined ? { baseUrl: match[1], code: match[2] } : undefined;
}
