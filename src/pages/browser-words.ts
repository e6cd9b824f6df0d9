// What a User-Agent is called by people: the browser and what it runs on. A guess for reading alone; nothing is decided by it.

/** The first that is found: browsers name those they descend from, too. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bVersion\/\S+ (?:Mobile\/\S+ )?Safari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];
const rawCharsMax = 60;

/** Browser and system, `Chrome` and `Windows`; undefined for what no browser says. */
export function browserNames(userAgent: string): { readonly browser: string; readonly system: string | undefined } | undefined {
  const nameIn = (table: typeof browsers): string | undefined => table.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = nameIn(browsers);
  return browser === undefined ? undefined : { browser, system: nameIn(systems) };
}

/** `Chrome on Windows`; the beginning of what no browser says. */
export function browserWords(userAgent: string): string {
  const names = browserNames(userAgent);
  if (names === undefined) return userAgent.slice(0, rawCharsMax);
  return names.system === undefined ? names.browser : `${names.browser} on ${names.system}`;
}
