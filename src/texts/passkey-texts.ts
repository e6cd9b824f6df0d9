// The texts of the passkey pages of the account, one catalog per language. A catalog that lacks a text does not compile.
import type { Language } from '../domain/language.ts';

export interface PasskeyTexts {
  readonly none: string;
  readonly add: string;
  readonly added: string;
  readonly lastUsed: string;
  readonly never: string;
  readonly synced: string;
  readonly full: (max: number) => string;
  readonly newTitle: string;
  readonly newText: string;
  readonly nameLabel: string;
  readonly nameHint: string;
  readonly suggested: (count: number) => string;
  readonly create: string;
  readonly needsScript: string;
  readonly unsupported: string;
  readonly address: string;
  readonly failed: string;
  readonly here: string;
  readonly refused: string;
  readonly badName: (max: number) => string;
  readonly signInTitle: string;
  readonly signInText: string;
  readonly phoneText: string;
  readonly signIn: string;
  readonly save: string;
  readonly revoke: string;
  readonly revokeText: string;
  readonly revokeNow: string;
  readonly back: string;
}

const en: PasskeyTexts = {
  none: 'You have no passkeys yet.',
  add: 'Add a passkey',
  added: 'Added',
  lastUsed: 'Last used',
  never: 'Never',
  synced: 'synced between your devices',
  full: (max) => `You have ${max} passkeys, which is as many as fit. Revoke one to add another.`,
  newTitle: 'Add a passkey',
  newText: 'Give it a name by which you will know it. Your browser then asks where to keep it.',
  nameLabel: 'Name',
  nameHint: 'For example the device or the security key.',
  suggested: (count) => `Passkey ${count}`,
  create: 'Create passkey',
  needsScript: 'Passkeys need JavaScript, which is off in this browser.',
  unsupported: 'This browser cannot create passkeys.',
  address: 'Passkeys do not work at this address.',
  failed: 'No passkey was created. Try again.',
  here: 'There is a passkey of this account on that device already.',
  refused: 'The passkey could not be added. Try again.',
  badName: (max) => `Enter a name of at most ${max} characters.`,
  signInTitle: 'Sign in again',
  signInText: 'To add a passkey you must have signed in within the last ten minutes.',
  phoneText: 'To add a passkey, sign in with your phone or a passkey you have. A code by email is not enough.',
  signIn: 'Sign in again',
  save: 'Save',
  revoke: 'Revoke',
  revokeText: 'Nobody can sign in with it afterwards. It may stay listed on your device; remove it there, too.',
  revokeNow: 'Revoke this passkey',
  back: 'All passkeys',
};

const de: PasskeyTexts = {
  none: 'Sie haben noch keine Passkeys.',
  add: 'Passkey hinzufügen',
  added: 'Hinzugefügt',
  lastUsed: 'Zuletzt verwendet',
  never: 'Nie',
  synced: 'zwischen Ihren Geräten abgeglichen',
  full: (max) => `Sie haben ${max} Passkeys; mehr sind nicht möglich. Widerrufen Sie einen, um einen anderen hinzuzufügen.`,
  newTitle: 'Passkey hinzufügen',
  newText: 'Geben Sie ihm einen Namen, an dem Sie ihn erkennen. Ihr Browser fragt dann, wo er aufbewahrt wird.',
  nameLabel: 'Name',
  nameHint: 'Zum Beispiel das Gerät oder der Sicherheitsschlüssel.',
  suggested: (count) => `Passkey ${count}`,
  create: 'Passkey erstellen',
  needsScript: 'Passkeys brauchen JavaScript, das in diesem Browser ausgeschaltet ist.',
  unsupported: 'Dieser Browser kann keine Passkeys erstellen.',
  address: 'Unter dieser Adresse gehen Passkeys nicht.',
  failed: 'Es wurde kein Passkey erstellt. Versuchen Sie es noch einmal.',
  here: 'Auf diesem Gerät gibt es schon einen Passkey dieses Kontos.',
  refused: 'Der Passkey konnte nicht hinzugefügt werden. Versuchen Sie es noch einmal.',
  badName: (max) => `Geben Sie einen Namen mit höchstens ${max} Zeichen ein.`,
  signInTitle: 'Noch einmal anmelden',
  signInText: 'Um einen Passkey hinzuzufügen, müssen Sie sich in den letzten zehn Minuten angemeldet haben.',
  phoneText: 'Um einen Passkey hinzuzufügen, melden Sie sich mit Ihrem Telefon oder einem Passkey an. Ein Code per E-Mail genügt nicht.',
  signIn: 'Noch einmal anmelden',
  save: 'Speichern',
  revoke: 'Widerrufen',
  revokeText: 'Danach kann sich niemand mehr damit anmelden. Auf Ihrem Gerät kann er noch aufgeführt sein; entfernen Sie ihn auch dort.',
  revokeNow: 'Diesen Passkey widerrufen',
  back: 'Alle Passkeys',
};

