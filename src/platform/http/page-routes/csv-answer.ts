import { StreamableFile } from '@nestjs/common';
import { stringify } from 'csv-stringify';
import { Readable } from 'node:stream';
import { inTurns, type PageTurns } from './page-turns.js';

type Value = string | number | boolean | Date | null;

/** Less than a millisecond's work. */
const ROWS_IN_A_TURN = 10;

/** The columns of a list as a file: their heads, and what a row has there. */
export type CsvColumns<T> = [head: string, cell: (row: T) => Value][];

/** A list as a file for spreadsheets. */
export interface CsvAnswer {
  csv: {
    name: string;
    /** The columns by their heads. */
    columns: string[];
    rows: AsyncIterable<Value[]>;
  };
}

/** The items as such a file. */
export const csvOf = <T>(name: string, columns: CsvColumns<T>, items: AsyncIterable<T>): CsvAnswer => ({
  csv: {
    name,
    columns: columns.map(([head]) => head),
    rows: cellsOf(columns, items),
  },
});

async function* cellsOf<T>(columns: CsvColumns<T>, items: AsyncIterable<T>): AsyncGenerator<Value[]> {
  for await (const item of items) yield columns.map(([, cell]) => cell(item));
}

/**
 * Written while it is read, so that no list is held in memory. What a spreadsheet would take for a formula is escaped: names and URLs
 * come from strangers. As RFC 4180 wants it. Between its parts other pages have their turns.
 */
export function csvFile({ columns, rows }: CsvAnswer['csv'], turns: PageTurns): StreamableFile {
  const lines = stringify({
    // Without it, Excel takes UTF-8 for another encoding.
    bom: true,
    header: true,
    columns,
    escape_formulas: true,
    record_delimiter: '\r\n',
    cast: { date: (time) => time.toISOString(), boolean: String },
  });
  const source = Readable.from(inTurns(turns, rows, ROWS_IN_A_TURN));
  // An error reaches the reader of the file, and if the reader disconnects, reading stops.
  source.on('error', (error) => lines.destroy(error));
  lines.on('close', () => source.destroy());
  return new StreamableFile(source.pipe(lines));
}
