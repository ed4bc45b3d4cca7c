import { auditViewOf } from '#records/audit/audit-view.js';

class Vehicle {
  id!: string;
  name!: string;
  isReady!: boolean;
  key!: Buffer;
  seats?: number;
}

const NOT_AUDITED = { id: 'the subject of the event', key: 'has an event of its own' };

describe('What audit events say of an entity', () => {
  const vehicle = { id: 'v1', name: 'Van', isReady: true, key: Buffer.from('secret'), seats: 5 };

  it('is its audited fields, by their names in the event', () => {
    const view = auditViewOf(Vehicle, { name: 'name', isReady: 'is_ready', seats: 'seats' }, NOT_AUDITED);
    expect(view(vehicle)).toEqual({ name: 'Van', is_ready: true, seats: 5 });
  });

  it('is what a function makes of a value, where the value itself is not for the log', () => {
    const view = auditViewOf(
      Vehicle,
      {
        name: ['name', (name) => name.length],
        isReady: 'ready',
        key: ['key', () => 'sealed'],
        seats: 'seats',
      },
      { id: 'the subject of the event' },
    );
    expect(view(vehicle)).toEqual({ name: 3, ready: true, key: 'sealed', seats: 5 });
  });

  // The type check asserts the comments: it fails if a line below one of them compiles.
  it('does not compile unless each field is audited or not audited, with a reason', () => {
    const all = { name: 'name', isReady: 'is_ready', seats: 'seats' };
    const compiled = [
      // @ts-expect-error isReady is in neither list
      auditViewOf(Vehicle, { name: 'n', seats: 's' }, NOT_AUDITED),
      // @ts-expect-error seats is in neither list
      auditViewOf(Vehicle, { name: 'n', isReady: 'r' }, NOT_AUDITED),
      // @ts-expect-error a vehicle has no wheels
      auditViewOf(Vehicle, all, { ...NOT_AUDITED, wheels: 'round' }),
      // @ts-expect-error key has no reason
      auditViewOf(Vehicle, all, { id: 'the subject of the event', key: undefined }),
      // @ts-expect-error id is in both lists
      auditViewOf(Vehicle, { id: 'id', name: 'n', isReady: 'r', seats: 's' }, NOT_AUDITED),
      // @ts-expect-error a vehicle has no wheels
      auditViewOf(Vehicle, { wheels: 'w', name: 'n', isReady: 'r', seats: 's' }, NOT_AUDITED),
    ];
    expect(compiled).not.toContain(undefined);
  });

  it('is not made of less than its audited fields', () => {
    const view = auditViewOf(Vehicle, { name: 'name', isReady: 'is_ready', seats: 'seats' }, NOT_AUDITED);
    // @ts-expect-error isReady is missing
    expect(view({ name: 'Van', seats: 5 })).toEqual({ name: 'Van', is_ready: undefined, seats: 5 });
  });
});
