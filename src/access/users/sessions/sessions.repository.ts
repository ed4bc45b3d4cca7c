import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Settings } from '#platform/config/settings.js';
import { readPage, type Page, type PageRequest } from '#platform/database/queries/read-page.js';
import { newId } from '#platform/secrets/ids.js';
import { requireTransaction } from '#platform/database/queries/transaction-around.js';
import { SessionEntity, type SessionView, type SignInMethod } from './session.entity.js';
import { UserEntity } from '../accounts/user.entity.js';
import type { SignedInUser } from './signed-in-user.js';

export interface SessionDetails {
  address: string | null;
  userAgent: string | null;
  signIn: SignInMethod;
  /** The login that the session continues; undefined for a new login. */
  loginId?: string;
  /** The latest end of the session that it replaces. */
  endsAt?: Date;
}

/** A session that has ended. */
interface EndedSession {
  userId: string;
  /** How it was started. */
  signIn: SignInMethod;
  /** The login it belonged to; null if it had expired. */
  loginId: string | null;
  /** For an operator's session: its latest end. */
  endsAt?: Date;
}

interface EndedRow {
  userId: string;
  loginId: string | null;
  endsAt: Date | null;
  method: SignInMethod['method'];
  provider: string | null;
  subject: string | null;
  sid: string | null;
  authenticatedAt: Date | null;
  sealedIdToken: Buffer | null;
  gaveSecondFactor: boolean;
}

const ENDED = `user_id AS "userId", method, provider, provider_subject AS subject, provider_sid AS sid,
               authenticated_at AS "authenticatedAt", sealed_id_token AS "sealedIdToken", ends_at AS "endsAt",
               second_factor AS "gaveSecondFactor",
               CASE WHEN expires_at > now() THEN coalesce(login_id, id) END AS "loginId"`;

// `last_seen_at` is written at most this often, so that not every page view is a write; more often for sessions that end without
// use.
const SEEN_AGAIN_AFTER = `CASE WHEN ends_at IS NULL THEN interval '5 minutes'
                               ELSE least(interval '5 minutes', make_interval(secs => :idle) / 60) END`;
// After this time, the console asks for the password again before critical actions.
const RECENTLY = "interval '15 minutes'";
// A provider may accept someone who authenticated there long ago. If it sends no time, the authentication never counts as recent.
const AUTHENTICATED_AT = `CASE WHEN session.method = 'provider' THEN coalesce(session.authenticatedAt, '-infinity')
                               ELSE session.createdAt END`;
// The provider is responsible for second factors.
const HAS_FACTOR = "(session.secondFactor OR session.method = 'provider')";

@Injectable()
export class SessionsRepository {
  constructor(
    @InjectRepository(SessionEntity) private readonly sessions: Repository<SessionEntity>,
    private readonly settings: Settings,
  ) {}

  /** The commit of this transaction does not wait until it is on disk. A crash of the database may lose it. */
  async commitWithoutWaiting(): Promise<void> {
    requireTransaction('A setting of the transaction');
    await this.sessions.manager.query('SET LOCAL synchronous_commit = off');
  }

  /** The user, and whether `touch` is due. */
  async find(digest: Buffer): Promise<{ user: SignedInUser; seenLongAgo: boolean } | undefined> {
    const row = await this.sessions
      .createQueryBuilder('session')
      .innerJoin(UserEntity, 'user', 'user.id = session.userId')
      .select('user.id', 'id')
      .addSelect('user.name', 'name')
      .addSelect('user.email', 'email')
      .addSelect('user.language', 'language')
      .addSelect('user.role', 'role')
      .addSelect('user.operatorRole', 'operatorRole')
      .addSelect('user.passwordHash IS NOT NULL', 'hasPassword')
      .addSelect('session.digest', 'sessionDigest')
      .addSelect('coalesce(session.loginId, session.id)', 'loginId')
      .addSelect('session.method', 'method')
      .addSelect('session.provider', 'provider')
      .addSelect(`${AUTHENTICATED_AT} > now() - ${RECENTLY}`, 'gavePasswordRecently')
      .addSelect(HAS_FACTOR, 'gaveSecondFactor')
      .addSelect('session.secondFactor', 'usedSecondFactor')
      .addSelect(`nullif(${AUTHENTICATED_AT}, '-infinity')`, 'authenticatedAt')
      .addSelect(`session.lastSeenAt < now() - ${SEEN_AGAIN_AFTER}`, 'seenLongAgo')
      .setParameters({ idle: this.settings.operatorSessionIdle })
      .where('session.digest = :digest AND session.expiresAt > now() AND user.enabled', { digest })
      .getRawOne<SignedInUser & { seenLongAgo: boolean }>();
    if (!row) return undefined;
    const { seenLongAgo, ...user } = row;
    return { user, seenLongAgo };
  }

