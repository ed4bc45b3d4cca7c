import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

it('The package.json of a released program calls nothing that the program does not have', async () => {
  const script = pathToFileURL(path.resolve('scripts/program-package.mjs')).href;
  const { programPackageOf } = (await import(script)) as { programPackageOf: (manifest: object) => object };
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const { start, operator } = manifest.scripts;
  const program = programPackageOf(manifest) as typeof manifest;
  // `npm ci` would run `prepare`, and npm `prestart` and `preoperator`, from scripts/.
  expect(program.scripts).toEqual({ start, operator });
  expect(JSON.stringify(program.scripts)).not.toContain('scripts/');
  expect(program).toEqual({ ...manifest, scripts: program.scripts, workspaces: undefined });
});
