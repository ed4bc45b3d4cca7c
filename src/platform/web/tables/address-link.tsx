import type { VNode } from 'preact';

// After what separates the parts of an address; “//” is one.
const PARTS = /[^/.?&=_-]*(?:\/+|[.?&=_-])?/g;

/** A link with an address as its text, which breaks between the parts of the address, not inside its words. */
export const AddressLink = ({ href, address }: { href: string; address: string }): VNode => (
  <a class="address" href={href}>
    {(address.match(PARTS) ?? [])
      .filter((part) => part !== '')
      .map((part, n) => (
        <>
          {n > 0 && <wbr />}
          {part}
        </>
      ))}
  </a>
);
