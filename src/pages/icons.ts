// The few icons of the pages, drawn for them; decorative, so hidden from assistive technology.
import { type Html, trusted } from '../platform/html.ts';

const icon = (paths: string): Html =>
  trusted(
    `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${paths}</svg>`,
  );

export const icons = {
  phone: icon('<rect x="7" y="2.5" width="10" height="19" rx="2.5"/><path d="M11 18.5h2"/>'),
  mail: icon('<rect x="3" y="5" width="18" height="14" rx="2.5"/><path d="m4 7 8 6 8-6"/>'),
  book: icon('<path d="M5 4.5h10a3 3 0 0 1 3 3v12H8a3 3 0 0 1-3-3z"/><path d="M9 9h5M9 12.5h5"/>'),
  key: icon('<circle cx="8" cy="14.5" r="4.5"/><path d="m11.5 11.5 8-8M16 7l3 3"/>'),
  check: icon('<path d="m5 12.5 4.5 4.5L19 7.5"/>'),
  cross: icon('<path d="m7 7 10 10M17 7 7 17"/>'),
  clock: icon('<circle cx="12" cy="12" r="8.5"/><path d="M12 7.5V12l3 2"/>'),
  organization: icon('<path d="M3.5 20.5h17M5.500 20.5V4.500h8v16M13.500 9.500h5v11M8.500 8.500h2M8.500 12.500h2M8.500 16.500h2"/>'),
  person: icon('<circle cx="12" cy="8" r="4"/><path d="M4.5 20.5c.8-4 3.8-6 7.5-6s6.7 2 7.5 6"/>'),
} as const;
