import { changeEvents, ChangeStream } from '#entrypoints/oauth/access-changes/change-stream.js';
import type { Principal } from '#access/tokens/access/principal.js';

describe('The stream of changes', () => {
  it('cuts a reader who does not read', () => {
    const stream = new ChangeStream('token', { client: { id: 'clnt' } } as Principal);
    stream.begin('', '1.1');
    const events = changeEvents(
      Array.from({ length: 1_000 }, (_, n) => ({ user_id: `user${n}` })),
      '1.1',
      '1.2',
    );
    let sent = 0;
    while (!stream.destroyed && sent < 100_000_000) {
      stream.write(events);
      sent += events.length;
    }
    expect([stream.destroyed, sent < 2_000_000]).toEqual([true, true]);
  });

  it('gives a slow reader all that was written before it was finished, and nothing after', async () => {
    const stream = new ChangeStream('token', { client: { id: 'clnt' } } as Principal);
    stream.begin('', '1.1');
    stream.finish();
    stream.write(changeEvents([{ user_id: 'a' }], '1.1', '1.2'));
    stream.finish();
    let read = '';
    for await (const chunk of stream) read += String(chunk);
    expect(read).toBe(': 1.1\nid: 1.1\n\n');
  });

  it('names everybody where it would name thousands, and gives the new position with the last event only', () => {
    const many = Array.from({ length: 1_001 }, (_, n) => ({ user_id: `user${n}` }));
    expect(changeEvents(many, '1.1', '1.2')).toBe('event: change\nid: 1.2\ndata: {}\n\n');
    const two = changeEvents([{ user_id: 'a' }, { user_id: 'b' }, { user_id: 'a' }], '1.1', '1.2');
    expect([...two.matchAll(/id: (.+)/g)].map(([, id]) => id)).toEqual(['1.1', '1.2']);
  });
});
