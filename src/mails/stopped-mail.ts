// The mail to administrators that a connector or a directory stopped, or waits for their word, and what to do, in the languages of the pages.
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { html } from '../platform/html.ts';
import type { Message } from '../platform/mail/mail.ts';
import { oneLine } from './one-line.ts';

interface Words<Reason extends string> {
  readonly subject: (name: string, tenant: string) => string;
  readonly why: Readonly<Record<Reason | 'approval', (name: string) => string>>;
  readonly resume: string;
  readonly approve: string;
}

export interface Wording {
  readonly connector: Words<'unauthorized' | 'failing'>;
  readonly directory: Words<'failing'>;
}

export const stoppedMailCatalogs: Readonly<Record<Language, Wording>> = {
  en: {
    connector: {
      subject: (connector, tenant) => `The connector ${connector} of ${tenant} has stopped`,
      why: {
        unauthorized: (connector) => `The connector ${connector} has stopped, because the application no longer accepts how it signs in.`,
        failing: (connector) => `The connector ${connector} has stopped, because the application refused most of what it was sent.`,
        approval: (connector) => `The connector ${connector} would end the accounts of many people, and waits for your approval.`,
      },
      resume: 'It tries again once an hour, and nothing is lost. Correct its settings, or resume it once the application answers again.',
      approve: 'Look at the plan of the connector. Approve it if the accounts are to end; nothing happens until then.',
    },
    directory: {
      subject: (directory, tenant) => `The directory ${directory} of ${tenant} has stopped`,
      why: {
        failing: (directory) => `The directory ${directory} cannot be read, and nobody is copied from it.`,
        approval: (directory) => `By the directory ${directory}, many people or an administrator would end, which waits for your approval.`,
      },
      resume: 'It is tried again once an hour, and nothing is lost. The console says why, and can test it: correct its settings there.',
      approve: 'Look at its plan and its links. Approve it if these people are to end; nothing happens to them until then.',
    },
  },
  de: {
    connector: {
      subject: (connector, tenant) => `Der Konnektor ${connector} von ${tenant} steht still`,
      why: {
        unauthorized: (connector) => `Der Konnektor ${connector} steht still, weil die Anwendung seine Anmeldung nicht mehr annimmt.`,
        failing: (connector) => `Der Konnektor ${connector} steht still, weil die Anwendung das meiste abgelehnt hat.`,
        approval: (connector) => `Der Konnektor ${connector} würde die Konten vieler Personen beenden und wartet auf Ihre Zustimmung.`,
      },
      resume:
        'Er versucht es stündlich wieder, und nichts geht verloren. Berichtigen Sie seine Einstellungen oder setzen Sie ihn fort, sobald die Anwendung wieder antwortet.',
      approve: 'Sehen Sie sich den Plan des Konnektors an. Stimmen Sie zu, wenn die Konten enden sollen; bis dahin geschieht nichts.',
    },
    directory: {
      subject: (directory, tenant) => `Das Verzeichnis ${directory} von ${tenant} steht still`,
      why: {
        failing: (directory) => `Das Verzeichnis ${directory} kann nicht gelesen werden, und niemand wird daraus übernommen.`,
        approval: (directory) =>
          `Durch das Verzeichnis ${directory} würden viele Personen oder jemand aus der Verwaltung enden; das wartet auf Ihre Zustimmung.`,
      },
      resume:
        'Es wird stündlich wieder versucht, und nichts geht verloren. Die Konsole sagt, woran es liegt, und kann es prüfen: Berichtigen Sie dort seine Einstellungen.',
      approve:
        'Sehen Sie sich seinen Plan und seine Verknüpfungen an. Stimmen Sie zu, wenn diese Personen enden sollen; bis dahin geschieht ihnen nichts.',
    },
  },
  fr: {
    connector: {
      subject: (connector, tenant) => `Le connecteur ${connector} de ${tenant} s’est arrêté`,
      why: {
        unauthorized: (connector) => `Le connecteur ${connector} s’est arrêté, car l’application n’accepte plus son authentification.`,
        failing: (connector) => `Le connecteur ${connector} s’est arrêté, car l’application a refusé la plupart des envois.`,
        approval: (connector) => `Le connecteur ${connector} mettrait fin aux comptes de nombreuses personnes et attend votre accord.`,
      },
      resume:
        'Il réessaie une fois par heure, et rien n’est perdu. Corrigez ses réglages, ou relancez-le dès que l’application répond de nouveau.',
      approve: 'Consultez le plan du connecteur. Approuvez-le si ces comptes doivent prendre fin ; rien ne se passe d’ici là.',
    },
    directory: {
      subject: (directory, tenant) => `L’annuaire ${directory} de ${tenant} s’est arrêté`,
      why: {
        failing: (directory) => `L’annuaire ${directory} ne peut pas être lu, et personne n’en est copié.`,
        approval: (directory) =>
          `D’après l’annuaire ${directory}, de nombreuses personnes ou un administrateur prendraient fin, ce qui attend votre accord.`,
      },
      resume:
        'Il est réessayé une fois par heure, et rien n’est perdu. La console dit pourquoi et peut le tester : corrigez-y ses réglages.',
      approve: 'Consultez son plan et ses liens. Approuvez-le si ces personnes doivent prendre fin ; rien ne leur arrive d’ici là.',
    },
  },
  ja: {
    connector: {
      subject: (connector, tenant) => `${tenant} のコネクタ ${connector} が停止しました`,
      why: {
        unauthorized: (connector) => `アプリケーションが認証を受け付けなくなったため、コネクタ ${connector} は停止しました。`,
        failing: (connector) => `アプリケーションが送信内容の多くを拒否したため、コネクタ ${connector} は停止しました。`,
        approval: (connector) => `コネクタ ${connector} は多数のアカウントを終了しようとしており、承認を待っています。`,
      },
      resume: '1 時間ごとに再試行し、変更は失われません。設定を修正するか、アプリケーションが応答するようになったら再開してください。',
      approve: 'コネクタの計画を確認し、アカウントを終了してよければ承認してください。それまでは何も行われません。',
    },
    directory: {
      subject: (directory, tenant) => `${tenant} のディレクトリ ${directory} が停止しました`,
      why: {
        failing: (directory) => `ディレクトリ ${directory} を読み取れないため、誰も取り込まれていません。`,
        approval: (directory) => `ディレクトリ ${directory} により多数の人または管理者が終了されるため、承認を待っています。`,
      },
      resume: '1 時間ごとに再試行し、変更は失われません。理由はコンソールに表示され、テストもできます。設定を修正してください。',
      approve: '計画とリンクを確認し、終了してよければ承認してください。それまでは何も行われません。',
    },
  },
};

export type Stopped =
  | { readonly kind: 'connector'; readonly reason: 'unauthorized' | 'failing' | 'approval' }
  | { readonly kind: 'directory'; readonly reason: 'failing' | 'approval' };

/** Makes the mail in the nearest language. */
export function stoppedMail(
  facts: Stopped & { readonly tenantName: string; readonly language: string; readonly name: string },
  to: string,
): Message {
  const language = negotiateLanguage(facts.language);
  const words = stoppedMailCatalogs[language][facts.kind];
  const name = oneLine(facts.name);
  const why: Readonly<Record<string, (name: string) => string>> = words.why;
  const lines = [why[facts.reason]!(name), facts.reason === 'approval' ? words.approve : words.resume];
  const subject = words.subject(name, oneLine(facts.tenantName));
  const page = html`<html lang="${language}"><head><meta charset="utf-8"><title>${subject}</title></head><body>${lines.map((line) => html`<p>${line}</p>`)}</body></html>`;
  return { to, subject, text: `${lines.join('\n')}\n`, html: `<!doctype html>\n${page.markup}\n` };
}
