/**
 * What makes two e-mail addresses the same: one case, one Unicode form (contract §1). The sigma at the end of a word is the small
 * letter of the same capital as any other, and small letters can have a simpler form that capitals have not.
 */
export const emailKeyOf = (email: string): string =>
  email.normalize('NFKC').toLowerCase().normalize('NFKC').replaceAll('ς', 'σ');
