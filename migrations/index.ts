import { InitialSchema1763629200000 } from './1763629200000-initial-schema.js';

/** Every migration, oldest first. */
export const MIGRATIONS = [InitialSchema1763629200000];
