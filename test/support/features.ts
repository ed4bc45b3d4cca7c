import { existsSync } from 'node:fs';

/** What a list of a test has because of a feature: nothing if that was taken out. */
export const ofFeature = <T>(feature: string, items: T[]): T[] =>
  existsSync(`src/features/${feature}`) ? items : [];
