import type { UserEntity } from '#access/users/accounts/user.entity.js';
import type { TestClient } from '../factory.js';
import type { Answer } from '../http.js';
import type { TestService } from '../test-service.js';
import type { HeldReceiver } from './held-receiver.js';
import { OPERATIONS, type Call, type Recorder } from './recorder.js';
import { recordRefusals, type Refused } from './refusals.js';

export const SCOPES = ['charging_session:read', 'vehicle:read'];

/** Who takes part in the scenario: an operator's client, a partner's client with its owner, and a user. */
export interface Cast {
  operator: TestClient;
  /** The owner of the operator's client. */
  company: UserEntity;
  owner: UserEntity;
  partner: TestClient;
  /** A client of nobody in particular, whose requests are refused. */
  other: TestClient;
  ada: UserEntity;
}

/** What the parts of the scenario share. */
export class Stage {
  /** The last request of each operation that succeeded. */
  readonly performed = new Map<string, Call>();

  private constructor(
    readonly service: TestService,
    readonly recorder: Recorder,
    readonly receiver: HeldReceiver,
    readonly cast: Cast,
    readonly operatorToken: string,
    readonly partnerToken: string,
    private readonly otherToken: string,
  ) {}

  static async set(service: TestService, recorder: Recorder, receiver: HeldReceiver): Promise<Stage> {
    const { make } = service;
    const company = await make.user({
      email: 'it@charging.example',
      name: 'Charging Data',
      kind: 'organisation',
    });
    const owner = await make.user({
      email: 'it@planner.example',
      name: 'Route Planner Ltd',
      kind: 'organisation',
    });
    const ada = await make.user({ email: 'ada@mail.example', name: 'Ada', emailVerified: true });
    const scopes = ['admin:read', 'admin:write', 'event:publish', 'token:introspect'];
    const grantTypes = ['client_credentials' as const];
    const operator = await make.client({
      name: 'Operations',
      ownerId: company.id,
      scopes,
      grantTypes,
      redirectUris: [],
    });
    const partner = await make.client({ name: 'Route planner', ownerId: owner.id });
    const other = await make.client({ name: 'Fleet manager', ownerId: company.id });
    const tokens = await Promise.all([operator, partner, other].map((client) => make.clientToken(client)));
    const [operatorToken, partnerToken, otherToken] = tokens as [string, string, string];
    const cast = { operator, company, owner, partner, other, ada };
    return new Stage(service, recorder, receiver, cast, operatorToken, partnerToken, otherToken);
  }

  /** An operator's request: first its refusals, then the response that succeeds. */
  operator(id: string, status: number, call: Call = {}, refused?: Partial<Refused>): Promise<Answer> {
    return this.perform(
      id,
      status,
      { bearer: this.operatorToken, ...call },
      { forbidden: { bearer: this.otherToken }, ...refused },
    );
  }

  /** The same for a partner's request. */
  partner(id: string, call: Call = {}, refused?: Partial<Refused>): Promise<Answer> {
    return this.perform(id, 200, { bearer: this.partnerToken, ...call }, refused ?? {});
  }

  /** A conflict with what an operator's request did before. */
  conflict(id: string, call: Call): Promise<Answer> {
    return this.recorder.answer(id, 409, { bearer: this.operatorToken, ...call });
  }

  async perform(id: string, status: number, call: Call, refused: Refused, name?: string): Promise<Answer> {
    await recordRefusals(this.recorder, id, call, refused);
    const answer = await this.recorder.call(id, status, call, name);
    if (OPERATIONS.get(id)!.operation.responses[429]) this.performed.set(id, call);
    return answer;
  }
}
