// The words of the account page in German.
import type { AccountWords } from './words.ts';

export const de: AccountWords = {
  skip: 'Zum Inhalt springen',
  navigation: 'Konto',
  signOut: 'Abmelden',
  signIn: 'Anmelden',
  overview: 'Übersicht',
  signedOutTitle: 'Abgemeldet',
  signInAgain: 'Wieder anmelden',
  notSignedInTitle: 'Nicht angemeldet',
  notStarted: 'Die Anmeldung wurde nicht in diesem Browser begonnen oder hat zu lange gedauert.',
  cancelled: 'Die Anmeldung wurde abgebrochen.',
  notCompleted: 'Die Anmeldung konnte nicht abgeschlossen werden.',
  name: 'Name',
  userName: 'Benutzername',
  emails: 'E-Mail',
  signedInSince: 'Angemeldet seit',
  signedInBy: 'Angemeldet mit',
  byPhone: 'Telefon',
  byPasskey: 'Passkey',
  byEmailCode: 'Code per E-Mail',
};
