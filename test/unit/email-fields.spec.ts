import { readdirSync, readFileSync } from 'node:fs';

describe('Fields for an email address', () => {
  it('say so to the keyboards of phones', () => {
    const pages = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.tsx'),
    );
    const fields = pages.flatMap((name) =>
      [
        ...readFileSync(`src/${name}`, 'utf8').matchAll(/<(?:TextField|input)\b[^>]*?\bname="email"[^>]*/g),
      ].map(([field]) => ({ name, field })),
    );
    expect(fields.length).toBeGreaterThan(4);
    expect(fields.filter(({ field }) => !field.includes('inputMode="email"'))).toEqual([]);
  });
});
