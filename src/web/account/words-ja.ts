// The words of the account page in Japanese.
import type { AccountWords } from './words.ts';

export const ja: AccountWords = {
  skip: '本文へ移動',
  navigation: 'アカウント',
  signOut: 'サインアウト',
  signIn: 'サインイン',
  overview: '概要',
  signedOutTitle: 'サインアウトしました',
  signInAgain: 'もう一度サインイン',
  notSignedInTitle: 'サインインしていません',
  notStarted: 'このブラウザーで始めたサインインではないか、時間がかかりすぎました。',
  cancelled: 'サインインは取り消されました。',
  notCompleted: 'サインインを完了できませんでした。',
  name: '名前',
  userName: 'ユーザー名',
  emails: 'メールアドレス',
  signedInSince: 'サインイン日時',
  signedInBy: 'サインイン方法',
  byPhone: 'スマートフォン',
  byPasskey: 'パスキー',
  byEmailCode: 'メールのコード',
};
