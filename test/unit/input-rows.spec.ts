import { InputRows } from '#platform/database/queries/input-rows.js';
import { arrayParameter } from '#platform/database/queries/statements.js';

interface Item {
  id: string;
  createdAt: Date | null;
  count?: number;
}

describe('The items of a statement', () => {
  it('are an array for each member, of which the columns have the names', () => {
    const rows = new InputRows<Item>({ text: ['id'], timestamptz: ['createdAt'], int: ['count'] });
    expect(rows.columns).toBe('id, created_at, count');
    expect(rows.arrays).toBe('$1::text[], $2::timestamptz[], $3::int[]');
    const at = new Date(0);
    const items = [
      { id: 'a', createdAt: at },
      { id: 'b', createdAt: null, count: 2 },
    ];
    expect(rows.parameters(items)).toEqual([
      ['a', 'b'],
      [at, null],
      [undefined, 2],
    ]);
  });

  it('are arrays of unknown length to the planner where that is asked for', () => {
    const rows = new InputRows<Item>({ text: ['id'], int: ['count'] }, arrayParameter);
    expect(rows.arrays).toBe('((SELECT $1::text[])::text[]), ((SELECT $2::int[])::int[])');
  });
});
