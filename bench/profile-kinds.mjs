import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FRAMEWORK = 'framework (Fastify, NestJS, RxJS)';
const NODE = 'Node.js: HTTP and sockets';
const REST = 'the service’s own work';
const NATIVE = 'native code without a caller';
const COLLECTOR = 'garbage collection';

/** A function belongs to the first rule whose pattern matches its file. */
const RULES = [
  [
    'log line',
    /\/pino|sonic-boom|thread-stream|dist\/src\/platform\/http\/server\/(logging|log-output|request-context)|telemetry\/log-scope/,
  ],
  ['limits', /dist\/src\/access\/rate-limits\/|@nestjs\/throttler|guards\/address-rate-limit|oauth\/.*limit/],
  ['metrics', /prom-client|tdigest|bintrees|request-metrics|dist\/src\/records\/activity\//],
  [
    'guards and authentication',
    /passport|\.guard\.js|bearer\.strategy|\.strategy\.js|client-authentication|client-credentials|core\/guards/,
  ],
  [
    'tokens, keys, changes',
    /dist\/src\/(access\/tokens|platform\/secrets)\/|database\/changes\/|known-clients|scope-numbers/,
  ],
  [
    'database driver, statements',
    /node_modules\/(pg|pg-|postgres-|typeorm|dataloader)|dist\/src\/platform\/database\//,
  ],
  [
    FRAMEWORK,
    /node_modules\/(fastify|@fastify|find-my-way|@nestjs|rxjs|avvio|secure-json|fast-json|light-my-request|reusify|fastq|reflect-metadata|accepts|negotiator|mime)/,
  ],
  [REST, /dist\/|node_modules\//],
];

/** The categories of time, in the order of `timeByKind`. */
export const KINDS = [...RULES.map(([kind]) => kind), NODE, NATIVE, COLLECTOR];

/**
 * The microseconds that each category took between two moments of a V8 profile. A sample counts for the innermost function that
 * has a file, so that the work of Node.js for a library counts for the library; work below the framework counts for Node.js
 * itself.
 */
export function timeByKind({ nodes, samples, timeDeltas, startTime }, from, to) {
  const kinds = kindsOf(nodes);
  const times = KINDS.map(() => 0);
  let at = startTime;
  samples.forEach((id, n) => {
    at += timeDeltas[n];
    const kind = kinds.get(id);
    if (kind !== undefined && at >= from && at <= to) times[KINDS.indexOf(kind)] += timeDeltas[n];
  });
  return times;
}

/** The category of each node; undefined for nodes that are not work. */
function kindsOf(nodes) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  return new Map(nodes.map(({ id }) => [id, kindOf(id)]));

  function kindOf(id) {
    const { functionName } = byId.get(id).callFrame;
    if (functionName === '(idle)' || functionName === '(root)') return undefined;
    if (functionName === '(garbage collector)') return COLLECTOR;
    let isOfNode = false;
    for (let at = id; at !== undefined; at = parents.get(at)) {
      const { callFrame } = byId.get(at);
      const isNode = callFrame.url.startsWith('node:');
      const source = isNode ? undefined : sourceOf(callFrame);
      const kind = source && RULES.find(([, files]) => files.test(source))?.[0];
      if (kind) return kind === FRAMEWORK && isOfNode ? NODE : kind;
      isOfNode ||= isNode;
    }
    return isOfNode ? NODE : NATIVE;
  }
}

/** The file that a function comes from: in a bundle, the line before each module names it. */
function sourceOf({ url, lineNumber }) {
  if (!url.startsWith('file:')) return url;
  const starts = startsIn(fileURLToPath(url));
  return starts.findLast(({ line }) => line <= lineNumber)?.source ?? url;
}

const known = new Map();

function startsIn(file) {
  let starts = known.get(file);
  if (!starts) {
    const lines = readFileSync(file, 'utf8').split('\n');
    starts = lines.flatMap((text, line) => {
      const source = /^\/\/ ((?:dist|node_modules)\/\S+)$/.exec(text)?.[1];
      return source ? [{ line, source: `/${source}` }] : [];
    });
    known.set(file, starts);
  }
  return starts;
}
