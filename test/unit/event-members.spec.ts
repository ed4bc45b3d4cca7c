import { membersOf } from '#events/webhooks/filters/event-members.js';
import { entriesOf } from '#events/webhooks/event-types/schema-parts.js';

describe('The members that filters may name', () => {
  it.each(['100%', 'a/b', '~', 'plain'])('are found behind a reference to a part named %j', (name) => {
    const written = name.replaceAll('~', '~0').replaceAll('/', '~1');
    for (const pointer of [written, encodeURIComponent(written)]) {
      const schema = {
        type: 'object',
        properties: { share: { $ref: `#/$defs/${pointer}` } },
        $defs: { [name]: { type: 'number' } },
      };
      // It is accepted for an event type.
      expect(entriesOf(schema)).toBeGreaterThan(0);
      expect([...membersOf([{ versions: [{ schema, draft: false }] }]).get('data.share')!]).toEqual([
        'number',
      ]);
    }
  });
});
