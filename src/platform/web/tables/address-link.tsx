import type { VNode } from 'preact';

// After what separates the parts of an address; “//” is one.
const PARTS = /[^/.?&=_-]*(?:\/+|[.?&=_-])?/g;

/** An address that breaks between its parts, not inside its words. */
export const Address = ({ address }: { address: string }): VNode => (
  <bdi>
    {(address.match(PARTS) ?? [])
      .filter((part) => part !== '')
      .map((part, n) => (
        <>
          {n > 0 && <wbr />}
          {part}
        </>
      ))}
  </bdi>
);

/** A link with an address as its text. */
export const AddressLink = ({ href, address }: { href: string; address: string }): VNode => (
  <a class="address" href={href}>
    <Address address={address} />
  </a>
);
