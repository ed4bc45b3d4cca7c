import { SandboxProgram, stopPlannedEvents } from '../sandbox.js';
import type { Call } from './recorder.js';
import type { Refused } from './refusals.js';
import type { Stage } from './stage.js';

/** A program in the sandbox: a driver, what the driver does, and faults. */
export async function recordSandbox(stage: Stage): Promise<void> {
  const { service, cast, recorder } = stage;
  const { owner } = cast;
  const program = await SandboxProgram.start(service, { name: 'Route planner, sandbox', ownerId: owner.id });
  const { bearer } = program;
  const forbidden = { bearer: (await program.tokens((await program.driver({ seed: 7 })).id)).access_token };
  const live = { bearer: stage.partnerToken };
  const perform = (id: string, status: number, call: Call = {}, refused: Refused = {}) =>
    stage.perform(id, status, { bearer, ...call }, { forbidden, ...refused });
  const conflict = (id: string, call: Call) => recorder.answer(id, 409, { bearer, ...call });
  // What waits is counted, so nothing may be published in the meantime.
  const [worker] = await stopPlannedEvents(service);

  const newDriver = { json: { name: 'Robin', seed: 42 } };
  const { id } = (await perform('createSandboxDriver', 201, newDriver, { missing: live })).json as {
    id: string;
  };
  const path = { id };
  await perform('grantSandboxConsent', 200, { path, json: { scopes: ['charging_session:read'] } });
  await perform('listSandboxDrivers', 200, { query: { page_size: 2 } }, { missing: live });
  const session = { path, json: { speed: 60 } };
  await perform('startSandboxSession', 202, session);
  await conflict('startSandboxSession', session);
  const pastDays = { path, json: { days: 7 } };
  await perform('sendSandboxPastDays', 202, pastDays);
  const burst = { path, json: { count: 500 } };
  await perform('sendSandboxBurst', 202, burst);
  for (let n = 0; n < 2; n++) await program.call('POST', `drivers/${id}/events`, burst.json);
  await conflict('sendSandboxBurst', burst);
  await conflict('sendSandboxPastDays', { path, json: { days: 30 } });
  await perform('setSandboxFault', 201, { json: { kind: '503', count: 3 } }, { missing: live });
  await perform('withdrawSandboxConsent', 204, { path });
  // What operators are refused about drivers.
  await stage.conflict('createPasswordLink', { path });
  const consent = { path: { client_id: cast.partner.id, user_id: id }, json: { scopes: ['vehicle:read'] } };
  await stage.conflict('recordConsent', consent);
  for (let n = 2; n < 50; n++) await program.driver({}, false);
  await conflict('createSandboxDriver', newDriver);
  await perform('deleteSandboxDriver', 204, { path });
  worker!.onApplicationBootstrap();
}
