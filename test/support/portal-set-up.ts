import { HeldTimers } from './held-timers.js';
import { madeForEach } from './made.js';
import { enterPortal } from './portal.js';
import { Receiver } from './receiver.js';
import { useSharedService } from './test-service.js';
import { WEBHOOK_ENV } from './webhooks.js';

/** Whoever sends a test in the portal waits 3 s for its result, and in the tests of this file for as long as it takes. */
export const holdWaitForTest = (): HeldTimers => HeldTimers.hold(3_000, 3_000, '/deliveries.service.');

/** A service and a receiver for the tests of a file; each test has a new client, and a browser in its portal. */
export function setUpPortal() {
  holdWaitForTest();
  const service = useSharedService({ env: WEBHOOK_ENV });
  const receiver = Receiver.setUp();
  const client = madeForEach(() => service.make.client());
  const browser = madeForEach(() => enterPortal(service, client));
  beforeEach(() => void (receiver.requests.length = 0));
  return { service, receiver, client, browser };
}
