/** What makes two e-mail addresses the same: one case, one Unicode form (contract §1). */
export const emailKeyOf = (email: string): string => email.normalize('NFKC').toLowerCase();
