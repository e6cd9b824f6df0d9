// A website of somebody else on a free loopback port, with pages that a person reads: what the other sides of our connections are made of.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Html, html } from '../../src/platform/html.ts';

export interface WebSite {
  readonly origin: string;
  readonly close: () => Promise<void>;
}

/** What a page of it is asked with. */
export interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Path and query. */
  readonly url: URL;
  /** The fields of a form that was posted. */
  readonly form: URLSearchParams;
}

/** The title and content of a page, or nothing where the answer was given already. */
export type Shown = readonly [title: string, content: Html] | undefined;

/** Starts one whose pages are at these paths; `else` answers whatever has no page, and reads the request by itself. */
export async function startWebSite(
  pages: Readonly<Record<string, (asked: Asked) => Promise<Shown> | Shown>>,
  otherwise?: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<WebSite> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', origin);
    const page = Object.entries(pages).find(
      ([path]) => url.pathname === path || (path.endsWith('/') && url.pathname.startsWith(path)),
    )?.[1];
    if (page === undefined) return otherwise === undefined ? void response.writeHead(404).end() : otherwise(request, response);
    const form = new URLSearchParams(request.method === 'POST' ? await text(request) : '');
    const shown = await page({ request, response, url, form });
    if (shown !== undefined) response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(pageOf(...shown).markup);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

const pageOf = (title: string, content: Html): Html =>
  html`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>${title}</title><main><h1>${title}</h1>${content}</main></html>`;