  /** Whether the session is active; it then does not end before the transaction does. */
  async hold(digest: Buffer): Promise<boolean> {
    return (await this.holding(digest).getOne()) !== null;
  }

  /** The same for one in which a second factor was given, or that a provider began. */
  async holdWithFactor(digest: Buffer): Promise<boolean> {
    const query = this.holding(digest).andWhere(HAS_FACTOR);
    return (await query.getOne()) !== null;
  }

  private holding(digest: Buffer) {
    return this.sessions
      .createQueryBuilder('session')
      .select('session.digest')
      .where('session.digest = :digest AND session.expiresAt > now()', { digest })
      .setLock('for_key_share');
  }

  /** Updates the time when the session was last seen, at most once in 5 minutes, and puts off the end of an operator's. */
  async touch(digest: Buffer): Promise<void> {
    await this.sessions
      .createQueryBuilder()
      .update()
      .set({
        lastSeenAt: () => 'now()',
        expiresAt: () =>
          'CASE WHEN ends_at IS NULL THEN expires_at ELSE least(ends_at, now() + make_interval(secs => :idle)) END',
      })
      .where(`digest = :digest AND expiresAt > now() AND lastSeenAt < now() - ${SEEN_AGAIN_AFTER}`, {
        digest,
        idle: this.settings.operatorSessionIdle,
      })
      .execute();
  }

  /** The session, as its user sees it. */
  async view(digest: Buffer): Promise<SessionView | undefined> {
    const session = await this.live().andWhere('session.digest = :digest', { digest }).getOne();
    return session ?? undefined;
  }

  /** One page of the user's active sessions except one, newest first. */
  listOthers(userId: string, digest: Buffer, page: PageRequest): Promise<Page<SessionView>> {
    const query = this.live().andWhere('session.userId = :userId AND session.digest <> :digest', {
      userId,
      digest,
    });
    return readPage(page, 'session.id', 'desc', query);
  }

  /** One page of all that is stored of the user's sessions, also expired ones, newest first. */
  listOf(userId: string, page: PageRequest): Promise<Page<SessionEntity>> {
    const query = this.sessions.createQueryBuilder('session').where('session.userId = :userId', { userId });
    return readPage(page, 'session.id', 'desc', query);
  }

  /**
   * Starts a session unless the user was disabled or got another password or email since `user` was read; never for a sandbox
   * driver. Operators' sessions end earlier.
   */
  async insert(digest: Buffer, user: UserEntity, { signIn, ...details }: SessionDetails): Promise<boolean> {
    const provider = signIn.method === 'provider' ? signIn : undefined;
    // In SQL, because checking the user, locking it and the insert are one statement.
    const rows: unknown[] = await this.sessions.manager.query(
      `WITH owner AS (
         SELECT id, CASE WHEN operator_role IS NOT NULL
                         THEN least($16::timestamptz, now() + make_interval(secs => least($5::int, $17::int))) END AS ends_at
           FROM users
          WHERE id = $2 AND enabled AND password_hash IS NOT DISTINCT FROM $3 AND email = $4 AND environment = 'live' FOR SHARE
       )
        INSERT INTO sessions (digest, user_id, ends_at, expires_at, address, user_agent, id,
                              method, provider, provider_subject, provider_sid, authenticated_at, second_factor, login_id,
                              sealed_id_token)
        SELECT $1, id, ends_at,
               CASE WHEN ends_at IS NULL THEN now() + make_interval(secs => $5::int)
                    ELSE least(ends_at, now() + make_interval(secs => $18::int)) END, $6, $7, $8, $9, $10, $11, $12,
               CASE WHEN $13::timestamptz IS NOT NULL THEN least($13, now()) END, $14, coalesce($15, $8), $19
         FROM owner
       RETURNING 1`,
      [
        digest,
        user.id,
        user.passwordHash,
        user.email,
        this.settings.sessionTtl,
        details.address,
        details.userAgent,
        newId('sess'),
        signIn.method,
        provider?.provider,
        provider?.subject,
        provider?.sid,
        provider?.authenticatedAt,
        signIn.method === 'passkey' || signIn.gaveSecondFactor === true,
        details.loginId,
        details.endsAt,
        this.settings.operatorSessionTtl,
        this.settings.operatorSessionIdle,
        provider?.sealedIdToken,
      ],
    );
    return rows.length === 1;
  }

