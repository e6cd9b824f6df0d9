// The mail to administrators that a connector stopped, or waits for their word, and what to do, in the languages of the pages.
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { html } from '../platform/html.ts';
import type { Message } from '../platform/mail/mail.ts';
import { oneLine } from './one-line.ts';

export interface Wording {
  readonly subject: (connector: string, tenant: string) => string;
  readonly unauthorized: (connector: string) => string;
  readonly failing: (connector: string) => string;
  readonly approval: (connector: string) => string;
  readonly resume: string;
  readonly approve: string;
}

export const connectorStoppedMailCatalogs: Readonly<Record<Language, Wording>> = {
  en: {
    subject: (connector, tenant) => `The connector ${connector} of ${tenant} has stopped`,
    unauthorized: (connector) => `The connector ${connector} has stopped, because the application no longer accepts how it signs in.`,
    failing: (connector) => `The connector ${connector} has stopped, because the application refused most of what it was sent.`,
    approval: (connector) => `The connector ${connector} would end the accounts of many people, and waits for your approval.`,
    resume: 'It tries again once an hour, and nothing is lost. Correct its settings, or resume it once the application answers again.',
    approve: 'Look at the plan of the connector. Approve it if the accounts are to end; nothing happens until then.',
  },
  de: {
    subject: (connector, tenant) => `Der Konnektor ${connector} von ${tenant} steht still`,
    unauthorized: (connector) => `Der Konnektor ${connector} steht still, weil die Anwendung seine Anmeldung nicht mehr annimmt.`,
    failing: (connector) => `Der Konnektor ${connector} steht still, weil die Anwendung das meiste abgelehnt hat.`,
    approval: (connector) => `Der Konnektor ${connector} würde die Konten vieler Personen beenden und wartet auf Ihre Zustimmung.`,
    resume:
      'Er versucht es stündlich wieder, und nichts geht verloren. Berichtigen Sie seine Einstellungen oder setzen Sie ihn fort, sobald die Anwendung wieder antwortet.',
    approve: 'Sehen Sie sich den Plan des Konnektors an. Stimmen Sie zu, wenn die Konten enden sollen; bis dahin geschieht nichts.',
  },
  fr: {
    subject: (connector, tenant) => `Le connecteur ${connector} de ${tenant} s’est arrêté`,
    unauthorized: (connector) => `Le connecteur ${connector} s’est arrêté, car l’application n’accepte plus son authentification.`,
    failing: (connector) => `Le connecteur ${connector} s’est arrêté, car l’application a refusé la plupart des envois.`,
    approval: (connector) => `Le connecteur ${connector} mettrait fin aux comptes de nombreuses personnes et attend votre accord.`,
    resume:
      'Il réessaie une fois par heure, et rien n’est perdu. Corrigez ses réglages, ou relancez-le dès que l’application répond de nouveau.',
    approve: 'Consultez le plan du connecteur. Approuvez-le si ces comptes doivent prendre fin ; rien ne se passe d’ici là.',
  },
  ja: {
    subject: (connector, tenant) => `${tenant} のコネクタ ${connector} が停止しました`,
    unauthorized: (connector) => `アプリケーションが認証を受け付けなくなったため、コネクタ ${connector} は停止しました。`,
    failing: (connector) => `アプリケーションが送信内容の多くを拒否したため、コネクタ ${connector} は停止しました。`,
    approval: (connector) => `コネクタ ${connector} は多数のアカウントを終了しようとしており、承認を待っています。`,
    resume: '1 時間ごとに再試行し、変更は失われません。設定を修正するか、アプリケーションが応答するようになったら再開してください。',
    approve: 'コネクタの計画を確認し、アカウントを終了してよければ承認してください。それまでは何も行われません。',
  },
};

/** Makes the mail in the nearest language. */
export function connectorStoppedMail(
  facts: {
    readonly tenantName: string;
    readonly language: string;
    readonly name: string;
    readonly reason: 'unauthorized' | 'failing' | 'approval';
  },
  to: string,
): Message {
  const language = negotiateLanguage(facts.language);
  const words = connectorStoppedMailCatalogs[language];
  const name = oneLine(facts.name);
  const lines = [words[facts.reason](name), facts.reason === 'approval' ? words.approve : words.resume];
  const subject = words.subject(name, oneLine(facts.tenantName));
  const page = html`<html lang="${language}"><head><meta charset="utf-8"><title>${subject}</title></head><body>${lines.map((line) => html`<p>${line}</p>`)}</body></html>`;
  return { to, subject, text: `${lines.join('\n')}\n`, html: `<!doctype html>\n${page.markup}\n` };
}