const fr: PasskeyTexts = {
  none: 'Vous n’avez pas encore de clé d’accès.',
  add: 'Ajouter une clé d’accès',
  added: 'Ajoutée',
  lastUsed: 'Dernière utilisation',
  never: 'Jamais',
  synced: 'synchronisée entre vos appareils',
  full: (max) => `Vous avez ${max} clés d’accès, le maximum. Révoquez-en une pour en ajouter une autre.`,
  newTitle: 'Ajouter une clé d’accès',
  newText: 'Donnez-lui un nom qui vous permettra de la reconnaître. Votre navigateur demandera ensuite où la conserver.',
  nameLabel: 'Nom',
  nameHint: 'Par exemple l’appareil ou la clé de sécurité.',
  suggested: (count) => `Clé d’accès ${count}`,
  create: 'Créer la clé d’accès',
  needsScript: 'Les clés d’accès ont besoin de JavaScript, désactivé dans ce navigateur.',
  unsupported: 'Ce navigateur ne peut pas créer de clé d’accès.',
  address: 'Les clés d’accès ne fonctionnent pas à cette adresse.',
  failed: 'Aucune clé d’accès n’a été créée. Réessayez.',
  here: 'Cet appareil a déjà une clé d’accès de ce compte.',
  refused: 'La clé d’accès n’a pas pu être ajoutée. Réessayez.',
  badName: (max) => `Saisissez un nom de ${max} caractères au plus.`,
  signInTitle: 'Reconnectez-vous',
  signInText: 'Pour ajouter une clé d’accès, vous devez vous être connecté dans les dix dernières minutes.',
  phoneText: 'Pour ajouter une clé d’accès, connectez-vous avec votre téléphone ou une clé d’accès. Un code par e-mail ne suffit pas.',
  signIn: 'Se reconnecter',
  save: 'Enregistrer',
  revoke: 'Révoquer',
  revokeText: 'Plus personne ne pourra se connecter avec elle. Elle peut rester affichée sur votre appareil ; supprimez-la aussi là-bas.',
  revokeNow: 'Révoquer cette clé d’accès',
  back: 'Toutes les clés d’accès',
};

const ja: PasskeyTexts = {
  none: 'パスキーはまだありません。',
  add: 'パスキーを追加',
  added: '追加日時',
  lastUsed: '最終使用',
  never: '未使用',
  synced: '端末間で同期',
  full: (max) => `パスキーは ${max} 個までです。追加するには、どれかを無効にしてください。`,
  newTitle: 'パスキーを追加',
  newText: '見分けられる名前を付けてください。続いて、ブラウザーが保存先を尋ねます。',
  nameLabel: '名前',
  nameHint: '端末やセキュリティキーの名前など。',
  suggested: (count) => `パスキー ${count}`,
  create: 'パスキーを作成',
  needsScript: 'パスキーには JavaScript が必要ですが、このブラウザーでは無効です。',
  unsupported: 'このブラウザーではパスキーを作成できません。',
  address: 'このアドレスではパスキーを使えません。',
  failed: 'パスキーは作成されませんでした。もう一度お試しください。',
  here: 'その端末には、このアカウントのパスキーがすでにあります。',
  refused: 'パスキーを追加できませんでした。もう一度お試しください。',
  badName: (max) => `${max} 文字以内の名前を入力してください。`,
  signInTitle: 'もう一度サインイン',
  signInText: 'パスキーを追加するには、10 分以内にサインインしている必要があります。',
  phoneText: 'パスキーを追加するには、スマートフォンまたはお持ちのパスキーでサインインしてください。メールのコードでは足りません。',
  signIn: 'もう一度サインイン',
  save: '保存',
  revoke: '無効にする',
  revokeText: '以後、このパスキーではサインインできません。端末に残っている場合は、そちらでも削除してください。',
  revokeNow: 'このパスキーを無効にする',
  back: 'パスキーの一覧',
};

export const passkeyCatalogs: Readonly<Record<Language, PasskeyTexts>> = { en, de, fr, ja };