  /** Records that a second factor was given in the session. */
  async noteSecondFactor(digest: Buffer): Promise<void> {
    await this.sessions.update({ digest }, { secondFactor: true });
  }

  /** Ends a session, which may have expired. */
  async delete(digest: Buffer): Promise<EndedSession | undefined> {
    const { raw } = await this.deletion().where('digest = :digest', { digest }).returning(ENDED).execute();
    const [ended] = raw as EndedRow[];
    return ended && endedFrom(ended);
  }

  /**
   * Locks the users whose sessions these are until the transaction ends: until then, none of the sessions gets a new id, which the
   * statement that ends them would not see.
   */
  async lockUsersOfProvider(
    providers: string[],
    { sid, subject }: { sid?: string; subject?: string },
  ): Promise<void> {
    requireTransaction('A lock that is to last');
    // In SQL, because it locks the rows of one table by those of another.
    await this.sessions.manager.query(
      `SELECT FROM users
        WHERE id IN (SELECT user_id FROM sessions
                      WHERE provider = ANY ($1) AND ($2::text IS NULL OR provider_sid = $2)
                        AND ($3::text IS NULL OR provider_subject = $3))
        ORDER BY id FOR NO KEY UPDATE`,
      [providers, sid, subject],
    );
  }

  /**
   * Ends the sessions that came from these providers, for one session or person there; returns the users whose active ones ended, once
   * for each provider.
   */
  async deleteByProvider(
    providers: string[],
    { sid, subject }: { sid?: string; subject?: string },
  ): Promise<{ userId: string; provider: string }[]> {
    const query = this.deletion().where('provider = ANY (:providers)', { providers });
    if (sid !== undefined) query.andWhere('providerSid = :sid', { sid });
    if (subject !== undefined) query.andWhere('providerSubject = :subject', { subject });
    const { raw } = await query
      .returning('user_id AS "userId", provider, expires_at > now() AS live')
      .execute();
    const ended = (raw as { userId: string; provider: string; live: boolean }[]).filter(({ live }) => live);
    return [...new Map(ended.map((each) => [`${each.userId} ${each.provider}`, each])).values()];
  }

  /** Ends one active session of the user; false if no session has this id. */
  async deleteOne(userId: string, id: string): Promise<boolean> {
    const { affected } = await this.deletion()
      .where('id = :id AND userId = :userId AND expiresAt > now()', { id, userId })
      .execute();
    return affected === 1;
  }

  /** Ends the user's sessions except one; returns the number of active ones among them. */
  async deleteOthers(userId: string, digest: Buffer): Promise<number> {
    const { raw } = await this.deletion()
      .where('userId = :userId AND digest <> :digest', { userId, digest })
      .returning('expires_at > now() AS live')
      .execute();
    return (raw as { live: boolean }[]).filter(({ live }) => live).length;
  }

  /** Ends all sessions of the user. Returns the one with this digest, if it was active. */
  async deleteAll(userId: string, digest: Buffer): Promise<EndedSession | undefined> {
    const { raw } = await this.deletion()
      .where('userId = :userId', { userId })
      .returning(`digest = :digest AND expires_at > now() AS present, ${ENDED}`)
      .setParameter('digest', digest)
      .execute();
    const ended = (raw as (EndedRow & { present: boolean })[]).find(({ present }) => present);
    return ended && endedFrom(ended);
  }

  /** Ends all sessions of the user. */
  async deleteByUser(userId: string): Promise<void> {
    await this.sessions.delete({ userId });
  }

  /** Sessions that have not expired, as their users see them. */
  private live() {
    return this.sessions
      .createQueryBuilder('session')
      .select([
        'session.id',
        'session.createdAt',
        'session.lastSeenAt',
        'session.address',
        'session.userAgent',
      ])
      .where('session.expiresAt > now()');
  }

  private deletion() {
    return this.sessions.createQueryBuilder().delete();
  }
}

function endedFrom({ userId, loginId, method, gaveSecondFactor, ...row }: EndedRow): EndedSession {
  const endsAt = row.endsAt ?? undefined;
  if (method !== 'provider') return { userId, loginId, endsAt, signIn: { method, gaveSecondFactor } };
  // The database has both names for every session of this method.
  const person = { provider: row.provider!, subject: row.subject!, sid: row.sid ?? undefined };
  const authenticatedAt = row.authenticatedAt ?? undefined;
  const sealedIdToken = row.sealedIdToken ?? undefined;
  const signIn = { method, ...person, authenticatedAt, sealedIdToken, gaveSecondFactor };
  return { userId, loginId, endsAt, signIn };
}
