// The frame of a page in the console, and the small pieces pages are made of. Pages show what the API told; nothing here asks for
// anything.

import { appPage, csrfField, type Frame } from '../first-party/app-page.ts';
import { consoleApp } from '../first-party/console-client.ts';
import type { Page } from '../pages/page.ts';
import { type Html, html } from '../platform/html.ts';
import { consoleStyle, previewStyle } from './console-style.ts';
import { type Allowed, mayPost } from './frame/allowed.ts';
import { consoleScript } from './frame/console-script.ts';
import { consolePath, crumbs, navigation, tools } from './frame/navigation.ts';
import { operatorBanner, operatorStyle, type TenantChoices, tenantSwitch } from './operators/tenant-switch.ts';

export interface ConsoleFrame extends Pick<Frame, 'tenant' | 'person' | 'csrf' | 'at' | 'notice' | 'frames'>, Partial<Allowed> {
  /** True: an operator who entered the tenant. */
  readonly isOperator?: boolean | undefined;
  readonly choices?: TenantChoices | undefined;
  /** Rules and script of this page alone. */
  readonly style?: string | undefined;
  readonly script?: string | undefined;
}

const words = { skip: 'Skip to content', navigation: 'Console', signOut: 'Sign out' } as const;
/** The way out of a tenant is in the banner. */
const operatorWords = { ...words, signOut: undefined } as const;
const isOfOperators = ({ isOperator, choices }: ConsoleFrame): boolean => isOperator === true || choices !== undefined;

export const consolePage = (frame: ConsoleFrame, title: string, content: Html): Page =>
  appPage(
    {
      ...frame,
      own: consoleApp,
      language: 'en',
      words: frame.isOperator === true ? operatorWords : words,
      navigation: navigation(frame.tenant, frame.at, frame.allowed && { allowed: frame.allowed }),
      tools: html`${tenantSwitch(frame)}${tools(frame.tenant, frame.allowed && { allowed: frame.allowed })}`,
      crumbs: html`${frame.isOperator === true && operatorBanner(frame)}${crumbs(frame.tenant, frame.at)}`,
      style: `${consoleStyle}${isOfOperators(frame) ? operatorStyle : ''}${frame.frames === true ? previewStyle : ''}${frame.style ?? ''}`,
      script: `${consoleScript}${frame.script ?? ''}`,
    },
    title,
    content,
  );

interface Button {
  /** Below /console. */
  readonly path: string;
  readonly label: string;
  readonly id?: string;
  readonly style?: 'quiet' | 'danger' | 'small quiet' | 'small danger' | 'small';
  readonly fields?: Readonly<Record<string, string>>;
  /** What a screen reader says beside the label, e.g. which row the button is of. */
  readonly of?: string;
}

type PostingFrame = Pick<ConsoleFrame, 'tenant' | 'csrf' | 'allowed'>;

const mayPostTo = ({ allowed }: PostingFrame, path: string): boolean => allowed === undefined || mayPost({ allowed }, path);

interface PostForm {
  /** Below /console. */
  readonly path: string;
  readonly id?: string;
  /** With a file. */
  readonly isUpload?: true;
}

/** A form that posts; to whoever may not send it, it shows what it holds and no button. */
export function postForm(frame: PostingFrame, { path, id, isUpload }: PostForm, content: Html, buttons: Html): Html {
  if (!mayPostTo(frame, path)) return html`<fieldset class="card" disabled>${content}</fieldset>`;
  return html`<form class="card" method="post"${isUpload && html` enctype="multipart/form-data"`} action="${consolePath(frame.tenant, path)}"${id !== undefined && html` id="${id}"`}>${csrfField(frame)}${content}<div class="bar end">${buttons}</div></form>`;
}

/** A button that posts; nothing for whoever may not. */
export function postButton(frame: PostingFrame, button: Button): Html {
  const { tenant, csrf } = frame;
  const { path, label, id, style, fields = {}, of } = button;
  if (!mayPostTo(frame, path)) return html``;
  return html`<form method="post" action="${consolePath(tenant, path)}">${csrfField({ csrf })}${Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}<button${style !== undefined && html` class="${style}"`}${id !== undefined && html` id="${id}"`}>${label}${of !== undefined && html`<span class="hidden"> ${of}</span>`}</button></form>`;
}

/** What a list or panel says while it has nothing to show. */
export const emptyState = (title: string, text: string, action?: Html): Html =>
  html`<div class="empty"><p class="empty-title">${title}</p><p>${text}</p>${action}</div>`;

/** A state as a small label; the text says it, the colour repeats it. */
export const badge = (text: string, kind: 'good' | 'bad' | 'plain'): Html => html`<span class="badge ${kind}">${text}</span>`;

/** A time of the API as people read it, in UTC. */
export function shownTime(value: unknown): Html | string {
  if (typeof value !== 'string' || value === '') return '';
  return html`<time datetime="${value}">${value.slice(0, 10)} ${value.slice(11, 16)} UTC</time>`;
}
