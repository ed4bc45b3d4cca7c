import { createSocket, type Socket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import { atEndOfFile } from './between-files.js';

/** Response codes of RFC 1035 §4.1.1. */
export const [NO_ERROR, SERVER_FAILURE, NAME_ERROR] = [0, 2, 3];
const [A, AAAA] = [1, 28];

/** What a server says of a name: its addresses, a response code, or nothing at all. */
export type Said = string[] | number | undefined;

/** A name server on this machine, which says of each name what a test wants, and remembers who was asked for. */
export class NameServer {
  /** The names of all queries, each with its family: `hooks.example 4`. */
  readonly asked: string[] = [];
  private readonly socket: Socket = createSocket('udp4');

  private constructor(public says: (name: string, family: 4 | 6) => Said) {}

  /** Until the end of the file. */
  static async start(says: (name: string, family: 4 | 6) => Said = () => NAME_ERROR): Promise<NameServer> {
    const server = new NameServer(says);
    server.socket.on('message', (query, { port, address }) => {
      const reply = server.replyTo(query);
      if (reply) server.socket.send(reply, port, address);
    });
    await new Promise<void>((resolve) => server.socket.bind(0, '127.0.0.1', resolve));
    atEndOfFile(() => new Promise<void>((resolve) => void server.socket.close(() => resolve())));
    return server;
  }

  /** As the driver of Node.js has it. */
  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  private replyTo(query: Buffer): Buffer | undefined {
    const { name, end } = nameIn(query);
    const type = query.readUInt16BE(end + 1);
    const family = type === AAAA ? 6 : 4;
    this.asked.push(`${name} ${family}`);
    const said = this.says(name, family);
    if (said === undefined) return undefined;
    const [code, addresses] = Array.isArray(said) ? [NO_ERROR, said] : [said, []];
    const ofType = addresses.filter((address) => (isIPv4(address) ? A : AAAA) === type);
    // The question again, and a record for each address; pointers lead to the name of the question.
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180 + code!, 2);
    header.writeUInt16BE(ofType.length, 6);
    header.writeUInt32BE(0, 8);
    return Buffer.concat([
      header,
      query.subarray(12, end + 5),
      ...ofType.map((each) => recordOf(each, type)),
    ]);
  }
}

function nameIn(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.'), end: at };
}

function recordOf(address: string, type: number): Buffer {
  const bytes = isIPv4(address)
    ? Buffer.from(address.split('.').map(Number))
    : Buffer.from(groupsOf(address), 'hex');
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([record, bytes]);
}

/** The 32 digits of an IPv6 address. */
function groupsOf(address: string): string {
  const [before = '', after = ''] = address.split('::');
  const [head, tail] = [before, after].map((part) => part.split(':').filter((group) => group !== ''));
  const groups = [...head!, ...Array.from({ length: 8 - head!.length - tail!.length }, () => '0'), ...tail!];
  return groups.map((group) => group.padStart(4, '0')).join('');
}
