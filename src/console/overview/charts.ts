// Charts as inline SVG, drawn on the server: shapes carry no text, so they stretch to any width; words and numbers are HTML
// beside them, and every chart has a title, a description and a table that says the same. No script, no inline style.

import { table } from '../../first-party/app-page.ts';
import { type Html, html, trusted } from '../../platform/html.ts';
import { readStyleFile } from '../../platform/style-file.ts';

/** Of the page that has them. */
export const chartStyle = readStyleFile(new URL('./charts.css', import.meta.url));

export interface Series {
  readonly name: string;
  /** Colour: a, b. */
  readonly style: 'a' | 'b';
  readonly values: readonly number[];
}

const plotHeight = 100;
const columnWidth = 10;
const columnGap = 2;

/** Columns side by side for each label, all from zero. */
export function columnChart(title: string, labels: readonly string[], series: readonly Series[]): Html {
  const most = Math.max(1, ...series.flatMap(({ values }) => values));
  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  const described = series.map(({ name, values }) => `${name}: ${total(values)} in all, ${Math.max(0, ...values)} at most`).join('. ');
  const width = labels.length * columnWidth;
  const barWidth = (columnWidth - columnGap) / series.length;
  const bars = series.flatMap(({ style, values }, which) =>
    values.map((value, index) => {
      const height = (value / most) * plotHeight;
      const x = index * columnWidth + columnGap / 2 + which * barWidth;
      return `<rect class="${style}" x="${x.toFixed(2)}" y="${(plotHeight - height).toFixed(2)}" width="${barWidth.toFixed(2)}" height="${height.toFixed(2)}"/>`;
    }),
  );
  const id = `chart-${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;
  return html`<p class="legend">${series.map(({ name, style, values }) => html`<span>${trusted(swatch(style))}${name}: <b>${total(values)}</b></span>`)}<span class="muted">Highest: ${most}</span></p>
<svg class="plot" ${trusted(`viewBox="0 0 ${width} ${plotHeight}"`)} preserveAspectRatio="none" role="img" aria-labelledby="${id} ${id}-text"><title id="${id}">${title}</title><desc id="${id}-text">${described}</desc>${trusted(bars.join(''))}</svg>
<p class="scale" aria-hidden="true"><span>${labels[0]}</span><span>${labels[Math.floor((labels.length - 1) / 2)]}</span><span>${labels.at(-1)}</span></p>
<details><summary>As a table</summary>${table(
    title,
    ['From', ...series.map(({ name }) => name)],
    labels.map((label, index) => [label, ...series.map(({ values }) => String(values[index] ?? 0))]),
  )}</details>`;
}

const swatch = (style: string): string => `<svg viewBox="0 0 1 1" aria-hidden="true"><rect class="${style}" width="1" height="1"/></svg>`;

interface Rank {
  readonly name: Html | string;
  /** What stands beside the name, and says what the bar shows. */
  readonly shown: string;
  readonly value: number;
  readonly style: 'a' | 'b';
  /** A longer bar behind it, e.g. the slowest of what the value is the middle of. */
  readonly behind?: number;
}

/** Names with a bar each, the longest for `most`; what a bar shows is said in words beside it. */
export function rankChart(label: string, ranks: readonly Rank[], most: number): Html {
  return html`<ul class="ranks" aria-label="${label}">${ranks.map(({ name, shown, value, style, behind }) => html`<li><span>${name}</span><b>${shown}</b>${trusted(bars(most, [...(behind === undefined ? [] : [{ value: behind, style: 'c' }]), { value, style }]))}</li>`)}</ul>`;
}

function bars(most: number, shown: readonly { readonly value: number; readonly style: string }[]): string {
  const widthOf = (value: number): string => (most <= 0 ? 0 : Math.max(0.5, (value / most) * 100)).toFixed(2);
  const rects = shown.map(({ value, style }) => `<rect class="${style}" width="${widthOf(value)}" height="1"/>`);
  return `<svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">${rects.join('')}</svg>`;
}
