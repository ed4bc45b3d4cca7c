import { isDatabaseAway } from '#platform/database/queries/database-errors.js';

describe('A database that cannot be reached', () => {
  it.each([
    'timeout expired',
    'timeout exceeded when trying to connect',
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'Query read timeout',
  ])('is recognized by what pg says: %s', (message) => {
    expect(isDatabaseAway(new Error(message))).toBe(true);
    expect(isDatabaseAway({ driverError: new Error(message) })).toBe(true);
  });

  it.each([new Error('the timeout expired of something else'), undefined, 'timeout expired'])(
    'is not any other error: %s',
    (error) => expect(isDatabaseAway(error)).toBe(false),
  );
});
