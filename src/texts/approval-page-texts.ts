// The texts of the page of a mailed request, one catalog per language. A catalog that lacks a text does not compile.
import type { Language } from '../domain/language.ts';

export interface ApprovalPageTexts {
  readonly title: (name: string) => string;
  readonly lead: string;
  readonly client: string;
  readonly message: string;
  readonly from: string;
  readonly at: string;
  readonly approve: string;
  readonly deny: string;
  readonly notMe: string;
  readonly approved: string;
  readonly denied: string;
  readonly expired: string;
  readonly close: string;
}

export const approvalPageCatalogs: Readonly<Record<Language, ApprovalPageTexts>> = {
  en: {
    title: (name) => `Approve ${name}?`,
    lead: 'Approve only what you started yourself.',
    client: 'Application',
    message: 'Message',
    from: 'Asked from',
    at: 'At',
    approve: 'Approve',
    deny: 'Refuse',
    notMe: 'I did not start this',
    approved: 'Approved',
    denied: 'Refused',
    expired: 'This request has expired',
    close: 'You can close this page.',
  },
  de: {
    title: (name) => `${name} zustimmen?`,
    lead: 'Stimmen Sie nur zu, wenn Sie dies selbst begonnen haben.',
    client: 'Anwendung',
    message: 'Nachricht',
    from: 'Angefragt von',
    at: 'Um',
    approve: 'Zustimmen',
    deny: 'Ablehnen',
    notMe: 'Das war ich nicht',
    approved: 'Zugestimmt',
    denied: 'Abgelehnt',
    expired: 'Diese Anfrage ist abgelaufen',
    close: 'Sie können diese Seite schließen.',
  },
  fr: {
    title: (name) => `Approuver ${name} ?`,
    lead: 'N’approuvez que ce que vous avez commencé vous-même.',
    client: 'Application',
    message: 'Message',
    from: 'Demandé depuis',
    at: 'À',
    approve: 'Approuver',
    deny: 'Refuser',
    notMe: 'Ce n’était pas moi',
    approved: 'Approuvé',
    denied: 'Refusé',
    expired: 'Cette demande a expiré',
    close: 'Vous pouvez fermer cette page.',
  },
  ja: {
    title: (name) => `${name} を承認しますか？`,
    lead: 'ご自身で開始した操作だけを承認してください。',
    client: 'アプリケーション',
    message: 'メッセージ',
    from: 'リクエスト元',
    at: '時刻',
    approve: '承認する',
    deny: '拒否する',
    notMe: '自分ではありません',
    approved: '承認しました',
    denied: '拒否しました',
    expired: 'このリクエストは期限切れです',
    close: 'このページを閉じてください。',
  },
};
