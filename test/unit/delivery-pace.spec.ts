import { HeldTimers } from '../support/held-timers.js';
import { DeliveryPace } from '#events/webhooks/deliveries/delivery-pace.js';

const LATE = 50;
const IN_TIME = 1;

describe('the pace of deliveries', () => {
  const times = (count: number, work: () => void) => Array.from({ length: count }).forEach(work);
  const wanted = (pace: DeliveryPace) => {
    pace.wantMore();
    pace.adapt(IN_TIME);
  };

  it('slows down while the event loop turns late, but never stops', () => {
    const limits: number[] = [];
    const pace = new DeliveryPace(
      512,
      () => undefined,
      (limit) => limits.push(limit),
    );
    const before = pace.limit;
    pace.adapt(LATE);
    expect(pace.limit).toBeLessThan(before);
    times(100, () => pace.adapt(LATE));
    expect(pace.limit).toBe(8);
    expect(limits).toEqual([...limits].sort((a, b) => b - a));
  });

  it('grows up to the setting while the event loop turns in time and more is wanted, and says so', () => {
    let told = 0;
    const pace = new DeliveryPace(512, () => told++);
    times(100, () => pace.adapt(LATE));
    wanted(pace);
    expect([pace.limit, told]).toEqual([10, 1]);
    times(100, () => wanted(pace));
    expect(pace.limit).toBe(512);
  });

  it('does not grow while nothing more is wanted', () => {
    const pace = new DeliveryPace(512, () => {
      throw new Error('there was room before');
    });
    const before = pace.limit;
    times(10, () => pace.adapt(IN_TIME));
    expect(pace.limit).toBe(before);
  });

  it('begins anew after a rest, so that a burst does not start with what an earlier one had reached', () => {
    const samples = HeldTimers.hold(10, 10, 'delivery-pace');
    try {
      const pace = new DeliveryPace(512, () => undefined);
      times(100, () => wanted(pace));
      pace.watch();
      times(100, () => samples.letPass());
      pace.watch();
      times(100, () => samples.letPass());
      expect(samples.count).toBe(1);
      samples.letPass();
      expect([pace.limit, samples.count]).toEqual([32, 0]);
    } finally {
      samples.release();
    }
  });

  it.each([1, 5, 20])('never exceeds a setting of %d', (most) => {
    const pace = new DeliveryPace(most, () => undefined);
    expect(pace.limit).toBeLessThanOrEqual(most);
    times(20, () => wanted(pace));
    expect(pace.limit).toBe(most);
    times(20, () => pace.adapt(LATE));
    expect(pace.limit).toBe(Math.min(most, 8));
  });
});
