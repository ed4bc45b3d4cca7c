import { Injectable } from '@nestjs/common';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { BrandService } from '#records/brand/brand.service.js';
import { Settings } from '#platform/config/settings.js';
import type { PasskeyEntity } from './passkey.entity.js';
import { CHALLENGE_SECONDS, webauthn } from './webauthn-challenges.service.js';

const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

/** Whose passkey it will be. */
interface PasskeyOwner {
  id: string;
  email: string;
  name: string;
}

/** What a browser has made, as it is stored. */
export type MadePasskey = Pick<
  PasskeyEntity,
  'credentialId' | 'publicKey' | 'signCount' | 'transports' | 'backedUp'
>;

/** What stands for the user in a passkey. */
export const userHandleOf = (userId: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(userId);

/** Of a passkey: at most 1023 bytes, as WebAuthn says. */
export const CREDENTIAL_ID = /^[\w-]{1,1364}$/;

/** Creating a passkey in a browser (WebAuthn §7.1): the options for the browser, and the check of its response. */
@Injectable()
export class PasskeyRegistrations {
  constructor(
    private readonly settings: Settings,
    private readonly brand: BrandService,
  ) {}

  /** What a browser needs to make a passkey. The device makes none if it has one of the `known`. */
  async options(
    owner: PasskeyOwner,
    challenge: Uint8Array<ArrayBuffer>,
    known: PasskeyEntity[],
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const { generateRegistrationOptions } = await webauthn();
    return generateRegistrationOptions({
      rpName: this.brand.current.name,
      rpID: this.site,
      userID: userHandleOf(owner.id),
      userName: owner.email,
      userDisplayName: owner.name,
      challenge,
      timeout: CHALLENGE_SECONDS * 1000,
      attestationType: 'none',
      excludeCredentials: known.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  }

  /** What the browser has made, if everything about it is right. */
  async verified(answer: string, expectedChallenge: string): Promise<MadePasskey | undefined> {
    try {
      const { verifyRegistrationResponse } = await webauthn();
      const { registrationInfo } = await verifyRegistrationResponse({
        response: JSON.parse(answer) as RegistrationResponseJSON,
        expectedChallenge,
        expectedOrigin: this.settings.baseUrl,
        expectedRPID: this.site,
      });
      if (!registrationInfo) return undefined;
      const { credential, credentialBackedUp } = registrationInfo;
      if (!CREDENTIAL_ID.test(credential.id)) return undefined;
      return {
        credentialId: credential.id,
        publicKey: Buffer.from(credential.publicKey),
        signCount: credential.counter,
        transports: TRANSPORTS.filter((each) => credential.transports?.includes(each)),
        backedUp: credentialBackedUp,
      };
    } catch {
      // Whatever is wrong with it, it comes from outside.
      return undefined;
    }
  }

  private get site(): string {
    return new URL(this.settings.baseUrl).hostname;
  }
}
