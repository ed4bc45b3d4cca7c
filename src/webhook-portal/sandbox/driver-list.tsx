import type { VNode } from 'preact';
import type { Driver } from '../../sandbox/driver.js';
import { vehicleOf } from '../../sandbox/generator/vehicle.js';
import { State } from '../../web/tables/state.js';

interface DriverListProps {
  drivers: Driver[];
  /** The driver whose forms are shown. */
  chosen: Driver | undefined;
}

/** The drivers of the sandbox; each leads to its forms. */
export const DriverList = ({ drivers, chosen }: DriverListProps): VNode => (
  <ul class="entries" role="list">
    {drivers.map(({ id, name, seed, hasConsent, isRunning, waiting }) => (
      <li>
        <h3>
          <a href={`/portal/sandbox?driver=${id}`} aria-current={id === chosen?.id ? 'true' : undefined}>
            <bdi>{name}</bdi>
          </a>
        </h3>
        <p>
          {hasConsent ? <State tone="good">Consent granted</State> : <State tone="plain">No consent</State>}{' '}
          {isRunning && <State tone="good">Session running</State>}
        </p>
        <p>
          {nameOfVehicle(seed)}, seed {seed}. {waitingText(waiting)}
        </p>
        <p>
          <code class="id">{id}</code>
        </p>
      </li>
    ))}
  </ul>
);

function nameOfVehicle(seed: number): string {
  const { make, model } = vehicleOf(seed);
  return `${make} ${model}`;
}

const waitingText = (count: number): string => {
  if (count === 0) return 'No events wait.';
  return count === 1 ? 'One event waits.' : `${count.toLocaleString('en')} events wait.`;
};
