import { createRequire } from 'node:module';
import path from 'node:path';

/** A static file of the pages: its address, and the folder and name it is read from. */
export interface StaticAsset {
  path: string;
  folder: string;
  file: string;
}

const own = path.join(import.meta.dirname, 'pages', 'assets');
const pico = createRequire(import.meta.url).resolve('@picocss/pico/css/pico.min.css');

export const STATIC_ASSETS: StaticAsset[] = [
  { path: '/assets/pico.min.css', folder: path.dirname(pico), file: path.basename(pico) },
  { path: '/assets/app.css', folder: own, file: 'app.css' },
  { path: '/assets/console.css', folder: own, file: 'console.css' },
  { path: '/assets/portal.css', folder: own, file: 'portal.css' },
  { path: '/assets/portal.js', folder: own, file: 'portal.js' },
  { path: '/assets/favicon.svg', folder: own, file: 'favicon.svg' },
];
