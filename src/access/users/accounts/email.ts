/**
 * The key by which two email addresses count as equal: lower case and one Unicode form (contract §1). The final sigma has the
 * same capital as any other sigma, and lower-casing can produce characters that need normalizing again.
 */
export const emailKeyOf = (email: string): string =>
  email.normalize('NFKC').toLowerCase().normalize('NFKC').replaceAll('ς', 'σ');
