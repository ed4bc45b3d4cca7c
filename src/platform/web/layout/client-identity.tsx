import type { VNode } from 'preact';
import { logoPath } from './brand.js';
import { InitialTile } from './layout.js';
import { Say, useText } from './say.js';

/** What people see of an application besides its name. */
export interface ClientIdentity {
  organisation: string | null;
  site: string | null;
  privacyPolicy: string | null;
  logoId: string | null;
}

/** The logo of an application, or the letter in its place. Decorative: the name always stands next to it. */
export const ClientTile = ({ name, logoId }: { name: string; logoId: string | null }): VNode =>
  logoId === null ? (
    <InitialTile name={name} kind="application" />
  ) : (
    <img class="tile tile-logo" src={logoPath(logoId)} alt="" width="40" height="40" />
  );

/** The organisation behind an application, and where to read more; nothing if that is unknown. */
export function ClientDetails({
  of: { organisation, site, privacyPolicy },
  class: className = '',
}: {
  of: ClientIdentity;
  class?: string;
}): VNode | null {
  const t = useText();
  const links = [
    site !== null && (
      <a href={site} rel="noopener noreferrer">
        {hostOf(site)}
      </a>
    ),
    privacyPolicy !== null && (
      <a href={privacyPolicy} rel="noopener noreferrer">
        {t('Privacy policy')}
      </a>
    ),
  ].filter((link) => link !== false);
  if (organisation === null && links.length === 0) return null;
  return (
    <p class={`client-details ${className}`.trim()}>
      {organisation !== null && (
        <span>
          <Say
            it="By <name>{organisation}</name>"
            with={{ organisation, name: (children) => <bdi>{children}</bdi> }}
          />
        </span>
      )}
      {links.map((link) => (
        <span>{link}</span>
      ))}
    </p>
  );
}

/** As browsers show it; letters that look like others are written as punycode. */
const hostOf = (url: string): string => new URL(url).host;
