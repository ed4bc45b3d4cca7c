import { readFileSync } from 'node:fs';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

describe('the options of Node.js at the start', () => {
  it('are the same in the container as with npm start', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } };
    const command = /^CMD (\[.*\])$/m.exec(read('Dockerfile'))?.[1];
    expect((JSON.parse(command ?? '[]') as string[]).join(' ')).toBe(scripts.start.replace(/^exec /, ''));
  });
});
