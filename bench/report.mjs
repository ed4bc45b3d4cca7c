/** The limits for the memory of one instance under load, in MB. */
const MEMORY = { must: 250, aim: 150 };

/** How much of the server's core other processes may use before the figures are doubtful. */
const OTHERS = 0.1;

const WORKLOAD_HEAD = [
  ...['', 'floor req/s', 'ours req/s', 'ratio', 'must', 'aim', ''],
  ...[
    'CPU ms/request: floor',
    'ours',
    'PostgreSQL’s: floor',
    'ours',
    'p50 ms: floor',
    'ours',
    'p99 ms: floor',
    'ours',
  ],
  ...['RSS MB: floor', 'ours', 'pgbench tps'],
];
const BOUND_HEAD = ['', 'ours', 'must', 'aim', '', 'floor'];
const CORE_HEAD = [
  ...['', 'server’s core: floor', 'ours', 'of which others: floor', 'ours'],
  ...['other core: floor', 'ours', 'of which the load: floor', 'ours'],
];

const WALL_HEAD = [
  '',
  'wall req/s',
  'ours req/s',
  'CPU ms/request: wall',
  'ours',
  '× the wall',
  'must',
  'aim',
  '',
];
const PEER_HEAD = [
  ...['', 'beside', 'floor req/s', 'its req/s', '× the floor', 'ours × the floor'],
  ...['CPU ms/request: its', 'ours', 'PostgreSQL’s: its', 'ours'],
];
const GROWTH_HEAD = [
  ...['', 'rows: floor', 'ours', 'MB of tables: floor', 'ours', 'MB of WAL: floor', 'ours'],
];

/** The report as Markdown: `results` compare the workloads with the floor, `bounds` are the other requirements. */
export function report({ results, bounds, notes, facts }) {
  const disturbed = results.some(({ floor, ours }) => floor.others > OTHERS || ours.others > OTHERS);
  return [
    '# The cost of the service, compared with the floor',
    '',
    ...(disturbed
      ? ['**Other processes used the server’s core during the run: the figures are doubtful.**', '']
      : []),
    ...notes.map((note) => `- ${note}`),
    ...['', table(WORKLOAD_HEAD, results.map(workloadRow))],
    ...section(
      'Compared with the wall, which parses the request, computes a digest or a MAC and answers from memory:',
      ...[WALL_HEAD, results.filter(({ wall }) => wall).map(wallRow)],
    ),
    ...section(
      'Compared with what others would pick instead (`bench/peers`), which write and check the same rows of PostgreSQL:',
      ...[PEER_HEAD, results.flatMap(peerRows)],
    ),
    ...(bounds.length > 0 ? ['', table(BOUND_HEAD, bounds.map(boundRow))] : []),
    ...(facts.length > 0 ? ['', ...facts.map((fact) => `- ${fact}`)] : []),
    ...section(
      'What a million requests leave behind in the database (including the autovacuum’s part of the WAL):',
      ...[GROWTH_HEAD, results.filter(({ ours }) => ours.rows !== undefined).map(growthRow)],
    ),
    '',
    'How busy the two cores were; PostgreSQL and the load share the other core:',
    ...['', table(CORE_HEAD, results.filter(({ ours }) => ours.serverCore !== undefined).map(coreRow)), ''],
  ].join('\n');
}

/** The peak memory of the service, as one of the bounds. */
export function memoryBound(results) {
  const most = (side) => Math.max(...results.map((result) => result[side].memory));
  return {
    name: 'memory under load, MB',
    ours: most('ours'),
    floor: most('floor'),
    ...MEMORY,
    atMost: true,
    digits: 0,
  };
}

/** How a figure compares with its minimum and its aim. */
export function verdict(value, { must, aim, atMost = false }) {
  if (must === undefined || Number.isNaN(value)) return '';
  const reaches = (bound) => (atMost ? value <= bound : value >= bound);
  if (aim !== undefined && reaches(aim)) return 'aim reached';
  return reaches(must) ? 'must reached' : '**missed**';
}

function workloadRow({ id, name, floor, ours, pgbench, must, aim }) {
  const ratio = ours.rate / floor.rate;
  return [
    `${id} ${name}`,
    ...[whole(floor.rate), whole(ours.rate), decimal(ratio, 2), decimal(must, 2), decimal(aim, 2)],
    verdict(ratio, { must, aim }),
    ...[floor.processor, ours.processor, floor.database, ours.database].map((each) => decimal(each, 3)),
    ...[floor.p50, ours.p50, floor.p99, ours.p99].map((each) => decimal(each, 1)),
    ...[whole(floor.memory), whole(ours.memory), whole(pgbench?.rate)],
  ];
}

function wallRow({ id, wall, ours, bounds }) {
  const multiple = ours.processor / wall.processor;
  return [
    id,
    ...[wall.rate, ours.rate].map(whole),
    ...[decimal(wall.processor, 3), decimal(ours.processor, 3), decimal(multiple, 2)],
    ...[decimal(bounds.must, 2), decimal(bounds.aim, 2), verdict(multiple, { ...bounds, atMost: true })],
  ];
}

const peerRows = ({ id, floor, ours, peers = {} }) =>
  Object.entries(peers).map(([name, its]) => [
    ...[id, name, whole(floor.rate), whole(its.rate)],
    ...[decimal(its.rate / floor.rate, 2), decimal(ours.rate / floor.rate, 2)],
    ...[decimal(its.processor, 3), decimal(ours.processor, 3)],
    ...[decimal(its.database, 3), decimal(ours.database, 3)],
  ]);

function growthRow({ id, floor, ours }) {
  return [
    id,
    ...['rows', 'megabytes', 'walMegabytes'].flatMap((what) => [whole(floor[what]), whole(ours[what])]),
  ];
}

/** A table with an introductory line, or nothing where the table has no rows. */
const section = (words, head, rows) => (rows.length > 0 ? ['', words, '', table(head, rows)] : []);

function boundRow(bound) {
  const { name, ours, floor, must, aim, digits = 2 } = bound;
  return [
    name,
    ...[decimal(ours, digits), decimal(must, digits), decimal(aim, digits), verdict(ours, bound)],
    decimal(floor, digits),
  ];
}

function coreRow({ id, floor, ours }) {
  return [
    id,
    ...['serverCore', 'others', 'loadCore', 'loadShare'].flatMap((which) => [
      share(floor[which]),
      share(ours[which]),
    ]),
  ];
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, n) => (n === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}

const isKnown = (value) => value !== undefined && !Number.isNaN(value);
const whole = (value) => (isKnown(value) ? Math.round(value).toLocaleString('en-GB') : '–');
const decimal = (value, digits) => (isKnown(value) ? value.toFixed(digits) : '–');
const share = (value) => (isKnown(value) ? `${Math.round(value * 100)} %` : '–');
