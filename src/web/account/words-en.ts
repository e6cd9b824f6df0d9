// The words of the account page in English, and the shape of every other catalog.

export const en = {
  skip: 'Skip to content',
  navigation: 'Account',
  signOut: 'Sign out',
  signIn: 'Sign in',
  overview: 'Overview',
  signedOutTitle: 'Signed out',
  signInAgain: 'Sign in again',
  notSignedInTitle: 'Not signed in',
  notStarted: 'The sign-in was not started in this browser, or took too long.',
  cancelled: 'The sign-in was cancelled.',
  notCompleted: 'The sign-in could not be completed.',
  name: 'Name',
  userName: 'User name',
  emails: 'Email',
  signedInSince: 'Signed in since',
  signedInBy: 'Signed in by',
  byPhone: 'phone',
  byPasskey: 'passkey',
  byEmailCode: 'code by email',
} as const;
