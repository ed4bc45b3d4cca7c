import { BRAND_FOOTER_MAX, BRAND_NAME_MAX, type BrandValues } from '#platform/config/brand-values.js';
import { ResourceForm, type FormValues } from '#platform/http/resources/resource-form.js';
import { NULL_IF_OMITTED, resource } from '#platform/http/resources/resource.js';
import {
  IsAccentColor,
  IsEmailAddress,
  IsHttpsPage,
  IsVisibleText,
} from '#platform/http/validation/validation.decorators.js';
import type { BrandEntity } from './brand.entity.js';

/** The fields of the brand (contract §14), for the audit log, the form and company files. */
export const BRAND = resource<BrandEntity>()('brand', {
  isOnly: { audited: { not: 'there is one row' } },
  name: {
    rule: IsVisibleText(1, BRAND_NAME_MAX),
    given: 'required',
    audited: true,
    form: {
      as: 'line',
      label: 'Name',
      hint: 'What the service is called: on pages, in mails, in authenticator apps and in passkeys.',
    },
  },
  accentColor: {
    wire: 'accent_color',
    rule: IsAccentColor(),
    ...NULL_IF_OMITTED,
    audited: true,
    form: {
      as: 'lineOrNone',
      label: 'Accent colour',
      spellcheck: false,
      hint: 'The colour of buttons and links, such as #006b57. White text on it must be readable; for dark pages a lighter shade is used. Leave it empty for the usual green.',
    },
  },
  supportEmail: {
    wire: 'support_email',
    rule: IsEmailAddress(),
    ...NULL_IF_OMITTED,
    audited: true,
    form: {
      as: 'lineOrNone',
      label: 'Support address',
      hint: 'The email address that people can write to. Optional.',
    },
  },
  privacyUrl: {
    wire: 'privacy_url',
    rule: IsHttpsPage(),
    ...NULL_IF_OMITTED,
    audited: true,
    form: {
      as: 'lineOrNone',
      label: 'Privacy',
      hint: 'Your page about privacy. It begins with https://. Optional.',
    },
  },
  termsUrl: {
    wire: 'terms_url',
    rule: IsHttpsPage(),
    ...NULL_IF_OMITTED,
    audited: true,
    form: {
      as: 'lineOrNone',
      label: 'Terms',
      hint: 'Your page with the terms. It begins with https://. Optional.',
    },
  },
  footer: {
    rule: IsVisibleText(1, BRAND_FOOTER_MAX),
    ...NULL_IF_OMITTED,
    audited: true,
    form: {
      as: 'lineOrNone',
      label: 'Footer',
      hint: 'A line at the bottom of each page, such as the name and seat of the company. Optional.',
    },
  },
  logoId: { wire: 'logo', audited: true },
  changedAt: { audited: { not: 'the time of the event' } },
});

export const BRAND_FORM = new ResourceForm(BRAND);
export type BrandFormValues = FormValues<typeof BRAND.fields>;

/** The brand as entered by an admin, or given in a company file. */
export class BrandDto extends BRAND.newBody() {}

export function brandValuesOf(body: BrandDto): BrandValues {
  const { name, accentColor, ...values } = BRAND.complete(BRAND.newOf(body));
  return { ...values, name: name!, accentColor: accentColor?.toLowerCase() ?? null };
}
