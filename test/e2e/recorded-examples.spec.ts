import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { OPERATIONS } from '../support/examples/recorder.js';
import { recordExamples } from '../support/examples/record.js';
import type { Recorder } from '../support/examples/recorder.js';

const FILE = path.join(__dirname, '../../src/api-docs/recorded-examples.json');

describe('The examples of the OpenAPI document', () => {
  let recorder: Recorder;
  beforeAll(async () => {
    recorder = await recordExamples();
    if (process.env.RECORD_EXAMPLES) await writeFile(FILE, JSON.stringify(recorder.examples()));
  });

  it('works', async () => {
    void OPERATIONS;
    expect(JSON.parse(await readFile(FILE, 'utf8'))).toEqual(recorder.examples());
  });
});
