import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import recorded from '../../openapi-examples.json' with { type: 'json' };
import { answerOf, type Answer, type Reference } from '#entrypoints/api-docs/openapi.js';
import { recordExamples } from '../support/examples/record.js';
import { OPERATIONS, type Recorder } from '../support/examples/recorder.js';
import { committedDocument } from '../support/openapi-document.js';

const FILE = path.join(process.cwd(), 'openapi-examples.json');

/** Described because guards and filters of every endpoint of the kind can refuse so; no request of these operations causes it. */
const NEVER_CAUSED = [
  'listNotifications 403',
  'getNotification 403',
  'markNotification 403',
  'listUsers 403',
  'getOwnUser 403',
  'getUser 403',
  'listScopes 400',
  'listPurposes 400',
  'listAdminEventTypes 400',
  'listOperatorInvitations 400',
  'followAccessChanges 400',
  // Only without mail.
  'inviteOperator 404',
  // Only while another request deletes it.
  'putPurpose 409',
  // Only a person approves, in the console.
  'approve 204',
];

/** A page, or a stream that does not end. */
const isPage = (answer: Answer | Reference): boolean =>
  Object.keys(answerOf(committedDocument, answer).content ?? {}).some((type) =>
    ['text/html', 'text/event-stream'].includes(type),
  );

/** Each operation and status that is recorded: all but pages, redirects and failures of the service itself. */
const NEEDED = [...OPERATIONS].flatMap(([id, { operation }]) =>
  Object.entries(operation.responses)
    .filter(([status, answer]) => /^[24]/.test(status) && !isPage(answer))
    .map(([status]) => `${id} ${status}`),
);

describe('The recorded examples', () => {
  let recorder: Recorder;
  beforeAll(async () => void (recorder = await recordExamples()));

  it('have a request and every response of each operation', () => {
    const missing = NEEDED.filter((each) => !recorder.seen.has(each));
    expect(missing.toSorted()).toEqual(NEVER_CAUSED.toSorted());
    const examples = recorder.examples();
    for (const [id, { operation }] of OPERATIONS) {
      if (operation.requestBody)
        expect([id, examples[id]]).toEqual([id, expect.objectContaining({ requests: expect.anything() })]);
    }
  });

  it('are what the service answers: after a change, npm run examples writes them', async () => {
    if (process.env.RECORD_EXAMPLES) await writeFile(FILE, JSON.stringify(recorder.examples()));
    else expect(recorded).toEqual(recorder.examples());
  });
});
