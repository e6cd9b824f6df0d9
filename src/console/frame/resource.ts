// What a thing of the Management API is to the console: from one such entry every page of it is made.
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { FormField } from '../../first-party/form-field.ts';
import type { Html } from '../../platform/html.ts';
import type { Visit } from '../console-visit.ts';

type Json = Readonly<Record<string, unknown>>;

export interface ResourceAction {
  readonly name: string;
  /** What a question says before the name of the thing, where that is not the action's own name. */
  readonly ask?: string;
  /** What is said after it, behind the name of the thing. */
  readonly done: string;
  /** What is said after it instead, of what it was answered. */
  readonly told?: (answer: Json) => string;
  /** Path below the resource. */
  readonly path: string;
  /** True when the action makes sense for this one. */
  readonly applies?: (json: Json) => boolean;
  /** What happens, asked before it is done. */
  readonly confirm?: string | ((json: Json) => string);
  /** Says how many sessions end. */
  readonly endsSessions?: true;
  /** The page of the form it is on; the first without one. */
  readonly tab?: string;
  /** A change of the resource instead of a call on the path. */
  readonly patch?: Json;
}

/** A column of the list or a fact of one thing: its name, what it shows, and the member a list is sorted by, where it can be. */
export type Cell = readonly [name: string, cell: (json: Json) => Html | string, sortedBy?: string];

export interface ConsoleResource {
  /** Path in the API and below /console. */
  readonly path: string;
  readonly singular: string;
  readonly plural: string;
  /** What such a thing is for, while there is none. */
  readonly about: string;
  /** True: the API lists it by name, finds any part and filters by state and date. */
  readonly isNamed?: true;
  /** What the search of the list looks at. */
  readonly searchHint: string;
  readonly idField: string;
  readonly titleOf: (json: Json) => string;
  readonly columns: readonly Cell[];
  /** A last column of the list, for whoever may change what is in it. */
  readonly rowAction?: readonly [head: string, cell: (visit: Visit, json: Json) => Html | string];
  readonly fields: readonly FormField[];
  /** What a form for a new one starts with. */
  readonly initial: Json;
  /** Other starts, by `preset` of the address; each is laid over `initial`. */
  readonly presets?: readonly { readonly name: string; readonly label: string; readonly initial: Json }[];
  /** A page that makes a new one from fewer questions, offered above its form: below /console, what is made so, and what is asked. */
  readonly guided?: readonly [path: string, name: string, about: string];
  readonly actions?: readonly ResourceAction[];
  /** True: the first page of one thing is a card with the actions at its top, and the form stands behind it, at `formTab`. */
  readonly hasCard?: true;
  /** Name of the first page of one thing. */
  readonly firstTab?: string;
  /** Pages of the form of one thing: path below it, and name, which is the `tab` of its fields. Without them the form is one page. */
  readonly formTabs?: readonly (readonly [path: string, name: string])[];
  /** What stands below the form, by its page. */
  readonly besideForm?: Readonly<Record<string, (visit: Visit, json: Json) => Html | undefined | Promise<Html>>>;
  /** The same fields with what may be chosen in this tenant now. */
  readonly withChoices?: (visit: Visit, fields: readonly FormField[]) => Promise<readonly FormField[]>;
  /** The page that one who was just made is shown at first; without it its own. */
  readonly madeAt?: string;
  /** Further pages of one thing: path below it, and name. */
  readonly tabs?: readonly (readonly [path: string, name: string])[];
  /** What people come to the list for, where that is not a new one by hand: below /console, and name. */
  readonly primary?: readonly [path: string, name: string];
  /** Further pages of the list, below /console. */
  readonly links?: readonly (readonly [path: string, name: string])[];
  /** What the detail page shows beside the fields. */
  readonly facts?: readonly Cell[];
  /** What a deletion does. */
  readonly deletion?: string;
  /** What must be typed before a deletion. */
  readonly typeToDelete?: (json: Json) => string;
  /** What ends with it, as a list of the API below it: of many a word must be typed. */
  readonly holds?: string;
  readonly canDelete?: (json: Json) => boolean;
  /** Absent: everyone may be changed. */
  readonly canChange?: (json: Json) => boolean;
  /** True: of the deployment, and so in the console of the root tenant alone. */
  readonly ofDeployment?: boolean;
  /** Members of a creation's answer that are shown once. */
  readonly shownOnce?: readonly string[];
  /** Where those members are when they are not at the top. */
  readonly toOnce?: (json: Json) => Json;
  /** Turns what the form says into what the API takes, and back. */
  readonly toApi?: (json: Json) => Json;
  readonly toForm?: (json: Json) => Json;
  /** The same with what the tenant adds. */
  readonly ofTenant?: (tenant: Tenant) => ConsoleResource;
}

/** Where the form of a thing with a card is. */
export const formTab = '/edit';
