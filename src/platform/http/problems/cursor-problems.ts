import { badRequest } from './problem.js';

/** For a cursor that no line of the stream had. */
export const unknownCursor = () => badRequest('The cursor is not one of this log.');

/** For a cursor whose transaction this database has not reached. */
export const cursorAhead = () =>
  badRequest(
    'The cursor is ahead of this database, which was restored: begin without one, or with an earlier one.',
  );
