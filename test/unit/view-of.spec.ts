import { flag, orNull, text, time } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';

interface Source {
  id: string;
  createdAt: Date;
  endedAt: Date | null;
  tags: string[];
}

class View extends viewOf<Source>()({
  id: text(),
  created_at: time(),
  ended_at: orNull(time()),
  tagged: [flag(), ({ tags }) => tags.length > 0],
}) {}

describe('A view', () => {
  const at = new Date('2026-03-02T17:42:10Z');

  it('reads each member by its name or as it says, in order, with times as text', () => {
    const view: View = View.of({ id: 'one', createdAt: at, endedAt: null, tags: ['a'] });
    expect(Object.entries(view)).toEqual([
      ['id', 'one'],
      ['created_at', '2026-03-02T17:42:10.000Z'],
      ['ended_at', null],
      ['tagged', true],
    ]);
  });

  it('does not compile with a member that the source does not have', () => {
    // @ts-expect-error `ending_at` is not a property of the source.
    const make = () => class extends viewOf<Source>()({ ending_at: time() }) {};
    expect(make).not.toThrow();
  });
});
