import { InitialSchema1763629200000 } from './1763629200000-initial-schema.js';
import { Notifications1763632000000 } from './1763632000000-notifications.js';
import { Webhooks1763640000000 } from './1763640000000-webhooks.js';
import { Account1763650000000 } from './1763650000000-account.js';
import { Activity1763660000000 } from './1763660000000-activity.js';
import { AccessChanges1763670000000 } from './1763670000000-access-changes.js';
import { SealedSuccessors1763680000000 } from './1763680000000-sealed-successors.js';

/** Every migration, oldest first. */
export const MIGRATIONS = [
  InitialSchema1763629200000,
  Notifications1763632000000,
  Webhooks1763640000000,
  Account1763650000000,
  Activity1763660000000,
  AccessChanges1763670000000,
  SealedSuccessors1763680000000,
];
