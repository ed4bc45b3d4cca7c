import type { BrandValues } from '#platform/config/brand-values.js';
import { BRAND } from './brand.resource.js';

/** The brand as entered by an admin, or given in a company file. */
export class BrandDto extends BRAND.newBody() {}

export function brandValuesOf(body: BrandDto): BrandValues {
  const { name, accentColor, ...values } = BRAND.complete(BRAND.newOf(body));
  return { ...values, name: name!, accentColor: accentColor?.toLowerCase() ?? null };
}
