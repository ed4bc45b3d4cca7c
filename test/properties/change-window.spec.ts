import fc from 'fast-check';
import { ChangeWindow, EVERYTHING, hashOf } from '#platform/database/changes/change-window.js';
import { always } from './support/runs.js';

const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];
const ids = fc.array(fc.constantFrom(...IDS), { minLength: 1, maxLength: 3 });
const change = fc.record({
  xid: fc.integer({ min: 1, max: 40 }),
  ids: fc.oneof({ arbitrary: ids, weight: 9 }, { arbitrary: fc.constant([EVERYTHING]), weight: 1 }),
});
const changes = fc.array(change, { maxLength: 30 });

describe('The window of changes', () => {
  it('misses no change, whatever it had to drop', () => {
    always(
      fc.property(changes, fc.integer({ min: 1, max: 5 }), (all, most) => {
        const window = new ChangeWindow(most);
        const positions = [window.position];
        for (const { xid, ids: changed } of all) {
          window.add(xid, changed);
          positions.push(window.position);
        }
        const missed: unknown[] = [];
        for (const id of IDS) {
          const concerns = all.map(({ xid, ids: changed }) => ({
            xid,
            hit: changed.includes(id) || changed.includes(EVERYTHING),
          }));
          for (const [n, position] of positions.entries()) {
            const hit = concerns.slice(n).some((each) => each.hit);
            if (hit && !window.hasChanged(position, [id])) missed.push({ id, position });
          }
          for (let from = 1; from <= 41; from++) {
            const changed = concerns.some(({ xid, hit }) => hit && xid >= from);
            if (changed && !window.hasChangedSince(from, [id])) missed.push({ id, from });
          }
        }
        expect(missed).toEqual([]);
        expect(window.size).toBeLessThanOrEqual(2 * most);
      }),
    );
  });

  it('reports no change that did not happen, while it has room', () => {
    always(
      fc.property(
        fc.array(fc.record({ xid: change.map(({ xid }) => xid), ids }), { maxLength: 30 }),
        (all) => {
          const window = new ChangeWindow(IDS.length);
          for (const { xid, ids: changed } of all) window.add(xid, changed);
          for (const id of IDS) {
            const last = all.findLastIndex(({ ids: changed }) => changed.includes(id));
            expect(window.hasChanged(last + 1, [id])).toBe(false);
            if (last >= 0) expect(window.hasChanged(last, [id])).toBe(true);
            const newest = Math.max(
              0,
              ...all.filter(({ ids: each }) => each.includes(id)).map(({ xid }) => xid),
            );
            expect(window.hasChangedSince(newest + 1, [id])).toBe(false);
          }
        },
      ),
    );
  });

  it('reports everything as changed since before a gap or a reset', () => {
    const window = new ChangeWindow(10);
    window.add(5, ['a']);
    window.leaveOut(7);
    expect([window.hasChanged(1, ['b']), window.hasChanged(2, ['b'])]).toEqual([true, false]);
    expect([window.hasChangedSince(7, ['b']), window.hasChangedSince(8, ['b'])]).toEqual([true, false]);
    window.reset();
    expect([window.hasChanged(2, ['b']), window.hasChanged(3, ['b'])]).toEqual([true, false]);
    expect(window.hasChangedSince(1, ['a', 'b'])).toBe(false);
  });

  it.each([
    ['numbered', (n: number) => `user${n}`],
    ['like UUIDs', (n: number) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`],
    ['with one other letter at the front', (n: number) => `${n.toString(36)}-charging-fleet-of-the-company`],
  ])('takes no id for another: %s', (_kind, id) => {
    expect(new Set(Array.from({ length: 100_000 }, (_none, n) => hashOf(id(n)))).size).toBe(100_000);
  });

  it('holds more ids than one table grows to, each with its own change', () => {
    const window = new ChangeWindow(40_000);
    for (let n = 1; n <= 80_000; n++) window.add(n, [`grnt${n}`]);
    expect(window.size).toBe(80_000);
    for (const n of [1, 2, 39_999, 40_000, 40_001, 79_999, 80_000]) {
      expect(window.hasChanged(n - 1, [`grnt${n}`])).toBe(true);
      expect(window.hasChanged(n, [`grnt${n}`])).toBe(false);
      expect(window.hasChangedSince(n, [`grnt${n}`])).toBe(true);
      expect(window.hasChangedSince(n + 1, [`grnt${n}`])).toBe(false);
    }
    window.add(80_001, ['grnt80001']);
    expect(window.size).toBe(40_001);
    expect(window.hasChanged(39_999, ['of nobody'])).toBe(true);
    expect(window.hasChanged(40_000, ['of nobody'])).toBe(false);
  });
});
