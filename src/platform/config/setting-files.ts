import { readFileSync } from 'node:fs';

const SUFFIX = '_FILE';
// A longer file is not the intended one.
const MOST_BYTES = 65_536;

/** The settings, including those read from files, and an error for each file that cannot be read, by setting. */
export interface SettingsOfFiles {
  values: NodeJS.ProcessEnv;
  errors: string[];
}

/**
 * Reads `NAME_FILE` for each known setting, as containers provide secrets: the value is the file's content without the final line
 * break. A setting given both ways, and an empty or unreadable file, are errors.
 */
export function readSettingFiles(source: NodeJS.ProcessEnv, names: readonly string[]): SettingsOfFiles {
  const values = { ...source };
  const errors: string[] = [];
  for (const name of new Set(names)) {
    // OpenTelemetry reads its own settings.
    if (name.startsWith('OTEL_')) continue;
    const file = source[name + SUFFIX];
    if (file === undefined || file === '') continue;
    const text = source[name] ? new Error(`must not be set together with ${name}`) : readText(file);
    if (typeof text === 'string') values[name] = text;
    else errors.push(`${name}${SUFFIX} ${text.message}`);
  }
  return { values, errors };
}

function readText(file: string): string | Error {
  try {
    const bytes = readFileSync(file);
    const text = bytes.length > MOST_BYTES ? '' : bytes.toString('utf8').replace(/\r?\n$/, '');
    return text === '' ? new Error('must name a file of at most 64 kB that contains the setting') : text;
  } catch (error) {
    return new Error(`must name a file that can be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
