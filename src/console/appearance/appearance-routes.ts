// The routes of the console's pages of how things look and read, mails among them. Called by console-routes.ts.
import type { FastifyReply } from 'fastify';
import { reject } from '../../contract/contract-error.ts';
import type { Typed } from '../../first-party/app-form.ts';
import type { Handler, Route } from '../../http/surface.ts';
import type { Visit } from '../console-visit.ts';
import type { UploadForm } from '../uploaded-file.ts';
import { act, brandingPage, brandingPreview, saveBranding, uploadImage } from './branding-pages.ts';
import { mailsPage, removeServer, saveServer, tryServer } from './mail-list-page.ts';
import { mailPage, mailPath, mailPreview, resetMail, saveMail, sendTestMail } from './mail-pages.ts';
import { sendTrial, type TrialParts, takeCode, trialPage, trialPath } from './mail-trial.ts';
import { languagesPage, saveTexts, textsPage, textsPreview } from './texts-pages.ts';

type Params = Readonly<Record<string, string>>;
type Answer = Promise<FastifyReply> | FastifyReply;
export interface Ways {
  readonly page: (show: (visit: Visit, params: Params) => Answer) => Handler;
  readonly form: (take: (visit: Visit, typed: Typed, params: Params) => Answer) => Handler;
  readonly upload: (take: (visit: Visit, upload: UploadForm) => Answer) => Handler;
}

export function routeAppearance(route: Route, { page, form, upload }: Ways, services: TrialParts): void {
  route('/branding', { GET: page((visit) => brandingPage(visit)), POST: form((visit, typed) => saveBranding(visit, typed)) });
  route('/branding/preview', { GET: page((visit) => brandingPreview(visit)) });
  route('/branding/images', { POST: upload(uploadImage) });
  route('/branding/:action', { POST: form((visit, _typed, { action = '' }) => acted(visit, action, '/branding', '/branding')) });
  route('/languages', { GET: page((visit) => languagesPage(visit)) });
  route('/languages/:language', { GET: page((visit, params) => textsPage(visit, params)), POST: form(saveTexts) });
  route('/languages/:language/preview', { GET: page(textsPreview) });
  route('/languages/:language/:action', {
    POST: form((visit, _typed, { language = '', action = '' }) =>
      acted(visit, action, `/texts/${encodeURIComponent(language)}`, `/languages/${encodeURIComponent(language)}`),
    ),
  });
  routeMail(route, { page, form }, services);
}

function routeMail(route: Route, { page, form }: Pick<Ways, 'page' | 'form'>, services: TrialParts): void {
  const mail = '/mail/:kind/:language';
  route('/mail', { GET: page((visit) => mailsPage(visit)) });
  route(trialPath, { GET: page((visit) => trialPage(visit, services)), POST: form((visit) => sendTrial(visit, services)) });
  route(`${trialPath}/code`, { POST: form((visit, typed) => takeCode(visit, services, typed)) });
  route('/mail/server', { POST: form(saveServer) });
  route('/mail/server-test', { POST: form(tryServer) });
  route('/mail/server-remove', { POST: form((visit) => removeServer(visit)) });
  route(mail, { GET: page((visit, params) => mailPage(visit, params)), POST: form(saveMail) });
  route(`${mail}/preview`, { GET: page(mailPreview) });
  route(`${mail}/test`, { POST: form(sendTestMail) });
  route(`${mail}/reset`, { POST: form((visit, _typed, params) => resetMail(visit, params)) });
  route(`${mail}/:action`, {
    POST: form((visit, _typed, params) =>
      acted(visit, params['action'] ?? '', mailPath(params).replace('/mail/', '/mails/'), mailPath(params)),
    ),
  });
}

/** @throws management.not_found */
async function acted(visit: Visit, name: string, api: string, page: string): Promise<FastifyReply> {
  const done = await act(visit, { name, api, page });
  if (done === undefined) throw reject('management.not_found', 'no_such_path');
  return done;
}
