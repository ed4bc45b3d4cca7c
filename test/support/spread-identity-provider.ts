import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { IdentityProvider, interactionPage } from './identity-provider.js';

/** A server at an origin of its own. */
export async function serve(listener: RequestListener, host = '127.0.0.1'): Promise<[Server, string]> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return [server, `http://${host}:${(server.address() as AddressInfo).port}`];
}

/**
 * An identity provider on three origins, as companies have them: the issuer; another host with the addresses that browsers open; and the
 * login, which belongs to yet another server.
 */
export class SpreadIdentityProvider {
  private constructor(
    readonly issuer: IdentityProvider,
    private readonly servers: Server[],
    private readonly frontUrl: string,
    private readonly loginUrl: string,
  ) {}

  static async open(): Promise<SpreadIdentityProvider> {
    const issuer = await IdentityProvider.open();
    const [front, frontUrl] = await serve((request, response) => {
      response.writeHead(302, { location: `${issuer.url}${request.url}` }).end();
    }, 'localhost');
    const [login, loginUrl] = await serve((request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(interactionPage(`${issuer.url}${request.url}`, [...issuer.people.keys()]));
    });
    return new SpreadIdentityProvider(issuer, [front, login], frontUrl, loginUrl);
  }

  /** Registers the service, with the callback of each of its providers. */
  serveTo(serviceUrl: string, ids: string[]): void {
    this.issuer.serveTo(serviceUrl, ids, {
      metadata: {
        authorization_endpoint: `${this.frontUrl}/auth`,
        end_session_endpoint: `${this.frontUrl}/session/end`,
      },
      loginUrl: this.loginUrl,
    });
  }

  /** Whether this address belongs to the provider. */
  has(address: string): boolean {
    return [this.issuer.url, this.frontUrl, this.loginUrl].includes(new URL(address).origin);
  }

  async close(): Promise<void> {
    for (const server of this.servers) server.close();
    await this.issuer.close();
  }
}
