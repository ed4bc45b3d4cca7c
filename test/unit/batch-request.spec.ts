import { messageOf, refusedIn, requestsOf } from '#events/webhooks/batches/batch-request.js';
import type { ClaimedDelivery } from '#events/webhooks/deliveries/claimed-delivery.js';

interface Given {
  key?: string | null;
  line?: string | null;
  gap?: number;
  cancelled?: true;
  version?: number;
}

/** The claim with this number in the feed. */
function claim(
  n: number,
  { key = 'endp', line = null, gap, cancelled, version = 1 }: Given = {},
): ClaimedDelivery {
  return {
    id: `dlvr${n}`,
    eventType: 'vehicle.updated',
    eventVersion: version,
    payload: `{"n": ${n}}`,
    sequenceGap: gap ?? (line === null ? null : 0),
    cancelReason: cancelled ? 'consent_withdrawn' : null,
    batch: key === null ? null : { key, eventId: `evnt${n}`, place: `place${n}`, line },
  } as ClaimedDelivery;
}
const idsOf = (requests: ClaimedDelivery[][]) => requests.map((each) => each.map(({ id }) => id));

describe('The requests of what was claimed', () => {
  it('are one for each batch, in the order of the feed, and one for each other delivery', () => {
    const requests = requestsOf([
      claim(3),
      claim(1),
      claim(4, { key: null }),
      claim(2),
      claim(5, { key: 'other' }),
      claim(6, { key: null }),
    ]);
    expect(idsOf(requests)).toEqual([['dlvr4'], ['dlvr6'], ['dlvr1', 'dlvr2', 'dlvr3'], ['dlvr5']]);
  });

  it('leave cancelled ones out of their batches, even all of them', () => {
    const [first, second, third] = [claim(1, { cancelled: true }), claim(2), claim(3, { cancelled: true })];
    expect(idsOf(requestsOf([first, second, third]))).toEqual([['dlvr1'], ['dlvr3'], ['dlvr2']]);
    expect(idsOf(requestsOf([first, third]))).toEqual([['dlvr1'], ['dlvr3']]);
  });

  it('have the gaps of a user as they are between the events of the batch', () => {
    const [batch] = requestsOf([
      claim(1, { line: 'a', gap: 2 }),
      claim(2, { line: 'a', gap: 2 }),
      claim(3, { line: 'b', gap: 0 }),
    ]);
    expect(batch!.map(({ sequenceGap }) => sequenceGap)).toEqual([2, 0, 0]);
  });

  it('count what was cancelled in between as missing', () => {
    const requests = requestsOf([
      claim(1, { line: 'a', gap: 100, cancelled: true }),
      claim(2, { line: 'a', gap: 100 }),
      claim(3, { line: 'a', gap: 100, cancelled: true }),
      claim(4, { line: 'a', gap: 100 }),
    ]);
    expect(requests.at(-1)!.map(({ sequenceGap }) => sequenceGap)).toEqual([100, 1]);
  });
});

describe('The message of a request', () => {
  it('is the payload itself without a batch', () => {
    const message = messageOf([claim(1, { key: null, version: 2 })]);
    expect(message).toMatchObject({
      id: 'dlvr1',
      eventType: 'vehicle.updated',
      eventVersion: 2,
      sequenceGap: null,
      body: '{"n": 1}',
    });
  });

  it('holds each payload byte for byte, and lists the versions and gaps', () => {
    const message = messageOf([claim(1, { version: 2 }), claim(2, { line: 'a', gap: 3 })]);
    expect(message).toEqual({
      id: expect.stringMatching(/^batch_[0-9a-f]{32}$/) as string,
      eventType: 'batch',
      eventVersion: '2,1',
      sequenceGap: '0,3',
      body: '{"type":"batch","data":[{"n": 1},{"n": 2}]}',
    });
    expect(messageOf([claim(1)])).toMatchObject({ eventVersion: '1', sequenceGap: null });
  });

  it('has the same id for the same deliveries, and another one for others', () => {
    const idOf = (...claims: ClaimedDelivery[]) => messageOf(claims).id;
    expect(idOf(claim(1), claim(2))).toBe(idOf(claim(1), claim(2)));
    const others = [
      idOf(claim(1), claim(2)),
      idOf(claim(2), claim(1)),
      idOf(claim(1)),
      idOf(claim(1), claim(3)),
    ];
    expect(new Set(others).size).toBe(4);
  });
});

describe('An answer with 207', () => {
  const events = [claim(1), claim(2), claim(3)];
  const refused = (answer: string, claims = events) =>
    refusedIn(answer, claims).map((why) => why !== undefined);

  it.each([
    ['{"failed":[]}', [false, false, false]],
    ['{"failed":["evnt2"]}', [false, true, false]],
    [' {"failed": ["evnt3", "evnt1", "evnt3"], "more": {}} ', [true, false, true]],
  ])('acknowledges what is not listed: %s', (answer, expected) => {
    expect(refused(answer)).toEqual(expected);
  });

  it.each(['', 'null', '[]', '"failed"', '{}', '{"failed":"evnt1"}', '{"failed":[1]}', '{"failed":[null]}'])(
    'acknowledges nothing if it is malformed: %s',
    (answer) => {
      expect(refused(answer)).toEqual([true, true, true]);
    },
  );

  it('acknowledges nothing if it lists what is not in the batch', () => {
    expect(refused('{"failed":["evnt1","dlvr2"]}')).toEqual([true, true, true]);
  });

  it('holds back what comes after a failed one of its user at an ordered endpoint', () => {
    const lines = [
      claim(1, { line: 'a' }),
      claim(2, { line: 'b' }),
      claim(3, { line: 'a' }),
      claim(4, { line: 'b' }),
    ];
    expect(refused('{"failed":["evnt1"]}', lines)).toEqual([true, false, true, false]);
    expect(refusedIn('{"failed":["evnt1","evnt3"]}', lines)[2]).toBe('The answer 207 lists it as failed.');
  });
});
