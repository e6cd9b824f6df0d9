// How a tenant's pages and mails look (design 13, 3): a closed table of fields, each checked, so that no value can write style or script of
// its own. Kept in the settings as `branding`, where `accent_color` is the older name of `accent`.
import { brandCornerPixelsMax, urlCharsMax } from '../../contract/limits.ts';
import { count, each, type FieldFault, field, type Json, text, type ValuesOf, valueFault } from '../field.ts';
import { colorPattern, contrastOf, nearestWith } from './colors.ts';

/** What stands on a page in light and dark: the card, and the faintest text. Of the style sheets in pages/ and first-party/. */
const grounds = { light: { card: '#ffffff', muted: '#565b72' }, dark: { card: '#161925', muted: '#a9aec4' } } as const;
type Theme = keyof typeof grounds;

/** WCAG 1.4.11 and 1.4.3. */
const [accentContrast, textContrast] = [3, 4.5];
const accentDefault = '#4a45d6';

const color = { ...text(7), shape: { type: 'string', pattern: colorPattern } };
const sha256 = { ...text(64), shape: { type: 'string', pattern: '^[0-9a-f]{64}$' } };
const image = <const N extends string>(name: N, label: string, help: string) => field(name, sha256, { label, help });
const accent = <const N extends string>(name: N, theme: Theme, label: string, help: string) =>
  field(name, color, { label, help, check: (value: string) => contrastFault(value, grounds[theme].card, accentContrast, 'its card') });
const background = <const N extends string>(name: N, theme: Theme, label: string, help: string) =>
  field(name, color, { label, help, check: (value: string) => contrastFault(value, grounds[theme].muted, textContrast, 'the text on it') });
const link = <const N extends string>(name: N, label: string) =>
  field(name, text(urlCharsMax), { label, help: 'https://… Shown at the foot of pages and mails.', check: linkFault });

export const brandingFields = {
  logo: image('logo', 'Logo', 'SHA-256 of an uploaded image. Shown instead of the initial and the name.'),
  favicon: image('favicon', 'Favicon', 'SHA-256 of an uploaded image. Shown by the browser beside the title.'),
  accent: accent('accent', 'light', 'Accent', '#rrggbb, of buttons and marks. At least 3:1 on white.'),
  accent_dark: accent(
    'accent_dark',
    'dark',
    'Accent, dark',
    '#rrggbb. At least 3:1 on #161925. Empty: the accent, lightened as far as it must be.',
  ),
  background: background('background', 'light', 'Background', '#rrggbb, around the card.'),
  background_dark: background('background_dark', 'dark', 'Background, dark', '#rrggbb, around the card.'),
  corner_radius: field('corner_radius', count(0, brandCornerPixelsMax), {
    label: 'Corner radius',
    help: 'Of the card, in pixels, 0 to 24.',
  }),
  help_url: link('help_url', 'Help'),
  terms_url: link('terms_url', 'Terms'),
  privacy_url: link('privacy_url', 'Privacy'),
} as const;

type Values = ValuesOf<typeof brandingFields>;
/** The values that are set. */
export type Branding = Partial<Values> & { readonly accent_color?: string };

const optional = (shape: Json): Json => ({ anyOf: [shape, { type: 'null' }] });
/** The JSON of a branding: any of the fields, null for none; `accent_color` is `accent`. */
export const brandingShape: Json = {
  type: 'object',
  properties: { ...each(brandingFields, (_, { name, kind }) => [name, optional(kind.shape)]), accent_color: optional(color.shape) },
  additionalProperties: false,
};

/** Of what is stored: the fields that are set and have their form. What older versions took and nobody read is left out. */
export function readBranding(stored: Json): Branding {
  const shapes = [
    ...Object.values(brandingFields).map(({ name, kind }) => [name, kind.shape] as const),
    ['accent_color', color.shape] as const,
  ];
  return Object.fromEntries(shapes.flatMap(([name, shape]) => (hasShape(shape, stored[name]) ? [[name, stored[name]]] : [])));
}

function hasShape({ type, pattern, maximum }: Json, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= Number(maximum);
  if (typeof value !== 'string') return false;
  return pattern === undefined ? linkFault(value) === undefined : new RegExp(String(pattern)).test(value);
}

/** A change in which either name of the accent takes the other's place. */
export function withOneAccent(change: Json): Json {
  if (change['accent'] !== undefined) return { ...change, accent_color: null };
  return change['accent_color'] === undefined ? change : { ...change, accent: null };
}

/** The first value of a change that must not be, by its name. */
export function brandingFault({ accent_color: alias, ...change }: Json): FieldFault | undefined {
  const fault = alias === null || alias === undefined ? undefined : valueFault(brandingFields, { accent: alias });
  return fault === undefined ? valueFault(brandingFields, change) : { ...fault, field: 'accent_color' };
}

/** The accent on light pages and on dark ones. */
export function accentsOf({ accent, accent_color: alias, accent_dark: dark }: Branding): Readonly<Record<Theme, string>> {
  const light = accent ?? alias ?? accentDefault;
  return { light, dark: dark ?? nearestWith(accentContrast, light, grounds.dark.card) };
}

function contrastFault(value: string, ground: string, least: number, on: string): string | undefined {
  const found = contrastOf(value, ground);
  if (found >= least) return undefined;
  return `must have a contrast of ${least}:1 with ${on} (${ground}), and ${value} has ${(Math.floor(found * 100) / 100).toFixed(2)}:1; the nearest that has it is ${nearestWith(least, value, ground)}`;
}

function linkFault(value: string): string | undefined {
  const url = URL.parse(value);
  return url?.protocol === 'https:' && url.username === '' && url.password === '' ? undefined : 'must be an https address';
}

/** Where a picture of a tenant is served (appearance/assets.ts). */
export const assetUrl = ({ baseUrl }: { readonly baseUrl: string }, sha256: string): string => `${baseUrl}/assets/${sha256}`;
