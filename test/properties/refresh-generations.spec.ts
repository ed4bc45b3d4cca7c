import fc from 'fast-check';
import { AccessTokensService } from '#access/tokens/access/access-tokens.service.js';
import { OAuthError } from '#entrypoints/oauth/oauth-error.js';
import type { IssuedTokens } from '#access/tokens/grants/grant.js';
import { consentedCode } from '../support/codes.js';
import { madeOnce, PARTNER_SCOPES, useSharedService } from '../support/spec.js';
import { exchangeCode, refreshTokens } from '../support/token-requests.js';
import { changeGrant } from '../support/tokens.js';
import { alwaysAsync } from './support/runs.js';

const GRACE = 60;
/** No sum of these is close below the grace time, which the time that the test itself takes comes on top of. */
const WAITS = [21, 40, 200];
const KNOWN_ROTATIONS = 16;
const RUNS = 6;
const NARROW = PARTNER_SCOPES.slice(0, 1);

/** A token with everything that the model knows of it. The model never forgets a token. */
interface Kept {
  pair: IssuedTokens;
  asked: string[];
  /** When the token was rotated, by the model's clock. */
  retiredAt?: number;
  accessRevoked: boolean;
}

type Command =
  | { do: 'refresh'; back: number; scopes: string[] | undefined }
  | { do: 'wait'; seconds: number }
  | { do: 'rotate'; times: number }
  | { do: 'revoke access'; back: number };

const back = fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 3 }), weight: 4 },
  { arbitrary: fc.integer({ min: 0, max: 22 }), weight: 1 },
);
const scopes = fc.constantFrom(undefined, undefined, PARTNER_SCOPES, NARROW, ['admin:read']);
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('refresh' as const), back, scopes }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(...WAITS) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('rotate' as const), times: fc.integer({ min: 2, max: 9 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('revoke access' as const), back }) },
);

/** The reasons that may accompany each refusal. */
const REFUSALS = {
  invalid_scope: /^scope_/,
  invalid_grant: /^(refresh_token_(used|replayed|revoked)|grant_ended)$/,
};

/** Implements contract §4 by remembering every token that was ever issued. */
class Model {
  readonly kept: Kept[];
  private now = 0;
  ended = false;

  constructor(first: IssuedTokens) {
    this.kept = [{ pair: first, asked: PARTNER_SCOPES, accessRevoked: false }];
  }

  at(stepsBack: number): Kept {
    return this.kept[Math.max(0, this.kept.length - 1 - stepsBack)]!;
  }

  wait(seconds: number): void {
    this.now += seconds;
  }

  /** Returns the expected result of a refresh: a pair that was already issued, a new one, or a refusal. */
  refresh(
    token: Kept,
    scopes: string[] | undefined,
  ): IssuedTokens | 'new' | 'invalid_grant' | 'invalid_scope' {
    const place = this.kept.indexOf(token);
    const age = this.kept.length - 1 - place;
    const inGrace = age <= KNOWN_ROTATIONS && this.now - (token.retiredAt ?? this.now) < GRACE;
    if (age > 0 && !inGrace) {
      this.ended = true;
      return 'invalid_grant';
    }
    if (this.ended) return 'invalid_grant';
    const asked = scopes ?? PARTNER_SCOPES;
    if (asked.some((scope) => !PARTNER_SCOPES.includes(scope))) return 'invalid_scope';
    if (age === 0) {
      token.retiredAt = this.now;
      return 'new';
    }
    const successor = this.kept[place + 1]!;
    if (age > 1 || successor.accessRevoked) return 'invalid_grant';
    return successor.asked.length === asked.length ? successor.pair : 'invalid_scope';
  }
}

describe('A family of refresh tokens', () => {
  const service = useSharedService();
  const client = madeOnce(() => service.make.client());
  const user = madeOnce(() => service.make.user());

  async function newGrant(): Promise<IssuedTokens> {
    return exchangeCode(service, client.id, await consentedCode(service, client.id, user.id));
  }

  /** Uses a token in the service and in the model, and compares the results. */
  async function use(model: Model, token: Kept, wanted: string[] | undefined): Promise<void> {
    const expected = model.refresh(token, wanted);
    const given: IssuedTokens | OAuthError = await refreshTokens(
      service,
      client.id,
      token.pair.refreshToken!,
      wanted,
    ).catch((error: OAuthError) => error);
    if (typeof expected === 'object') {
      const lifetimes = { expiresIn: 0, refreshExpiresIn: 0, authorizationExpiresIn: 0 };
      expect({ ...given, ...lifetimes }).toEqual({ ...expected, ...lifetimes });
    } else if (expected === 'new') {
      expect(given).toMatchObject({ scopes: wanted ?? PARTNER_SCOPES });
      const pair = given as IssuedTokens;
      const earlier = model.kept.flatMap((each) => [each.pair.accessToken, each.pair.refreshToken]);
      expect(earlier).not.toContain(pair.accessToken);
      expect(earlier).not.toContain(pair.refreshToken);
      model.kept.push({ pair, asked: wanted ?? PARTNER_SCOPES, accessRevoked: false });
    } else {
      expect(given).toBeInstanceOf(OAuthError);
      expect(given).toMatchObject({
        code: expected,
        reason: expect.stringMatching(REFUSALS[expected]) as string,
      });
    }
  }

  it('behaves as if every token ever issued were stored', async () => {
    const accessTokens = service.app.get(AccessTokensService);
    await alwaysAsync(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 25 }), async (commands) => {
        const model = new Model(await newGrant());
        for (const each of commands) {
          if (each.do === 'refresh') await use(model, model.at(each.back), each.scopes);
          if (each.do === 'rotate')
            for (let n = 0; n < each.times; n++) await use(model, model.at(0), undefined);
          if (each.do === 'revoke access') {
            const token = model.at(each.back);
            await accessTokens.revoke(token.pair.accessToken, client.id);
            token.accessRevoked = true;
          }
          if (each.do === 'wait') {
            model.wait(each.seconds);
            await changeGrant(
              service,
              model.kept[0]!.pair.refreshToken!,
              `rotations = ARRAY(SELECT at - interval '${each.seconds} seconds' FROM unnest(rotations) at)`,
            );
          }
        }
        const live = await Promise.all(
          model.kept.map(async ({ pair }) => (await accessTokens.find(pair.accessToken)) !== undefined),
        );
        expect(live).toEqual(model.kept.map(({ accessRevoked }) => !model.ended && !accessRevoked));
      }),
      RUNS,
    );
  });
});
