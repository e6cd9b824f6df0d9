// What the web phone says, in four languages.

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
  readonly waiting: string;
  readonly nothingWaits: string;
  readonly newDevice: string;
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
  otherDevice: 'Approve this on your other device',
  otherDeviceLead: 'Type this number there.',
  waiting: 'Waiting for you',
  nothingWaits: 'Nothing waits.',
  newDevice: 'A new device',
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
  deviceDenied: 'The other device denied it.',
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
  otherDevice: 'Bestätigen Sie auf Ihrem anderen Gerät',
  otherDeviceLead: 'Geben Sie dort diese Zahl ein.',
  waiting: 'Wartet auf Sie',
  nothingWaits: 'Nichts wartet.',
  newDevice: 'Ein neues Gerät',
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
  deviceDenied: 'Das andere Gerät hat abgelehnt.',
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

const fr: Texts = {
  setUp: 'Configurer ce téléphone',
  setUpLead: (tenant) =>
    `Ce navigateur approuvera vos connexions à ${tenant}. Votre empreinte, votre visage ou le verrouillage de l’écran le protège.`,
  noAuthenticator:
    'Ce navigateur ne peut pas vous vérifier. Activez le verrouillage de l’écran, l’empreinte ou le visage, ou utilisez un autre navigateur.',
  invitation: 'Lien d’invitation',
  invitationLead: 'Scannez le code ou collez le lien que vous avez reçu.',
  notALink: 'Ce n’est pas un lien d’invitation ou de connexion.',
  createKey: 'Créer ma clé',
  almost: 'Presque terminé',
  almostLead: 'Confirmez encore une fois, pour savoir que la clé fonctionne.',
  proveKey: 'Confirmer',
  cancel: 'Annuler',
  next: 'Continuer',
  pin: 'Code',
  pinTitle: 'Saisissez le code reçu par e-mail',
  otherDevice: 'Approuvez sur votre autre appareil',
  otherDeviceLead: 'Saisissez-y ce nombre.',
  waiting: 'En attente de vous',
  nothingWaits: 'Rien en attente.',
  newDevice: 'Un nouvel appareil',
  number: 'Nombre sur l’autre écran',
  approve: 'Approuver',
  deny: 'Refuser',
  notMe: 'Ce n’était pas moi',
  notMeNext:
    'Si ce n’était pas vous, dites-le : c’est enregistré, et le dire deux fois en dix minutes arrête les demandes pendant quinze minutes.',
  mistake: 'Une erreur',
  approved: 'Approuvé',
  denied: 'Refusé',
  activity: 'Activité',
  thisPhone: 'Ce téléphone',
  name: 'Nom de ce téléphone',
  rename: 'Renommer',
  letIn: 'Me laisser entrer ailleurs',
  letInNow: 'Pendant dix minutes, un navigateur qui ne vous connaît pas vous laisse entrer, même si des inconnus ont trop essayé.',
  renewKey: 'Renouveler la clé',
  remove: 'Retirer ce téléphone',
  removeQuestion: 'Ce téléphone ne doit-il plus approuver de connexions ?',
  addPerson: 'Ajouter une personne',
  browser: 'Navigateur',
  mobileBrowser: 'Navigateur sur un téléphone',
  notVerified: 'Vous n’avez pas été vérifié. Réessayez.',
  linkDead: 'Ce lien ne fonctionne plus. Demandez-en un autre.',
  disabled: 'Les téléphones dans un navigateur sont désactivés ici.',
  wrongPin: 'Ce code ne fonctionne pas.',
  deviceDenied: 'L’autre appareil a refusé.',
  wrongNumber: 'Le nombre était faux, la connexion a été refusée.',
  over: 'Cette demande est terminée.',
  revoked: 'Ce téléphone a été retiré. Demandez une nouvelle invitation.',
  noAnswer: 'Cela n’a pas fonctionné. Réessayez.',
  offline: 'Pas de connexion. Nouvel essai.',
  scan: 'Scanner un code',
  scanLead: 'Dirigez la caméra vers le code.',
  noCamera: 'La caméra n’est pas disponible. Autorisez-la ou collez le lien.',
  paste: 'Coller un lien',
  link: 'Lien d’une invitation ou d’une connexion',
  open: 'Ouvrir',
  elsewhere: (host) => `Ce code appartient à ${host}`,
  elsewhereLead: 'Ne l’ouvrez là-bas que si vous connaissez ce site.',
  signIn: 'Une connexion vous attend',
  signInLead: 'Continuez seulement si vous venez de la commencer vous-même.',
  show: 'Voir qui demande',
  codeDead: 'Ce code ne fonctionne plus. Il dure 30 secondes : prenez celui que la page affiche maintenant.',
  back: 'Revenez à la page d’où vous venez.',
  other: 'Une autre raison',
  keyRenewed: 'La clé a été renouvelée.',
  renamed: 'Le nom a été modifié.',
  install: 'Installer l’application',
  homeScreen: 'Sur l’écran d’accueil',
  homeScreenLead:
    'Copiez l’invitation. Choisissez ensuite Partager puis « Sur l’écran d’accueil », ouvrez-y l’application et collez l’invitation. Un onglet peut perdre ses clés.',
  copy: 'Copier l’invitation',
  copied: 'Copié.',
  notify: 'Me prévenir quand une demande attend',
  notified: 'Vous serez prévenu.',
};

