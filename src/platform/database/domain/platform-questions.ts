import type { PurgePreparation, PurgeTask } from '../purge/purge-tasks.js';
import { askedOfAll } from './named.js';

/** How many were sealed again under the current `ENCRYPTION_KEY`, and which cannot be decrypted. */
export interface Resealed {
  resealed: number;
  unreadable: string[];
}

/** What the platform asks of those above it. */
export const PLATFORM_QUESTIONS = {
  'purge.tasks': askedOfAll<() => (PurgeTask | PurgePreparation)[]>('What has to be deleted, and when?'),
  'sealed.reseal': askedOfAll<() => Promise<Resealed>>(
    'What do features store sealed? The answer seals it again under the current `ENCRYPTION_KEY`.',
  ),
  'page.leads_away': askedOfAll<(path: string) => Promise<boolean>>(
    'Does the page at this path and query redirect to another site by itself? No form may redirect to it: Chromium checks the whole chain of redirects against the `form-action` of the form’s page.',
  ),
};
