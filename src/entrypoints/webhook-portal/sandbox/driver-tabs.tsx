import type { VNode } from 'preact';
import type { Driver } from '#events/sandbox/driver.js';
import { State } from '#platform/web/tables/state.js';

interface DriverTabsProps {
  drivers: Driver[];
  /** The driver whose part of the page is shown. */
  chosen: Driver | undefined;
}

/** The drivers of the sandbox; each leads to its part of the page. */
export const DriverTabs = ({ drivers, chosen }: DriverTabsProps): VNode => (
  <nav class="sub-nav" id="drivers" data-live-part aria-label="Drivers">
    <ul role="list">
      {drivers.map(({ id, name, hasConsent, isRunning }) => (
        <li>
          <a href={`/portal/sandbox?driver=${id}`} aria-current={id === chosen?.id ? 'page' : undefined}>
            <bdi>{name}</bdi>
          </a>{' '}
          {isRunning && <State tone="good">Session running</State>}
          {!hasConsent && <State tone="plain">No consent</State>}
        </li>
      ))}
    </ul>
  </nav>
);
