import { isIP } from 'node:net';
import { generate } from 'selfsigned';

export interface KeyAndCertificate {
  private: string;
  cert: string;
}

/** A test's own certificate authority. */
export const newAuthority = (name: string): Promise<KeyAndCertificate> =>
  generate([{ name: 'commonName', value: name }], {
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });

/** A server certificate for a single host name or IP address. */
export const certificateFor = (host: string, by: KeyAndCertificate): Promise<KeyAndCertificate> =>
  generate([{ name: 'commonName', value: host }], {
    algorithm: 'sha256',
    ca: { key: by.private, cert: by.cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'subjectAltName', altNames: [isIP(host) ? { type: 7, ip: host } : { type: 2, value: host }] },
    ],
  });
