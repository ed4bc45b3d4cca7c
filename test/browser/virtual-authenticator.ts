import type { CDPSession, Page } from 'playwright-core';

/**
 * Gives the browser an authenticator of its own, as a phone or a laptop has. It answers at once whatever it is asked, so a passkey that is
 * only suggested counts as chosen: with `suggests`, a login page logs in by itself.
 */
export async function addAuthenticator(
  page: Page,
  { suggests = false } = {},
): Promise<{ cdp: CDPSession; authenticatorId: string }> {
  if (!suggests) await page.addInitScript(withoutSuggestions);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, authenticatorId };
}

const withoutSuggestions = (): void => {
  const { PublicKeyCredential: known } = globalThis as unknown as {
    PublicKeyCredential: { isConditionalMediationAvailable: () => Promise<boolean> };
  };
  known.isConditionalMediationAvailable = () => Promise.resolve(false);
};
