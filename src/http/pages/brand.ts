// A tenant's colours as CSS variables. `branding.accent_color` is the one value read (#rrggbb); anything else is ignored,
// so that no setting can write style of its own. Ink on the accent is chosen for contrast (WCAG 1.4.3), never configured.
import type { Tenant } from '../../domain/tenant.ts';

const accentDefault = '#4a45d6';

export function brandVariables(tenant: Tenant | undefined): string {
  const configured = tenant?.settings.branding['accent_color'];
  const accent = typeof configured === 'string' && /^#[0-9a-f]{6}$/i.test(configured) ? configured : accentDefault;
  return `:root{--accent:${accent};--on-accent:${inkOn(accent)}}`;
}

/** Black or white, whichever contrasts more; at least 4.5:1 on any colour. */
export function inkOn(color: string): '#000' | '#fff' {
  const channel = (from: number): number => {
    const value = Number.parseInt(color.slice(from, from + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const luminance = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  return luminance > 0.179 ? '#000' : '#fff';
}
