import { DataSource } from 'typeorm';
import { MailsService, type NewMail } from '#records/mail/mails.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { SealedBox, seal } from '#platform/secrets/sealed-box.js';
import { HeldTimers } from '../support/held-timers.js';
import { until, useServiceWithMail } from '../support/spec.js';
import { startInstance, TEST_ENCRYPTION_KEY, type TestInstance } from '../support/test-service.js';

interface Row {
  id: string;
  state: string;
  attempts: number;
  last_error: string | null;
  has_content: boolean;
  /** Minutes until the next attempt. */
  wait: number;
}

describe('The outbox', () => {
  const { service, smtp } = useServiceWithMail({ instances: 2 });
  let counter = 0;
  let address: string;

  beforeEach(() => {
    address = `person${++counter}@mail.example`;
    smtp.onRecipient = () => undefined;
    smtp.onMail = () => undefined;
  });

  const newMail = (more: Partial<NewMail> = {}): NewMail => ({
    kind: 'security',
    address,
    cause: `test ${++counter}`,
    mail: { subject: 'A subject', paragraphs: ['A secret text'], footer: [] },
    ...more,
  });
  const queue = (mail = newMail(), { app }: TestInstance = service): Promise<void> =>
    app.get(Transactions).run(() => app.get(MailsService).queue(mail));
  const rows = (to = address): Promise<Row[]> =>
    service.database.query(
      `SELECT id, state, attempts, last_error, sealed_content IS NOT NULL AS has_content,
              round(extract(epoch FROM next_attempt_at - now()) / 60)::int AS wait
         FROM mails WHERE address = $1 ORDER BY id`,
      [to],
    );
  const untilState = async (state: string, to = address): Promise<Row> => {
    await until(`the mail is ${state}`, async () => (await rows(to)).every((row) => row.state === state));
    return (await rows(to))[0]!;
  };
  const untilAttempted = async (attempts: number): Promise<Row> => {
    await until(`${attempts} attempts have ended`, async () => {
      const [row] = await service.database.query<{ ended: boolean }>(
        'SELECT attempts = $2 AND lease_id IS NULL AS ended FROM mails WHERE address = $1',
        [address, attempts],
      );
      return row!.ended;
    });
    return (await rows())[0]!;
  };
  /** A mail that waits after its first attempt. */
  const queueForLater = async (): Promise<Row> => {
    smtp.onRecipient = () => ({ code: 451, text: 'later' });
    await queue();
    return untilAttempted(1);
  };
  /** Makes a waiting mail due, and announces it. */
  const makeDue = async (): Promise<void> => {
    await service.database.query('UPDATE mails SET next_attempt_at = now() WHERE address = $1', [address]);
    await service.database.query("SELECT pg_notify('mails', '')");
  };

  /** Lets the server wait with its answer for some recipients; the returned function ends that. */
  const holdRecipients = (isHeld: (address: string) => boolean): (() => void) => {
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    smtp.onRecipient = async (to) => {
      if (isHeld(to)) await held;
      return undefined;
    };
    return release;
  };

  /** Closes an instance whose shutdown waits no longer for what is under way. */
  const closeNow = async ({ app }: TestInstance): Promise<void> => {
    const waits = HeldTimers.hold(8_000, 8_000, '/queue-worker.');
    try {
      let isClosed = false;
      const closed = app.close().then(() => (isClosed = true));
      await until('it is closed', () => {
        waits.letPass();
        return isClosed;
      });
      await closed;
    } finally {
      waits.release();
    }
  };

  it('sends a mail once, and keeps nothing of its content', async () => {
    await queue();
    const mail = await smtp.mailTo(address);
    expect([mail.subject, mail.text.includes('A secret text')]).toEqual(['A subject', true]);
    expect(mail.headers.get('auto-submitted')).toBe('auto-generated');
    const row = await untilState('sent');
    expect([row.attempts, row.has_content, row.last_error]).toEqual([1, false, null]);
    expect(mail.messageId).toContain(row.id);
    expect(service.log.join('')).not.toContain('A secret text');
  });

  it('makes one mail of one cause, also if two transactions write it at once', async () => {
    const mail = newMail();
    await Promise.all([queue(mail), queue(mail, service.instances[1]), queue(mail)]);
    await queue(mail);
    await untilState('sent');
    expect([await rows(), smtp.to(address)].map((each) => each.length)).toEqual([1, 1]);
  });

  it('sends nothing of a transaction that is rolled back', async () => {
    const { app } = service;
    await app
      .get(DataSource)
      .transaction(async () => {
        await app.get(MailsService).queue(newMail());
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    const later = `later.${address}`;
    await queue(newMail({ address: later }));
    await smtp.mailTo(later);
    expect(smtp.to(address)).toEqual([]);
  });

  it('holds the content sealed while it waits', async () => {
    await queueForLater();
    const [row] = await service.database.query<{ text: string; bytes: Buffer }>(
      'SELECT m::text AS text, sealed_content AS bytes FROM mails m WHERE address = $1',
      [address],
    );
    expect(row!.text).not.toContain(Buffer.from('A secret text').toString('hex'));
    expect(row!.bytes.includes('A secret text')).toBe(false);
  });

  it('shares many mails between two instances and sends each once', async () => {
    const addresses = Array.from({ length: 20 }, (_each, n) => `many${n}.${address}`);
    await Promise.all(addresses.map((to, n) => queue(newMail({ address: to }), service.instances[n % 2])));
    for (const to of addresses) await smtp.mailTo(to);
    await until('all are marked as sent', async () => {
      const pending = await service.database.query(
        "SELECT 1 FROM mails WHERE state = 'pending' AND address LIKE 'many%'",
      );
      return pending.length === 0;
    });
    expect(addresses.map((to) => smtp.to(to).length)).toEqual(addresses.map(() => 1));
  });

  it.each([
    ['the address', { code: 550, text: 'unknown' }, undefined, 'the SMTP server answered 550 to RCPT TO'],
    ['the message', undefined, { code: 554, text: 'no, thanks' }, 'the SMTP server answered 554 to DATA'],
  ])('gives up at once if the server refuses %s for good', async (_what, ofAddress, ofMail, error) => {
    smtp.onRecipient = () => ofAddress;
    smtp.onMail = () => ofMail;
    await queue();
    const row = await untilState('failed');
    expect([row.attempts, row.has_content, row.last_error]).toEqual([1, false, error]);
    const line = `${row.id} (security) failed permanently`;
    await until('it is logged', () =>
      service.instances.some(({ log }) => log.some((each) => each.includes(line))),
    );
  });

  it('tries again after greylisting', async () => {
    let refusals = 0;
    smtp.onRecipient = (to) =>
      to === address && ++refusals === 1 ? { code: 451, text: 'greylisted' } : undefined;
    await queue();
    const row = await untilAttempted(1);
    expect([row.state, row.wait, row.has_content]).toEqual(['pending', 1, true]);
    await makeDue();
    await smtp.mailTo(address);
    expect([(await untilState('sent')).attempts, smtp.to(address).length]).toEqual([2, 1]);
  });

  it('waits 1, 5, 15 and 60 minutes, then an hour each time, and gives up after 24 hours', async () => {
    smtp.onRecipient = () => ({ code: 421, text: 'busy' });
    await queue();
    const waits = [];
    for (let attempt = 1; attempt <= 6; attempt++) {
      waits.push((await untilAttempted(attempt)).wait);
      if (attempt < 6) await makeDue();
    }
    expect(waits).toEqual([1, 5, 15, 60, 60, 60]);
    // The next attempt would be more than 24 hours after the mail was written.
    await service.database.query(
      "UPDATE mails SET created_at = now() - interval '23 h 30 min' WHERE address = $1",
      [address],
    );
    await makeDue();
    const row = await untilState('failed');
    expect([row.attempts, row.has_content]).toEqual([7, false]);
  });

  it('sends nothing that has waited for more than 24 hours, for example without an SMTP server in the settings', async () => {
    await queueForLater();
    smtp.onRecipient = () => undefined;
    await service.database.query("UPDATE mails SET created_at = now() - interval '25 h' WHERE address = $1", [
      address,
    ]);
    await makeDue();
    expect((await untilState('failed')).last_error).toBe('it waited for 24 hours');
    expect(smtp.to(address)).toEqual([]);
  });

  it('loses nothing while the server is down', async () => {
    await smtp.stop();
    await queue();
    const row = await untilAttempted(1);
    expect([row.state, row.last_error]).toEqual([
      'pending',
      'the SMTP server could not be reached, or broke off (ESOCKET)',
    ]);
    await smtp.listen();
    await makeDue();
    await smtp.mailTo(address);
    await untilState('sent');
  });

  it('does not hold up other mails while the server is slow with one', async () => {
    const slow = address;
    const release = holdRecipients((to) => to === slow);
    await queue();
    await until('the slow one has begun', () => smtp.recipients.includes(slow));
    const quick = `quick.${address}`;
    await queue(newMail({ address: quick }));
    await smtp.mailTo(quick);
    expect(smtp.to(slow)).toEqual([]);
    release();
    await smtp.mailTo(slow);
  });

  it('lets another instance take over when the lease has expired, and ignores the late result', async () => {
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    let asked = 0;
    smtp.onRecipient = async (to) => {
      // A mail of another test may be tried again.
      if (to !== address) return undefined;
      if (++asked === 1) await held;
      return asked === 1 ? { code: 550, text: 'late' } : undefined;
    };
    await queue();
    await until('the first holder has begun', () => asked === 1);
    await service.database.query('UPDATE mails SET lease_until = now() WHERE address = $1', [address]);
    await makeDue();
    await smtp.mailTo(address);
    const row = await untilState('sent');
    asked = 1;
    release();
    // The late 550 changes nothing: another mail, sent afterwards, has arrived.
    smtp.onRecipient = () => undefined;
    const later = `later.${address}`;
    await queue(newMail({ address: later }));
    await smtp.mailTo(later);
    expect((await rows())[0]).toMatchObject({ id: row.id, state: 'sent' });
  });

  it('gives the lease back at a shutdown that aborts an attempt', async () => {
    const third = await startInstance(service.database, { ...smtp.env, BASE_URL: service.url });
    const release = holdRecipients((to) => to.startsWith('held'));
    // More than the others take at once, so that each instance has some.
    const addresses = Array.from({ length: 24 }, (_each, n) => `held${n}.${address}`);
    for (const to of addresses) await queue(newMail({ address: to }), third);
    await until(
      'all instances are busy',
      () => smtp.recipients.filter((to) => to.startsWith('held')).length === 24,
    );
    await closeNow(third);
    const free = await service.database.query<{ attempts: number }>(
      "SELECT attempts FROM mails WHERE address LIKE 'held%' AND state = 'pending' AND lease_id IS NULL",
    );
    expect(free.map(({ attempts }) => attempts)).toEqual(Array.from({ length: 8 }, () => 0));
    smtp.onRecipient = () => undefined;
    release();
    for (const to of addresses) await smtp.mailTo(to);
  });

  it('is kept by an instance that does not know its key, for those that do, and for 24 hours if there are none', async () => {
    const { id } = await queueForLater();
    smtp.onRecipient = () => undefined;
    const sealed = await service.database.value<Buffer>('SELECT sealed_content FROM mails WHERE id = $1', [
      id,
    ]);
    const sealAs = (content: Buffer) =>
      service.database.query('UPDATE mails SET sealed_content = $2 WHERE id = $1', [id, content]);
    const other = new SealedBox('mail', [Buffer.alloc(32, 'n')]).seal('{}', `mail ${id}`);
    await sealAs(other);
    await makeDue();
    const row = await untilAttempted(2);
    expect(row).toMatchObject({ state: 'pending', has_content: true, wait: 5 });
    expect(row.last_error).toContain('a key that is not known here');
    // As for an instance with the key.
    await sealAs(sealed);
    await makeDue();
    await smtp.mailTo(address);
    await untilState('sent');

    address = `unreadable.${address}`;
    const unreadable = await queueForLater();
    await service.database.query(
      "UPDATE mails SET sealed_content = $2, created_at = now() - interval '23 h 59 min' WHERE id = $1",
      [unreadable.id, other],
    );
    await makeDue();
    expect(await untilState('failed')).toMatchObject({
      has_content: false,
      last_error: expect.stringContaining('a key that is not known here'),
    });
  });

  it('is resealed if it was sealed under the encryption key itself, and sent', async () => {
    const { id } = await queueForLater();
    const [key, boundTo] = [Buffer.from(TEST_ENCRYPTION_KEY, 'base64'), `mail ${id}`];
    const box = new SealedBox('mail', [key]);
    const sealed = () =>
      service.database.value<Buffer>('SELECT sealed_content FROM mails WHERE id = $1', [id]);
    await service.database.query('UPDATE mails SET sealed_content = $2 WHERE id = $1', [
      id,
      seal(key, box.open(await sealed(), boundTo)!, boundTo),
    ]);
    expect(await service.app.get(MailsService).reseal()).toEqual({ resealed: 1, unreadable: [] });
    expect(box.isCurrent(await sealed(), boundTo)).toBe(true);
    smtp.onRecipient = () => undefined;
    await makeDue();
    await untilState('sent');
  });

  it('is resealed after a change of the encryption key', async () => {
    const { id } = await queueForLater();
    const key = Buffer.alloc(32, 'n');
    const env = { ENCRYPTION_KEY: key.toString('base64'), ENCRYPTION_KEYS_PREVIOUS: TEST_ENCRYPTION_KEY };
    const renewed = await startInstance(service.database, env);
    try {
      const openedByNewKey = async (): Promise<string | undefined> => {
        const sql = 'SELECT sealed_content AS sealed FROM mails WHERE id = $1';
        const [row] = await service.database.query<{ sealed: Buffer }>(sql, [id]);
        return new SealedBox('mail', [key]).open(row!.sealed, `mail ${id}`);
      };
      expect(await openedByNewKey()).toBeUndefined();
      const mails = renewed.app.get(MailsService);
      expect((await mails.reseal()).resealed).toBeGreaterThan(0);
      expect((await mails.reseal()).resealed).toBe(0);
      expect(await openedByNewKey()).toContain('A secret text');
    } finally {
      await renewed.app.close();
    }
  });

  it('is counted in the metrics', async () => {
    await queue();
    await smtp.mailTo(address);
    await untilState('sent');
    const { text } = await service.http.get('/metrics');
    expect(text).toMatch(/^mails_finished_total\{state="sent"\} \d+$/m);
    expect(text).toMatch(/^mail_attempts_total\{result="failed"\} \d+$/m);
    expect(text).toMatch(/^mails_pending \d+$/m);
  });
});
