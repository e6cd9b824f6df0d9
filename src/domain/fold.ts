// The one folding of identifiers (storage rule R6): user names, emails and display names that must not collide.

/** NFKC, then case-folded (by upper then lower case, which also folds ß, ſ and final sigma), then NFKC again. */
export function foldKey(value: string): string {
  return value.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}
