import fc from 'fast-check';
import { Form } from '#platform/http/forms/form.js';
import { Problem } from '#platform/http/problems/problem.js';
import { readDeliveryQuery } from '#entrypoints/webhook-portal/deliveries/delivery-query.js';
import { RANGES, rangeStart } from '#platform/web/charts/ranges.js';
import { activityBuckets } from '#entrypoints/webhook-portal/deliveries/activity-buckets.js';
import { readRecoveryQuery } from '#entrypoints/webhook-portal/deliveries/recovery-query.js';
import { parseUtcTime, utcFieldValue } from '#platform/web/forms/utc-time.js';
import { newId } from '#platform/secrets/ids.js';
import type { EndpointHour } from '#events/webhooks/endpoints/endpoint-health.js';
import { oddText, percentEncoded, urlText } from './support/odd-text.js';
import { orProblem } from './support/refused.js';
import { always } from './support/runs.js';

const timeText = () =>
  fc.oneof(
    oddText(),
    fc.stringMatching(/^\d{4}-[01]\d-[0-3]\d[T ][0-2]\d:[0-6]\d(:[0-6]\d(\.\d{1,3})?)?Z?$/),
    fc
      .date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
      .map(utcFieldValue),
  );

describe('A time in a form', () => {
  it('is read back unchanged, to the second', () => {
    const date = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true });
    always(
      fc.property(
        date,
        (time) => parseUtcTime(utcFieldValue(time))?.getTime() === Math.floor(time.getTime() / 1000) * 1000,
      ),
    );
  });

  it('is either the time that was meant, from 1970 on, or refused', () => {
    always(
      fc.property(timeText(), (text) => {
        const time = parseUtcTime(text);
        return (
          time === undefined ||
          (time.getTime() >= 0 && utcFieldValue(time).startsWith(text.trim().replace(' ', 'T').slice(0, 16)))
        );
      }),
    );
  });
});

describe('The query of the list of deliveries', () => {
  const names = fc.constantFrom(
    'state',
    'endpoint',
    'type',
    'from',
    'to',
    'recovery',
    'page_after',
    'page_before',
    '__proto__',
  );
  const value = fc.oneof(
    urlText(),
    timeText().map(percentEncoded),
    fc.constantFrom(
      'pending',
      'failed',
      newId('endp'),
      newId('dlvr'),
      newId('rcvr'),
      'vehicle.updated',
      'toString',
      ' failed ',
    ),
  );

  it('becomes a filter with errors, or a 400', () => {
    always(
      fc.property(fc.array(fc.tuple(names, value), { maxLength: 6 }), (pairs) => {
        const query = orProblem(() => readDeliveryQuery(pairs.map((pair) => pair.join('=')).join('&')));
        if (query instanceof Problem) return query.status === 400;
        const { input, filter, errors, page } = query;
        const meant = [
          ['state', filter.state],
          ['from', filter.from],
          ['to', filter.to],
          ['endpoint', filter.endpointId],
        ] as const;
        return (
          page.size === 25 &&
          meant.every(
            ([name, each]) => each !== undefined || input[name] === '' || errors[name] !== undefined,
          ) &&
          (filter.from === undefined ||
            filter.to === undefined ||
            filter.from < filter.to ||
            errors.to !== undefined)
        );
      }),
    );
  });

  it('stays the same in the links of the page', () => {
    always(
      fc.property(fc.array(fc.tuple(names, value), { maxLength: 6 }), (pairs) => {
        const query = orProblem(() => readDeliveryQuery(pairs.map((pair) => pair.join('=')).join('&')));
        if (query instanceof Problem) return true;
        return JSON.stringify(readDeliveryQuery(query.search).filter) === JSON.stringify(query.filter);
      }),
    );
  });
});

describe('The times of a recovery', () => {
  it('are either a range that goes forward, or errors next to the fields', () => {
    always(
      fc.property(timeText(), timeText(), fc.boolean(), (from, to, isEmpty) => {
        const fields = isEmpty ? '' : `from=${percentEncoded(from)}&to=${percentEncoded(to)}`;
        const query = orProblem(() => readRecoveryQuery(Form.parse(fields), new Date(), 3_600_000));
        if (query instanceof Problem) return query.status === 400;
        const { range, errors } = query;
        return range
          ? range.from < range.to && Object.keys(errors).length === 0
          : Object.keys(errors).length > 0;
      }),
    );
  });
});

describe('The buckets of a chart', () => {
  const now = new Date('2026-03-02T17:42:10Z');
  const hour = (from: number) =>
    fc.record({
      ago: fc.nat(from),
      delivered: fc.nat(1000),
      failed: fc.nat(1000),
      averageMs: fc.nat(15_000),
      slowestMs: fc.nat(15_000),
    });

  it.each(['24h', '7d'] as const)('contain every attempt of the range exactly once: %s', (range) => {
    const first = rangeStart(RANGES[range], now).getTime();
    always(
      fc.property(fc.array(hour(200), { maxLength: 20 }), (given) => {
        const current = Math.floor(now.getTime() / 3_600_000) * 3_600_000;
        const hours = given.map(({ ago, ...each }) => ({
          ...each,
          hour: new Date(current - ago * 3_600_000),
        })) as EndpointHour[];
        const within = hours.filter((each) => each.hour.getTime() >= first);
        const sum = (list: { delivered: number; failed: number }[]) =>
          list.reduce((total, each) => total + each.delivered + each.failed, 0);
        const buckets = activityBuckets(hours, range, now);
        return (
          buckets.length === (range === '24h' ? 24 : 7) &&
          sum(buckets) === sum(within) &&
          buckets.every((each) => each.averageMs === undefined || Number.isFinite(each.averageMs))
        );
      }),
    );
  });
});
