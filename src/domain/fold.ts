// The one folding of identifiers (storage rule R6): user names, emails and display names that must not collide.

/** NFKC, then case-folded (by lower, upper and lower case, which joins ẞ and ß and folds ſ and final sigma), then NFKC again. */
export function foldKey(value: string): string {
  return value.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC');
}
