// The question before everything that cannot be taken back: a page of its own with the same form again, so that it works
// without scripts. Where much would be lost, a word must be typed.
import type { FastifyReply } from 'fastify';
import { csrfField } from '../first-party/app-page.ts';
import { html } from '../platform/html.ts';
import { frameOf, showPage, type Visit } from './console-visit.ts';
import { consolePath } from './frame/navigation.ts';

export interface Question {
  readonly title: string;
  /** What happens. */
  readonly text: string;
  readonly label: string;
  /** Where the answer is posted, below /console. */
  readonly path: string;
  /** Where "Keep it" leads, below /console. */
  readonly back: string;
  /** Fields of the form that asked, repeated. */
  readonly fields?: Readonly<Record<string, string>>;
  /** What must be typed to go on. */
  readonly typeThis?: string | undefined;
}

/** About so many things nothing must be typed. */
export const untypedMax = 20;

/** True when the person said yes on the question's page, and typed what it asked for. */
export function isSure(typed: URLSearchParams, typeThis?: string): boolean {
  return typed.get('sure') === 'yes' && (typeThis === undefined || typed.get('typed')?.trim() === typeThis);
}

/** Asks. When it was answered with the wrong word, says so. */
export function askPage(visit: Visit, question: Question, typed?: URLSearchParams): FastifyReply {
  const { tenant } = visit.request;
  const { typeThis } = question;
  const isWrong = typeThis !== undefined && typed?.get('sure') === 'yes';
  return showPage(
    visit,
    question.title,
    html`<form class="card ask" method="post" action="${consolePath(tenant, question.path)}">${csrfField(frameOf(visit))}<input type="hidden" name="sure" value="yes">${Object.entries(
      question.fields ?? {},
    ).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<p>${question.text}</p>
${typeThis !== undefined && html`<div class="field"><label for="typed">Type <code>${typeThis}</code> to confirm</label><input type="text" id="typed" name="typed" autocomplete="off" spellcheck="false" required value="${typed?.get('typed') ?? ''}"></div>`}
<div class="bar"><button class="danger solid" id="sure">${question.label}</button> <a class="button quiet" id="keep" href="${consolePath(tenant, question.back)}">Keep it</a></div></form>`,
    isWrong ? { kind: 'bad', text: `That is not ${typeThis}. Nothing was changed.` } : undefined,
  );
}
