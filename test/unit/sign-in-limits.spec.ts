import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ActivityService } from '#records/activity/activity.service.js';
import {
  SignInLimitsService,
  type SignInAttempt,
} from '#access/rate-limits/sign-in/sign-in-limits.service.js';
import { MemoryRateLimitStore } from '#access/rate-limits/store/memory-rate-limit-store.js';
import type { KnownBrowsersService } from '#access/users/sessions/known-browsers.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';

const REQUEST = { ip: '192.0.2.1' } as FastifyRequest;
const REPLY = {} as FastifyReply;
const USER = {} as UserEntity;
const EMAIL = 'driver@mail.example';

describe('Attempts to log in to one account that are counted at the same moment', () => {
  let store: MemoryRateLimitStore;
  let limits: SignInLimitsService;
  beforeEach(() => {
    store = new MemoryRateLimitStore();
    const browsers = {
      marked: () => undefined,
      remember: () => undefined,
    } as unknown as KnownBrowsersService;
    limits = new SignInLimitsService(store, browsers, {
      count: () => undefined,
    } as unknown as ActivityService);
  });

  const right = (attempt: SignInAttempt) => limits.settle(attempt, USER, REQUEST, REPLY);
  const wrong = (attempt: SignInAttempt) => limits.settle(attempt, undefined, REQUEST, REPLY);
  const attempts = (count: number, settle: (attempt: SignInAttempt) => Promise<void>) =>
    Promise.allSettled(Array.from({ length: count }, async () => settle(await limits.admit(REQUEST, EMAIL))));
  const refused = (results: PromiseSettledResult<void>[]) =>
    results.filter(({ status }) => status === 'rejected').length;

  it('are refused from the 6th wrong one on', async () => {
    expect(refused(await attempts(20, wrong))).toBe(15);
  });

  it('are all admitted if they are right, as soon as one of those before has ended', async () => {
    expect(refused(await attempts(40, right))).toBe(0);
  });

  it('are admitted though all before ended while the last one was being counted', async () => {
    const first = await Promise.all(Array.from({ length: 6 }, () => limits.admit(REQUEST, EMAIL)));
    const consume = store.consume.bind(store);
    let answer!: () => void;
    let counted!: () => void;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const isCounted = new Promise<void>((resolve) => (counted = resolve));
    jest.spyOn(store, 'consume').mockImplementation(async (...parameters) => {
      const decision = await consume(...parameters);
      if (!decision.allowed) {
        counted();
        await answered;
      }
      return decision;
    });
    const last = limits.admit(REQUEST, EMAIL);
    await isCounted;
    await Promise.all(first.map(right));
    answer();
    await right(await last);
  });
});
