// Colours as WCAG 2.2 compares them: luminance, contrast, and the nearest colour that stands out enough. Colours are `#rrggbb`.

export const colorPattern = '^#[0-9a-fA-F]{6}$';

const channels = (color: string): readonly number[] => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
const colorOf = (from: readonly number[]): string => `#${from.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`;

/** WCAG relative luminance, 0 to 1. */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map((value) =>
    value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** WCAG contrast ratio, 1 to 21. */
export function contrastOf(left: string, right: string): number {
  const [low = 0, high = 0] = [luminanceOf(left), luminanceOf(right)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** Black or white, whichever contrasts more; at least 4.5:1 on any colour. */
export const inkOn = (color: string): '#000' | '#fff' => (luminanceOf(color) > 0.179 ? '#000' : '#fff');

/** The colour itself, or the first on its way to black or white (whichever is away from `ground`) that has the contrast. */
export function nearestWith(contrast: number, color: string, ground: string): string {
  const towards = luminanceOf(ground) > 0.179 ? 0 : 255;
  const from = channels(color);
  for (let step = 0; step < 255; step += 1) {
    const mixed = colorOf(from.map((value) => value + ((towards - value) * step) / 255));
    if (contrastOf(mixed, ground) >= contrast) return mixed;
  }
  return colorOf([towards, towards, towards]);
}
