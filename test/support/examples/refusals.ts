import { OPERATIONS, type Call, type Recorder } from './recorder.js';

/** What the refusals of an operation are asked with. */
export interface Refused {
  /** Credentials that do not allow the operation, by default a partner's token. */
  forbidden?: Partial<Call>;
  /** A request that is wrong, if the usual ones are not. */
  invalid?: Partial<Call>;
  /** A resource that does not exist, by default the path with other ids. */
  missing?: Partial<Call>;
}

const NO_SUCH_ID = '01HN2NJ9NMRZBXT1H6FT9N7999';
const TOO_LARGE: Partial<Call> = {
  json: undefined,
  body: `{"note":"${'x'.repeat(70_000)}"}`,
  headers: { 'content-type': 'application/json' },
};

/** Records the responses that refuse each request of the kind: without access, without the resource, without a valid body. */
export async function recordRefusals(
  recorder: Recorder,
  id: string,
  call: Call,
  refused: Refused,
): Promise<void> {
  const { operation } = OPERATIONS.get(id)!;
  // The refusals of these are of their own.
  if (operation.tags.includes('OAuth')) return;
  const changes: Record<number, Partial<Call> | undefined> = {
    400: refused.invalid ?? invalid(id, call),
    401: { bearer: 'cds_at_EXAMPLE' },
    403: refused.forbidden,
    404: refused.missing ?? missing(call),
    413: TOO_LARGE,
    415: { json: undefined, body: 'A text', headers: { 'content-type': 'text/plain' } },
  };
  for (const [status, change] of Object.entries(changes))
    if (change && status in operation.responses && !recorder.seen.has(`${id} ${status}`))
      await recorder.answer(id, Number(status), { ...call, ...change });
}

function invalid(id: string, call: Call): Partial<Call> | undefined {
  const { method, operation } = OPERATIONS.get(id)!;
  if (operation.parameters?.some(({ name }) => name === 'page_size')) return { query: { page_size: '500' } };
  if (operation.parameters?.some(({ name }) => name === 'Service-Version') && method === 'get')
    return { headers: { 'service-version': '1' } };
  if (operation.requestBody) return { json: wrongMembers(call.json as object) };
  if (method === 'get' && !call.path) return undefined;
  if (method === 'get')
    return { path: Object.fromEntries(Object.keys(call.path ?? {}).map((name) => [name, '%zz'])) };
  return { body: '{', headers: { 'content-type': 'application/json' } };
}

/** The first member has a wrong type, and there is one that is unknown. */
function wrongMembers(json: object): object {
  const [first] = Object.keys(json);
  return { ...json, [first!]: 7, colour: 'green' };
}

function missing({ path }: Call): Partial<Call> | undefined {
  const [last, value] = Object.entries(path ?? {}).at(-1) ?? [];
  if (!last) return undefined;
  return {
    path: {
      ...path,
      [last]: /^[a-z]{4}[0-7]/.test(value!) ? value!.slice(0, 4) + NO_SUCH_ID : 'tariff:read',
    },
  };
}
