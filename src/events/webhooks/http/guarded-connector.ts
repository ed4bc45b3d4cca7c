import { isIP, type LookupFunction, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { isPublicAddress } from './address-rules.js';
import { connectFailure } from './failure-of-error.js';
import { HttpFailure, INTERNAL_ADDRESS } from './http-outcome.js';
import { resolveHost, type ResolveOptions } from './resolve-host.js';

/** How connections are established. */
export interface ConnectorOptions extends ResolveOptions {
  /** Certificate authorities in PEM instead of the well-known ones, for tests. */
  ca?: string;
}

// Node's default of 250 ms is too short for a host on another continent, whose first address would never be reached.
const ADDRESS_ATTEMPT_MS = 1_000;

/**
 * Establishes undici's connections, only to public addresses: to exactly those that were resolved and checked, and the connected
 * address is checked once more before anything is sent (contract §10). Its errors are HttpFailures.
 */
export class GuardedConnector {
  private readonly connectAnywhere: buildConnector.connector;

  constructor(private readonly options: ConnectorOptions) {
    this.connectAnywhere = buildConnector({
      allowH2: false,
      // The guarded client's own timeout covers everything.
      timeout: 0,
      lookup: this.lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
      ca: options.ca,
    } as buildConnector.BuildOptions);
  }

  /** Opens a connection; returns the connecting socket, if it got that far. */
  connect(target: buildConnector.Options, callback: buildConnector.Callback): Socket | undefined {
    // A host that is an IP address is not resolved.
    if (isIP(target.hostname) !== 0 && !this.mayConnectTo(target.hostname)) {
      process.nextTick(callback, new HttpFailure('blocked_address', INTERNAL_ADDRESS), null);
      return undefined;
    }
    let stage: 'tcp' | 'tls' = 'tcp';
    // undici's connector returns the socket, although its type does not say so.
    const socket = this.connectAnywhere(target, (error, connected) => {
      if (error)
        callback(connectFailure(error, { stage, certificateAsked: asksForCertificate(socket) }), null);
      else callback(null, connected!);
    }) as unknown as Socket;
    socket.prependOnceListener('connect', () => {
      stage = 'tls';
      if (this.mayConnectTo(socket.remoteAddress ?? '')) return;
      socket.destroy(new HttpFailure('blocked_address', INTERNAL_ADDRESS));
    });
    return socket;
  }

  /** With `autoSelectFamily`, Node always asks for all addresses. */
  private readonly lookup: LookupFunction = (hostname, _options, answer) => {
    resolveHost(hostname, this.options).then(
      (addresses) => answer(null, addresses),
      (error: Error) => answer(error, []),
    );
  };

  private mayConnectTo(address: string): boolean {
    return this.options.allowPrivateAddresses || isPublicAddress(address);
  }
}

/**
 * Whether the server asked for a certificate of ours in the handshake: only then does Node know which signatures both sides can make.
 * False once the socket is destroyed.
 */
export function asksForCertificate(socket: Socket): boolean {
  if (!(socket instanceof TLSSocket)) return false;
  try {
    return socket.getSharedSigalgs().length > 0;
  } catch {
    // Node does not check whether there still is a connection.
    return false;
  }
}
