import { EVENT_TYPES } from '../../../migrations/event-types.js';

/** The public URL that the examples are written for; the document replaces it by that of its server. */
const BASE_URL = 'https://auth.example.com';
/** The moment at which everything in the examples happens. */
export const NOW = '2026-03-02T17:42:10Z';

const HOUR_S = 3_600;
const HOUR_MS = HOUR_S * 1000;
const ID =
  /\b(user|clnt|grnt|audt|notf|sess|evnt|endp|dlvr|rcvr|form|appr|mail|ruri|mbiv)([0-7][0-9A-HJKMNP-TV-Z]{25})\b/g;
const SECRET = /\b(cds_[a-z]{2}_)[A-Za-z0-9_.-]+/g;
const WEBHOOK_SECRET = /\bwhsec_[A-Za-z0-9+/=_-]+/g;
const REQUEST_ID = /\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b/g;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
/** Moments that are the same in each run, however they are written: those that the requests and the samples of event types name. */
const WRITTEN: ReadonlySet<number> = new Set(
  [NOW, ...(JSON.stringify(EVENT_TYPES).match(TIME) ?? [])].map((time) => Date.parse(time)),
);
const WAIT = /again in (\d+) (second|minute)s?\./g;

/** Replaces what differs from run to run by fixed values: ids, times, secrets and addresses. Equal values stay equal. */
export class FixedValues {
  private readonly ids = new Map<string, string>();
  private readonly counts = new Map<string, number>();
  private readonly started = Date.now();

  /** `addresses`: the addresses of this run, each with what stands for it. */
  constructor(private readonly addresses: [found: string, fixed: string][]) {}

  of(value: unknown, member = ''): unknown {
    // Of the keys that sign receipts.
    if (member === 'kid') return 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k';
    if (member === 'x') return '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.number(value, member);
    if (Array.isArray(value)) return value.map((item) => this.of(item, member));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [this.text(key), this.of(each, key)]),
    );
  }

  private text(text: string): string {
    return this.addresses
      .reduce((result, [found, fixed]) => result.replaceAll(found, fixed), text)
      .replace(ID, (id, prefix: string) => this.id(id, prefix))
      .replace(REQUEST_ID, '01HN2NJ9NMRZBXT1H6FT9N7735')
      .replace(SECRET, '$1EXAMPLE')
      .replace(WEBHOOK_SECRET, 'whsec_EXAMPLE')
      .replace(TIME, (time, fraction?: string) => this.time(time, fraction))
      .replace(WAIT, (_text, count: string, unit: string) =>
        unit === 'minute' && Number(count) > 1 ? 'again in 60 minutes.' : 'again in 60 seconds.',
      );
  }

  /** Numbers ids of a kind in the order in which they appear. */
  private id(id: string, prefix: string): string {
    let fixed = this.ids.get(id);
    if (!fixed) {
      const count = (this.counts.get(prefix) ?? 0) + 1;
      this.counts.set(prefix, count);
      fixed = `${prefix}01HN2NJ9NMRZBXT1H6FT9N7${String(count + 700).padStart(3, '0')}`;
      this.ids.set(id, fixed);
    }
    return fixed;
  }

  /** A moment of the run becomes the fixed one; a later or earlier one keeps its distance in whole hours. */
  private time(time: string, fraction?: string): string {
    const moment = Date.parse(time);
    const fixed = new Date(WRITTEN.has(moment) ? moment : this.moved(moment)).toISOString();
    return fraction ? fixed : fixed.replace('.000Z', 'Z');
  }

  private moved(moment: number): number {
    return Date.parse(NOW) + Math.round((moment - this.started) / HOUR_MS) * HOUR_MS;
  }

  private number(value: number, member: string): number {
    if (member === 'iat' || member === 'exp') return this.moved(value * 1000) / 1000;
    // What is left of it when it is told, after a part of a second or more.
    if (member === 'authorization_expires_in') return Math.ceil(value / HOUR_S) * HOUR_S;
    return member === 'duration_ms' ? 84 : value;
  }
}

/** The URLs of everybody's servers and the address of callers, in the order of their replacement. */
export const fixedAddresses = (
  urls: Record<'service' | 'partner' | 'provider', string>,
): [string, string][] => [
  [urls.service, BASE_URL],
  [urls.partner, 'https://hooks.example.com'],
  [urls.provider, 'https://login.company.example'],
  ['127.0.0.1', '203.0.113.7'],
];