const ja: Texts = {
  setUp: 'この端末を設定',
  setUpLead: (tenant) => `このブラウザーで ${tenant} へのサインインを承認します。指紋、顔、または画面ロックで保護されます。`,
  noAuthenticator: 'このブラウザーでは本人確認ができません。画面ロック、指紋、または顔認証を有効にするか、別のブラウザーをお使いください。',
  invitation: '招待リンク',
  invitationLead: '受け取ったコードを読み取るか、リンクを貼り付けてください。',
  notALink: '招待またはサインインのリンクではありません。',
  createKey: '鍵を作成',
  almost: 'もう少しです',
  almostLead: '鍵が使えることを確かめるため、もう一度確認してください。',
  proveKey: '確認',
  cancel: 'キャンセル',
  next: '続ける',
  pin: 'コード',
  pinTitle: 'メールで届いたコードを入力',
  otherDevice: '別の端末で承認してください',
  otherDeviceLead: 'その端末でこの番号を入力してください。',
  waiting: '承認待ち',
  nothingWaits: '承認待ちはありません。',
  newDevice: '新しい端末',
  number: '別の画面の番号',
  approve: '承認',
  deny: '拒否',
  notMe: '自分ではない',
  notMeNext: '心当たりがない場合はそう伝えてください。記録され、10分以内に2回伝えると、15分間は新しいリクエストが届きません。',
  mistake: '間違い',
  approved: '承認しました',
  denied: '拒否しました',
  activity: 'アクティビティ',
  thisPhone: 'この端末',
  name: 'この端末の名前',
  rename: '名前を変更',
  letIn: '新しい場所でサインインする',
  letInNow: '10 分間、初めてのブラウザーからサインインできます。第三者が何度も試した場合も同様です。',
  renewKey: '鍵を更新',
  remove: 'この端末を削除',
  removeQuestion: 'この端末でサインインを承認できないようにしますか。',
  addPerson: '利用者を追加',
  browser: 'ブラウザー',
  mobileBrowser: 'スマートフォンのブラウザー',
  notVerified: '本人確認ができませんでした。もう一度お試しください。',
  linkDead: 'このリンクは使えません。新しいリンクを依頼してください。',
  disabled: 'ここではブラウザーを端末として使えません。',
  wrongPin: 'このコードは使えません。',
  deviceDenied: '別の端末で拒否されました。',
  wrongNumber: '番号が違うため、サインインは拒否されました。',
  over: 'このリクエストは終了しました。',
  revoked: 'この端末は削除されました。新しい招待を依頼してください。',
  noAnswer: 'うまくいきませんでした。もう一度お試しください。',
  offline: '接続がありません。再試行しています。',
  scan: 'コードを読み取る',
  scanLead: 'カメラをコードに向けてください。',
  noCamera: 'カメラを使えません。許可するか、リンクを貼り付けてください。',
  paste: 'リンクを貼り付け',
  link: '招待またはサインインのリンク',
  open: '開く',
  elsewhere: (host) => `このコードは ${host} のものです`,
  elsewhereLead: '知っているサイトの場合だけ、そこで開いてください。',
  signIn: 'サインインが承認を待っています',
  signInLead: 'たった今ご自身で始めた場合だけ続けてください。',
  show: '要求元を表示',
  codeDead: 'このコードは使えなくなりました。有効なのは 30 秒間です。ページに今表示されているコードをお使いください。',
  back: '元のページに戻ってください。',
  other: 'その他の理由',
  keyRenewed: '鍵を更新しました。',
  renamed: '名前を変更しました。',
  install: 'アプリをインストール',
  homeScreen: 'ホーム画面に追加',
  homeScreenLead:
    '招待をコピーし、共有メニューから「ホーム画面に追加」を選び、そこからアプリを開いて招待を貼り付けてください。タブでは鍵が失われることがあります。',
  copy: '招待をコピー',
  copied: 'コピーしました。',
  notify: '承認待ちを通知する',
  notified: '通知されます。',
};

const languages: Readonly<Record<string, Texts>> = { en, de, fr, ja };

export const textsOf = (language: string): Texts => languages[language] ?? en;
