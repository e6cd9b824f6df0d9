// What the console shows of every kind of registered thing; a kind that shows more lays it over this.
import { defaultsOf, type Fields } from '../../domain/field.ts';
import { type Kind, nameOfField, pathOfKind, secretNameOf } from '../../domain/kind.ts';
import { formOf } from '../../first-party/form-field.ts';
import { created, text } from '../cells.ts';
import type { ConsoleResource, ResourceAction } from './resource.ts';

/** The pages of a kind. */
export function pagesOfKind<T extends Fields>(kind: Kind<T>): ConsoleResource {
  const { always, fields } = kind;
  const { title, ...words } = kind.pages;
  const mayTouch = always && ((json: Readonly<Record<string, unknown>>): boolean => json[always.mark] !== true);
  return {
    ...words,
    path: pathOfKind(kind),
    idField: kind.key === 'id' ? 'id' : nameOfField(kind, kind.key),
    titleOf: (json) => text(json[title]),
    columns: kind.timeless === true ? [] : [created],
    fields: formOf(fields),
    initial: defaultsOf(fields),
    ...(kind.secret?.made === undefined ? {} : { actions: [secretAction(kind)], shownOnce: [secretNameOf(kind)] }),
    ...(mayTouch === undefined ? {} : { canChange: mayTouch, canDelete: mayTouch }),
  };
}

/** Makes another secret of a thing whose kind has such. */
export const secretAction = <T extends Fields>({ secret }: Kind<T>): ResourceAction => ({
  name: 'Make a new secret',
  ask: 'Make a new secret for',
  done: 'has a new secret',
  path: '/secret',
  confirm: secret?.made?.rotation.confirm ?? '',
});
