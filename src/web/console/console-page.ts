// What the frame of a page says in the console: its sections and words.
import type { Tenant } from '../../domain/tenant.ts';
import type { Page } from '../../http/pages/page.ts';
import type { Html } from '../../platform/html.ts';
import { appPage, type Frame } from '../own-app/app-page.ts';
import { appPath } from '../own-app/own-app.ts';
import { consoleApp } from './console-client.ts';

export const sections = [
  ['', 'Overview'],
  ['/clients', 'Clients'],
  ['/resources', 'Resources'],
  ['/users', 'Users'],
  ['/groups', 'Groups'],
  ['/service-providers', 'Service providers'],
  ['/signing-keys', 'Signing keys'],
  ['/settings', 'Settings'],
  ['/events', 'Audit events'],
  ['/explain', 'Explain'],
] as const;

export type ConsoleFrame = Pick<Frame, 'tenant' | 'person' | 'csrf' | 'at' | 'notice'>;

/** Path of a console page as the browser asks for it. */
export const consolePath = (tenant: Tenant, path: string): string => appPath(consoleApp, tenant, path);

const words = { skip: 'Skip to content', navigation: 'Console', signOut: 'Sign out' } as const;

export const consolePage = (frame: ConsoleFrame, title: string, content: Html): Page =>
  appPage({ ...frame, own: consoleApp, language: 'en', words, sections }, title, content);
