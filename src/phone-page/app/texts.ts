// What the web phone says, in four languages.
import { fr } from './texts-fr.ts';
import { ja } from './texts-ja.ts';

export interface Texts {
  readonly setUp: string;
  readonly setUpLead: (tenant: string) => string;
  readonly noAuthenticator: string;
  readonly invitation: string;
  readonly invitationLead: string;
  readonly notALink: string;
  readonly createKey: string;
  readonly almost: string;
  readonly almostLead: string;
  readonly proveKey: string;
  readonly cancel: string;
  readonly next: string;
  readonly pin: string;
  readonly pinTitle: string;
  readonly otherDevice: string;
  readonly otherDeviceLead: string;
  readonly ready: string;
  readonly nothingWaits: string;
  readonly lastUsed: (when: string) => string;
  readonly notUsed: string;
  readonly notificationsOn: string;
  readonly notificationsOff: string;
  readonly newDevice: string;
  /** What is asked, below the name of who asks. */
  readonly asksSignIn: string;
  readonly asksApproval: string;
  readonly asksDevice: string;
  readonly factBrowser: string;
  readonly factAddress: string;
  readonly factTime: string;
  readonly factDevice: string;
  readonly browserOn: (browser: string, system: string) => string;
  readonly unknownBrowser: string;
  readonly scopes: string;
  readonly number: string;
  readonly approve: string;
  readonly deny: string;
  readonly notMe: string;
  /** What comes of saying that it was not oneself. */
  readonly notMeNext: string;
  readonly mistake: string;
  readonly approved: string;
  readonly denied: string;
  readonly activity: string;
  readonly thisPhone: string;
  readonly name: string;
  readonly rename: string;
  readonly letIn: string;
  readonly letInNow: string;
  readonly renewKey: string;
  readonly remove: string;
  readonly removeQuestion: string;
  readonly addPerson: string;
  readonly browser: string;
  readonly mobileBrowser: string;
  readonly notVerified: string;
  readonly linkDead: string;
  readonly disabled: string;
  readonly wrongPin: string;
  readonly deviceDenied: string;
  readonly wrongNumber: string;
  readonly over: string;
  readonly revoked: string;
  readonly noAnswer: string;
  readonly offline: string;
  readonly scan: string;
  readonly scanLead: string;
  readonly noCamera: string;
  readonly paste: string;
  readonly link: string;
  readonly open: string;
  readonly elsewhere: (host: string) => string;
  readonly elsewhereLead: string;
  readonly signIn: string;
  readonly signInLead: string;
  readonly show: string;
  readonly codeDead: string;
  readonly back: string;
  readonly other: string;
  readonly keyRenewed: string;
  readonly renamed: string;
  readonly install: string;
  readonly homeScreen: string;
  readonly homeScreenLead: string;
  readonly copy: string;
  readonly copied: string;
  readonly notify: string;
  readonly notified: string;
}

