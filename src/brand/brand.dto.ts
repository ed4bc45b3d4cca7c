import { BRAND_FOOTER_MAX, BRAND_NAME_MAX, type BrandValues } from '../config/brand-values.js';
import {
  IsAccentColor,
  IsEmailAddress,
  IsHttpsPage,
  IsVisibleText,
  MayBeNull,
} from '../http/validation/validation.decorators.js';

/** The rules for what an admin types of the brand. */
export class BrandDto {
  @IsVisibleText(1, BRAND_NAME_MAX)
  name!: string;

  @MayBeNull()
  @IsAccentColor()
  accent_color!: string | null;

  @MayBeNull()
  @IsEmailAddress()
  support_email!: string | null;

  @MayBeNull()
  @IsHttpsPage()
  privacy_url!: string | null;

  @MayBeNull()
  @IsHttpsPage()
  terms_url!: string | null;

  @MayBeNull()
  @IsVisibleText(1, BRAND_FOOTER_MAX)
  footer!: string | null;
}

export const brandValuesOf = (dto: BrandDto): BrandValues => ({
  name: dto.name,
  accentColor: dto.accent_color?.toLowerCase() ?? null,
  supportEmail: dto.support_email,
  privacyUrl: dto.privacy_url,
  termsUrl: dto.terms_url,
  footer: dto.footer,
});
