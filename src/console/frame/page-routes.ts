// How a route of the console shows a page and takes a form: what console-routes.ts gives to the rooms that have routes of their own.
import type { FastifyReply } from 'fastify';
import type { Typed } from '../../first-party/app-form.ts';
import type { Handler } from '../../http/surface.ts';
import type { Visit } from '../console-visit.ts';

type Answer = Promise<FastifyReply> | FastifyReply;
/** String parameters of the path. */
export type Params = Readonly<Record<string, string>>;
export type ShowPage = (visit: Visit, params: Params) => Answer;
export type TakeForm = (visit: Visit, typed: Typed, params: Params) => Answer;
export type Page = (show: ShowPage) => Handler;
export type Form = (take: TakeForm) => Handler;