const en: Texts = {
  setUp: 'Set up this phone',
  setUpLead: (tenant) => `This browser will approve your sign-ins at ${tenant}. Your fingerprint, face or screen lock protects it.`,
  noAuthenticator: 'This browser cannot verify you. Switch on a screen lock, fingerprint or face unlock, or use another browser.',
  invitation: 'Invitation link',
  invitationLead: 'Scan the code or paste the link you were given.',
  notALink: 'That is no link of an invitation or a sign-in.',
  createKey: 'Create my key',
  almost: 'Almost done',
  almostLead: 'Confirm once more, so that we know the key works.',
  proveKey: 'Confirm',
  cancel: 'Cancel',
  next: 'Continue',
  pin: 'Code',
  pinTitle: 'Type the code we mailed you',
  otherDevice: 'Approve this on your other phone',
  otherDeviceLead: 'Type this number there.',
  ready: 'Ready',
  lastUsed: (when) => `Last used ${when}`,
  notUsed: 'Not used yet',
  notificationsOn: 'Notifications are on.',
  notificationsOff: 'Notifications are off.',
  asksSignIn: 'wants to sign you in',
  asksApproval: 'asks you to agree',
  asksDevice: 'asks to approve your sign-ins from now on',
  factBrowser: 'With',
  factAddress: 'From',
  factTime: 'When',
  factDevice: 'Phone',
  browserOn: (browser, system) => `${browser} on ${system}`,
  unknownBrowser: 'A program we do not know',
  scopes: 'It may then',
  nothingWaits: 'Nothing waits.',
  newDevice: 'A new phone',
  number: 'Number on the other screen',
  approve: 'Approve',
  deny: 'Deny',
  notMe: 'It was not me',
  notMeNext: 'If it was not you, say so: it is recorded, and saying it twice in ten minutes stops further requests for fifteen.',
  mistake: 'A mistake',
  approved: 'Approved',
  denied: 'Denied',
  activity: 'Activity',
  thisPhone: 'This phone',
  name: 'Name of this phone',
  rename: 'Rename',
  letIn: 'Let me in somewhere new',
  letInNow: 'For ten minutes a browser that does not know you lets you in, though strangers tried too often.',
  renewKey: 'Renew the key',
  remove: 'Remove this phone',
  removeQuestion: 'Shall this phone no longer approve sign-ins?',
  addPerson: 'Add a person',
  browser: 'Browser',
  mobileBrowser: 'Browser on a phone',
  notVerified: 'You were not verified. Try again.',
  linkDead: 'This link no longer works. Ask for a new one.',
  disabled: 'Phones in a browser are switched off here.',
  wrongPin: 'That code does not work.',
  deviceDenied: 'The other phone denied it.',
  wrongNumber: 'The number was wrong, so the sign-in was denied.',
  over: 'This request is over.',
  revoked: 'This phone was removed. Ask for a new invitation.',
  noAnswer: 'That did not work. Try again.',
  offline: 'No connection. Trying again.',
  scan: 'Scan a code',
  scanLead: 'Point the camera at the code.',
  noCamera: 'The camera cannot be used. Allow it, or paste the link.',
  paste: 'Paste a link',
  link: 'Link of an invitation or a sign-in',
  open: 'Open',
  elsewhere: (host) => `This code belongs to ${host}`,
  elsewhereLead: 'Open it there only if you know that site.',
  signIn: 'A sign-in waits for you',
  signInLead: 'Go on only if you started it yourself just now.',
  show: 'Show who asks',
  codeDead: 'This code no longer works. It lasts 30 seconds: take the one the page shows now.',
  back: 'Go back to the page you came from.',
  other: 'Another reason',
  keyRenewed: 'The key was renewed.',
  renamed: 'The name was changed.',
  install: 'Install the app',
  homeScreen: 'Add to Home Screen',
  homeScreenLead:
    'Copy the invitation. Then choose Share and “Add to Home Screen”, open the app there and paste the invitation. A tab may lose its keys.',
  copy: 'Copy the invitation',
  copied: 'Copied.',
  notify: 'Notify me when something waits',
  notified: 'You will be notified.',
};

