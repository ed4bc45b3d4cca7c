import { concerns, RecentChanges } from '../../src/changes.js';
import { CircuitBreaker } from '../../src/circuit-breaker.js';
import { Memory } from '../../src/memory.js';

const about = (clientId: string, ...userIds: string[]) => ({ clientId, userIds });

describe('A change', () => {
  it.each([
    [{}, true],
    [{ clientId: 'a' }, true],
    [{ clientId: 'b' }, false],
    [{ userId: 'u' }, true],
    [{ userId: 'v' }, true],
    [{ userId: 'w' }, false],
    [{ clientId: 'a', userId: 'u' }, true],
    [{ clientId: 'b', userId: 'u' }, false],
    [{ clientId: 'a', userId: 'w' }, false],
  ])('%j of an answer about a client and two users: %s', (change, expected) => {
    expect(concerns(change, about('a', 'u', 'v'))).toBe(expected);
  });
});

describe('The memory', () => {
  it('drops what was used longest ago, and nothing is left of it', () => {
    const memory = new Memory<number>(3);
    for (const n of [1, 2, 3]) memory.set(String(n), n, about('a', 'u'));
    memory.get('1');
    memory.set('4', 4, about('b'));
    expect(['1', '2', '3', '4'].map((key) => memory.get(key))).toEqual([1, undefined, 3, 4]);
    memory.forget({ clientId: 'a' });
    expect([memory.size, memory.get('4')]).toEqual([1, 4]);
    memory.clear();
    expect(memory).toEqual(new Memory(3));
  });

  it('replaces a value together with whom it is about', () => {
    const memory = new Memory<number>(3);
    memory.set('k', 1, about('a', 'u'));
    memory.set('k', 2, about('b', 'v'));
    memory.forget({ clientId: 'a' });
    memory.forget({ userId: 'u' });
    expect(memory.get('k')).toBe(2);
    memory.forget({ clientId: 'b', userId: 'u' });
    expect(memory.get('k')).toBe(2);
    memory.forget({ clientId: 'b', userId: 'v' });
    expect(memory).toEqual(new Memory(3));
  });
});

describe('The recent changes', () => {
  it('concern what was asked for before they arrived, and nothing that was asked for later', () => {
    const recent = new RecentChanges(1_000);
    recent.add({ clientId: 'a' }, 100);
    expect([
      recent.concern(about('a'), 99),
      recent.concern(about('a'), 100),
      recent.concern(about('b'), 99),
    ]).toEqual([true, false, false]);
    expect([recent.hasAnySince(99), recent.hasAnySince(100)]).toEqual([true, false]);
    expect([recent.hasAnySince(99, 100), recent.hasAnySince(98, 99)]).toEqual([true, false]);
    recent.add({}, 200);
    expect([recent.concern(about('b'), 199), recent.concern(about('b'), 200)]).toEqual([true, false]);
  });

  it('of more than a thousand count as changes of everything', () => {
    const recent = new RecentChanges(1_000_000);
    for (let n = 0; n < 1_500; n++) recent.add({ clientId: String(n) }, n);
    expect([recent.concern(about('x'), 400), recent.concern(about('x'), 600)]).toEqual([true, false]);
    expect([recent.concern(about('1400'), 600), recent.concern(about('1400'), 1_400)]).toEqual([true, false]);
  });

  it('are dropped when no answer can be under way any more', () => {
    const recent = new RecentChanges(1_000);
    recent.add({ clientId: 'a' }, 0);
    recent.add({ clientId: 'b' }, 5_000);
    expect(recent.concern(about('x'), 4_000)).toBe(false);
  });
});

describe('The circuit breaker', () => {
  let now = 0;
  const opened = () => {
    now = 0;
    const breaker = new CircuitBreaker(() => now);
    for (let n = 0; n < 5; n++) breaker.failed();
    return breaker;
  };

  it('opens after five failures in a row, not before', () => {
    const breaker = new CircuitBreaker(() => now);
    for (let n = 0; n < 4; n++) expect([breaker.admit(), breaker.failed()]).toEqual([true, false]);
    breaker.succeeded();
    for (let n = 0; n < 4; n++) breaker.failed();
    expect(breaker.admit()).toBe(true);
    expect([breaker.failed(), breaker.admit(), breaker.retryAfter]).toEqual([true, false, 1]);
  });

  it('lets one request try after the pause, and closes if it succeeds', () => {
    const breaker = opened();
    now = 1_000;
    expect([breaker.admit(), breaker.admit()]).toEqual([true, false]);
    expect([breaker.succeeded(), breaker.admit(), breaker.admit()]).toEqual([true, true, true]);
  });

  it('waits twice as long after each failed try, up to half a minute', () => {
    const breaker = opened();
    const pauses: number[] = [];
    for (let n = 0; n < 7; n++) {
      now += breaker.retryAfter * 1_000;
      expect(breaker.admit()).toBe(true);
      // One that was under way before the pause says nothing new.
      breaker.failed();
      pauses.push(breaker.retryAfter);
    }
    expect(pauses).toEqual([2, 4, 8, 16, 30, 30, 30]);
  });
});
