// The scopes that are ours, and what each opens (OpenID Connect Core 5.4, 11); resources add theirs. Pure.

export const standardScopes = ['openid', 'profile', 'email', 'phone', 'address', 'offline_access', 'groups'] as const;

/** Asks for refresh tokens. Clients ask for it as soon as an API's metadata name it; where none comes of it, it is not heard. */
export const offlineScope: (typeof standardScopes)[number] = 'offline_access';

/** For whoever chooses them. */
export const scopeMeanings: Readonly<Record<(typeof standardScopes)[number], string>> = {
  openid: 'An ID token: people sign in.',
  profile: 'Names, picture, language.',
  email: 'Email, and whether it is verified.',
  phone: 'Phone number.',
  address: 'Postal address.',
  offline_access: 'Refresh tokens, for as long as nobody revokes them.',
  groups: 'The groups a person is in.',
};
