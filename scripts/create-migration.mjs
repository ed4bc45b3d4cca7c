// Writes an empty migration and lists it in migrations/index.ts: npm run migration:create -- add-vehicle-names
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

const [name, folder = path.join(import.meta.dirname, '..', 'migrations')] = process.argv.slice(2);
if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name ?? '')) {
  const usage = 'Usage: npm run migration:create -- <name-in-kebab-case>\n';
  await new Promise((resolve) => process.stderr.write(usage, resolve));
  process.exit(1);
}
const index = path.join(folder, 'index.ts');
const listed = await readFile(index, 'utf8');
// Migrations run in the order of their times: the new one comes after all others.
const newest = Math.max(...[...listed.matchAll(/(\d{13})-/g)].map(([, time]) => Number(time)));
const time = Math.max(Date.now(), newest + 1);
const className = name.replace(/(^|-)([a-z0-9])/g, (_, __, letter) => letter.toUpperCase()) + time;
const file = `${time}-${name}`;

await writeFile(
  path.join(folder, `${file}.ts`),
  `import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What changes, and why. */
export class ${className} implements MigrationInterface {
  name = '${className}';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('');
  }
}
`,
  { flag: 'wx' },
);
await writeFile(
  index,
  listed
    .replace(/\n\n\/\*\*/, `\nimport { ${className} } from './${file}.js';\n\n/**`)
    .replace(/\n\];/, `\n  ${className},\n];`),
);
process.stdout.write(`migrations/${file}.ts\n`);