const de: Texts = {
  setUp: 'Dieses Telefon einrichten',
  setUpLead: (tenant) =>
    `Dieser Browser bestätigt Ihre Anmeldungen bei ${tenant}. Fingerabdruck, Gesicht oder Bildschirmsperre schützen ihn.`,
  noAuthenticator:
    'Dieser Browser kann Sie nicht prüfen. Schalten Sie Bildschirmsperre, Fingerabdruck oder Gesichtserkennung ein oder nehmen Sie einen anderen Browser.',
  invitation: 'Einladungslink',
  invitationLead: 'Scannen Sie den Code oder fügen Sie den Link ein, den Sie bekommen haben.',
  notALink: 'Das ist kein Link einer Einladung oder Anmeldung.',
  createKey: 'Schlüssel anlegen',
  almost: 'Fast fertig',
  almostLead: 'Bestätigen Sie noch einmal, damit wir wissen, dass der Schlüssel funktioniert.',
  proveKey: 'Bestätigen',
  cancel: 'Abbrechen',
  next: 'Weiter',
  pin: 'Code',
  pinTitle: 'Geben Sie den Code aus unserer E-Mail ein',
  otherDevice: 'Bestätigen Sie auf Ihrem anderen Telefon',
  otherDeviceLead: 'Geben Sie dort diese Zahl ein.',
  ready: 'Bereit',
  lastUsed: (when) => `Zuletzt benutzt ${when}`,
  notUsed: 'Noch nicht benutzt',
  notificationsOn: 'Benachrichtigungen sind an.',
  notificationsOff: 'Benachrichtigungen sind aus.',
  asksSignIn: 'möchte Sie anmelden',
  asksApproval: 'bittet um Ihre Zustimmung',
  asksDevice: 'möchte künftig Ihre Anmeldungen bestätigen',
  factBrowser: 'Mit',
  factAddress: 'Von',
  factTime: 'Wann',
  factDevice: 'Telefon',
  browserOn: (browser, system) => `${browser} auf ${system}`,
  unknownBrowser: 'Ein Programm, das wir nicht kennen',
  scopes: 'Das darf sie dann',
  nothingWaits: 'Nichts wartet.',
  newDevice: 'Ein neues Telefon',
  number: 'Zahl auf dem anderen Bildschirm',
  approve: 'Bestätigen',
  deny: 'Ablehnen',
  notMe: 'Das war ich nicht',
  notMeNext:
    'Wenn Sie es nicht waren, sagen Sie es: Es wird festgehalten, und wer es zweimal in zehn Minuten sagt, bekommt fünfzehn Minuten lang keine Anfragen mehr.',
  mistake: 'Ein Versehen',
  approved: 'Bestätigt',
  denied: 'Abgelehnt',
  activity: 'Aktivität',
  thisPhone: 'Dieses Telefon',
  name: 'Name dieses Telefons',
  rename: 'Umbenennen',
  letIn: 'Mich anderswo hineinlassen',
  letInNow: 'Zehn Minuten lang lässt ein Browser, der Sie nicht kennt, Sie hinein, auch wenn Fremde es zu oft versucht haben.',
  renewKey: 'Schlüssel erneuern',
  remove: 'Dieses Telefon entfernen',
  removeQuestion: 'Soll dieses Telefon keine Anmeldungen mehr bestätigen?',
  addPerson: 'Person hinzufügen',
  browser: 'Browser',
  mobileBrowser: 'Browser auf einem Telefon',
  notVerified: 'Sie wurden nicht erkannt. Versuchen Sie es noch einmal.',
  linkDead: 'Dieser Link gilt nicht mehr. Bitten Sie um einen neuen.',
  disabled: 'Telefone im Browser sind hier ausgeschaltet.',
  wrongPin: 'Dieser Code gilt nicht.',
  deviceDenied: 'Das andere Telefon hat abgelehnt.',
  wrongNumber: 'Die Zahl war falsch, die Anmeldung wurde abgelehnt.',
  over: 'Diese Anfrage ist vorbei.',
  revoked: 'Dieses Telefon wurde entfernt. Bitten Sie um eine neue Einladung.',
  noAnswer: 'Das hat nicht geklappt. Versuchen Sie es noch einmal.',
  offline: 'Keine Verbindung. Neuer Versuch.',
  scan: 'Code scannen',
  scanLead: 'Richten Sie die Kamera auf den Code.',
  noCamera: 'Die Kamera ist nicht verfügbar. Erlauben Sie sie oder fügen Sie den Link ein.',
  paste: 'Link einfügen',
  link: 'Link einer Einladung oder Anmeldung',
  open: 'Öffnen',
  elsewhere: (host) => `Dieser Code gehört zu ${host}`,
  elsewhereLead: 'Öffnen Sie ihn dort nur, wenn Sie diese Seite kennen.',
  signIn: 'Eine Anmeldung wartet auf Sie',
  signInLead: 'Fahren Sie nur fort, wenn Sie sie gerade selbst begonnen haben.',
  show: 'Zeigen, wer fragt',
  codeDead: 'Dieser Code gilt nicht mehr. Er gilt 30 Sekunden: Nehmen Sie den, den die Seite jetzt zeigt.',
  back: 'Gehen Sie zurück zur Seite, von der Sie kommen.',
  other: 'Ein anderer Grund',
  keyRenewed: 'Der Schlüssel wurde erneuert.',
  renamed: 'Der Name wurde geändert.',
  install: 'App installieren',
  homeScreen: 'Zum Home-Bildschirm',
  homeScreenLead:
    'Kopieren Sie die Einladung. Wählen Sie dann Teilen und „Zum Home-Bildschirm“, öffnen Sie dort die App und fügen Sie die Einladung ein. Ein Tab kann seine Schlüssel verlieren.',
  copy: 'Einladung kopieren',
  copied: 'Kopiert.',
  notify: 'Mitteilen, wenn etwas wartet',
  notified: 'Sie werden benachrichtigt.',
};

const languages: Readonly<Record<string, Texts>> = { en, de, fr, ja };

export const textsOf = (language: string): Texts => languages[language] ?? en;
