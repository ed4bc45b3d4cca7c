import type { EventTypeVersionEntity } from './event-type-version.entity.js';
import type { EventTypeEntity } from './event-type.entity.js';

/** An event type with its versions, the oldest first. */
export type VersionedEventType = EventTypeEntity & { versions: EventTypeVersionEntity[] };

/** The version that publishing uses by default: the newest that is not a draft (contract §21). */
export const currentVersion = <V extends Pick<EventTypeVersionEntity, 'draft'>>({
  versions,
}: {
  versions: V[];
}): V | undefined => versions.findLast(({ draft }) => !draft);
