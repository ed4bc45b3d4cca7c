import type { BrandValues } from '#platform/config/brand-values.js';
import { styleUrlOf } from './brand-style.js';

/** What pages and mails show of the company. */
export interface Brand extends BrandValues {
  /** The logo's digest, by which it is served; null for the service's own mark. */
  logoId: string | null;
}

/** A brand without a logo. */
export const withoutLogo = (values: BrandValues): Brand => ({ ...values, logoId: null });

/** Where a logo is served. */
export const logoPath = (logoId: string): string => `/logos/${logoId}`;

/** The style sheets that give pages the brand's colour. */
export const stylesOf = ({ accentColor }: BrandValues): string[] =>
  accentColor === null ? [] : [styleUrlOf(accentColor)];

/** The address that starts a mail; an email address may hold characters that mean something there. */
export const mailtoOf = (email: string): string =>
  `mailto:${encodeURIComponent(email).replaceAll('%40', '@')}`;
