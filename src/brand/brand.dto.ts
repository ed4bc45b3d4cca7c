import type { BrandValues } from '../config/brand-values.js';
import { BRAND } from './brand.resource.js';

/** What an admin types of the brand, or a company file says. */
export class BrandDto extends BRAND.newBody() {}

export function brandValuesOf(body: BrandDto): BrandValues {
  const { name, accentColor, ...values } = BRAND.complete(BRAND.newOf(body));
  return { ...values, name: name!, accentColor: accentColor?.toLowerCase() ?? null };
}
