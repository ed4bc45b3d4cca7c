import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

const SOURCE = path.join(process.cwd(), 'src');
const KINDS = /\.(?:service|controller|guard|grant|strategy|interceptor|filter)\.ts$/;
const SQL =
  /\b(?:SELECT|INSERT INTO|DELETE FROM|UPDATE|LISTEN|UNLISTEN|NOTIFY|SET|JOIN|WHERE)\s|\bpg_\w+\(|\.query\s*[(<]|\b[sS]tatements\.run\s*[(<]/;
/** It is the connection for notifications itself: LISTEN, UNLISTEN, pg_notify. */
const THE_CONNECTION = 'platform/database/connections/listener.service.ts';

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');

describe('SQL stands in repositories', () => {
  it('and no service, controller, guard or grant contains or sends any, but for the connection itself', () => {
    const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) =>
      KINDS.test(file),
    );
    const sending = files.filter((file) =>
      SQL.test(withoutComments(readFileSync(path.join(SOURCE, file), 'utf8'))),
    );
    expect(sending).toEqual([THE_CONNECTION]);
  });

  it.each([
    "this.dataSource.query('…')",
    'connection.query<Row>(config)',
    "this.statements.run<Row>('name', text, [])",
    "const sql = 'SELECT 1'",
    '`UPDATE users SET enabled = false`',
    "'DELETE FROM users'",
  ])('notices %s', (line) => {
    expect(line).toMatch(SQL);
  });

  it.each(['const { query } = request;', '@Query() query: PageQuery', 'await this.transactions.run(work)'])(
    'passes %s',
    (line) => {
      expect(line).not.toMatch(SQL);
    },
  );
});
