import type { SessionEntity } from './session.entity.js';

/** A browser session, as its user sees it. */
export type SessionView = Pick<SessionEntity, 'id' | 'createdAt' | 'lastSeenAt' | 'address' | 'userAgent'>;
