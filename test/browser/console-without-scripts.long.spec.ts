import { consoleWays, useConsole } from './console-ways.js';

describe('in the console in a browser with JavaScript switched off', () => consoleWays(useConsole(), false));
