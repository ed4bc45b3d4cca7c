import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const read = (file: string): string => readFileSync(path.join(process.cwd(), file), 'utf8');
const all = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found]) => found!);

describe('What others publish under a name that they can change', () => {
  it.each([
    ['Dockerfile', /^FROM (\S+)/gm],
    ['docker-compose.yml', /^ *image: (\S+)/gm],
    ['deploy/helm/charging-data/values.yaml', /^ *image: (\S+)$/gm],
  ])('is named by its digest in %s', (file, pattern) => {
    const images = all(read(file), pattern).filter((image) => image !== 'charging-data-service');
    expect(images.length).toBeGreaterThan(0);
    expect(images.filter((image) => !/^[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}$/.test(image))).toEqual([]);
  });

  it('is named by its commit in the workflows', () => {
    const folder = '.github/workflows';
    const actions = readdirSync(folder).flatMap((file) => all(read(`${folder}/${file}`), /uses: (.+)$/gm));
    expect(actions.length).toBeGreaterThan(0);
    expect(actions.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v[\d.]+$/.test(action))).toEqual([]);
  });
});
