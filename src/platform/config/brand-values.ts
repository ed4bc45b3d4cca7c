/** What the service is called unless something else is set: the one place in the code that says it. */
export const PRODUCT_NAME = 'Charging Data Service';

/** The brand of the service (contract §14): the settings, or what an admin has saved instead. */
export interface BrandValues {
  name: string;
  /** `#rrggbb`; null for the service's own colours. */
  accentColor: string | null;
  supportEmail: string | null;
  privacyUrl: string | null;
  termsUrl: string | null;
  /** A line of text at the bottom of each page. */
  footer: string | null;
}

export const PLAIN_BRAND: BrandValues = {
  name: PRODUCT_NAME,
  accentColor: null,
  supportEmail: null,
  privacyUrl: null,
  termsUrl: null,
  footer: null,
};

export const BRAND_NAME_MAX = 60;
export const BRAND_FOOTER_MAX = 300;
