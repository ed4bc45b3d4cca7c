/** The part of `oidc-provider`, which ships no types, that the demonstration and the tests use. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export interface Interaction {
    uid: string;
    prompt: { name: string };
    params: Record<string, unknown>;
  }

  export class Grant {
    constructor(of: { clientId: string; accountId: string });
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }

  /** A token of the client credentials grant. */
  export interface ClientCredentials {
    readonly scope?: string;
    readonly isExpired: boolean;
  }

  interface Context {
    oidc: {
      client: { clientId: string };
      session: { accountId: string };
      result?: { consent?: { grantId?: string } };
    };
  }

  export default class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    readonly Grant: typeof Grant;
    readonly ClientCredentials: { find(token: string): Promise<ClientCredentials | undefined> };
    proxy: boolean;
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    use(middleware: (context: never, next: () => Promise<void>) => Promise<void>): void;
    on(event: string, listener: (...args: unknown[]) => unknown): this;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: Record<string, unknown>,
    ): Promise<void>;
  }

  export type { Context };
}
