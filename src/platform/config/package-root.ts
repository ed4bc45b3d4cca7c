import { existsSync } from 'node:fs';
import path from 'node:path';

/** The folder of package.json: what runs may be a file of `dist/src` or a part of the bundle (scripts/bundle.mjs). */
export const PACKAGE_ROOT = rootAbove(import.meta.dirname);

function rootAbove(folder: string): string {
  return existsSync(path.join(folder, 'package.json')) ? folder : rootAbove(path.dirname(folder));
}

/** A file or folder that the build has copied beside the code of `src`. */
export const besideCode = (name: string): string => path.join(PACKAGE_ROOT, 'dist/src', name);
