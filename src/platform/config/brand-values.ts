import { colord, extend } from 'colord';
import a11y from 'colord/plugins/a11y';

extend([a11y]);

/** WCAG 2.2 §1.4.3: the least contrast of text (level AA). */
export const AA = 4.5;

/** The brightest backgrounds of pages (`app.css`): of a card, and of the page around it. */
const LIGHT_BACKGROUNDS = ['#ffffff', '#f1f6f4'];

export const isHexColor = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text);

/**
 * The contrast of a colour with white text on it, or as text on light pages, whichever is lower. For dark pages a lighter shade is
 * made of it.
 */
export const leastContrast = (color: string): number =>
  Math.min(...LIGHT_BACKGROUNDS.map((background) => colord(color).contrast(background)));

/** Whether text in the colour, and white text on it, can be read. */
export const isReadableAccent = (color: string): boolean => isHexColor(color) && leastContrast(color) >= AA;

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
