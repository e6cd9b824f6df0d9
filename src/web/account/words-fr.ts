// The words of the account page in French.
import type { AccountWords } from './words.ts';

export const fr: AccountWords = {
  skip: 'Aller au contenu',
  navigation: 'Compte',
  signOut: 'Se déconnecter',
  signIn: 'Se connecter',
  overview: 'Vue d’ensemble',
  signedOutTitle: 'Vous êtes déconnecté',
  signInAgain: 'Se reconnecter',
  notSignedInTitle: 'Connexion non établie',
  notStarted: 'La connexion n’a pas été commencée dans ce navigateur, ou a pris trop de temps.',
  cancelled: 'La connexion a été annulée.',
  notCompleted: 'La connexion n’a pas pu aboutir.',
  name: 'Nom',
  userName: 'Nom d’utilisateur',
  emails: 'E-mail',
  signedInSince: 'Connecté depuis',
  signedInBy: 'Connecté avec',
  byPhone: 'téléphone',
  byPasskey: 'clé d’accès',
  byEmailCode: 'code par e-mail',
};
