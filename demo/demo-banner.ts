import type { Settings } from '#platform/config/settings.js';
import type { DemoCredentials } from './demo-credentials.js';
import { demoGuide, type DemoGuide } from './demo-guide.js';

/** What the demonstration prints at every start: it fits on a screen of 24 lines of 80 characters. The rest is at /demo. */
export function demoBanner(settings: Settings, demo: DemoCredentials): string {
  const { baseUrl, brand } = settings;
  const { people, clients, steps } = demoGuide(settings, demo);
  return [
    ...titled(`${brand.name}: demonstration`),
    `Start page       ${baseUrl}/`,
    `Live sandbox     ${baseUrl}/demo/sandbox   (a car that charges)`,
    `Everything else  ${baseUrl}/demo`,
    '',
    `People (log in at ${baseUrl}/login)`,
    ...linesOfPeople(people),
    '',
    'A partner’s client in the sandbox',
    ...linesOfClient(clients[0]!),
    'Its first token:',
    steps[0]!.commands[0],
  ].join('\n');
}

/** Everything, as text: /demo.txt. */
export function demoText(settings: Settings, demo: DemoCredentials): string {
  const { links, people, clients, steps } = demoGuide(settings, demo);
  return [
    ...titled(`${settings.brand.name}: demonstration`),
    ...links.map(({ name, url, note }) => `${name.padEnd(12)} ${url}${note ? `   (${note})` : ''}`),
    `Data folder  ${settings.dataDir} (delete it to start over)`,
    '',
    `People (log in at ${settings.baseUrl}/login)`,
    ...linesOfPeople(people),
    'The driver and the operator can also log in with “Continue with Demo company”, without a password.',
    '',
    ...clients.flatMap((client) => [client.name, ...linesOfClient(client)]),
    ...steps.flatMap(({ title, note, commands }, n) => [
      '',
      `${n + 1}. ${title}${note ? `. ${note}` : ''}:`,
      '',
      ...commands,
    ]),
    '',
  ].join('\n');
}

const titled = (title: string): string[] => ['', title, '='.repeat(title.length)];

const linesOfPeople = (people: DemoGuide['people']): string[] =>
  people.map(({ who, email, password, note }) =>
    `  ${who.padEnd(13)} ${email}   ${password}${note ? `   (${note})` : ''}`.trimEnd(),
  );

const linesOfClient = ({ id, secret }: DemoGuide['clients'][number]): string[] => [
  `  client_id      ${id}`,
  ...(secret === undefined ? [] : [`  client_secret  ${secret}`]),
];
