import type { VNode } from 'preact';
import type { Driver } from '#events/sandbox/driver.js';
import { vehicleOf } from '#events/sandbox/generator/vehicle.js';
import { Facts } from '#platform/web/tables/facts.js';
import { PowerChart } from './power-chart.js';
import type { SessionCourse } from './session-course.js';

interface CarProps {
  driver: Driver;
  course: SessionCourse;
  now: Date;
}

/** The driver's vehicle: its battery, and the power of its last session. */
export function Car({ driver, course: { battery, session }, now }: CarProps): VNode {
  const { make, model, batteryKwh } = vehicleOf(driver.seed);
  const isCharging = driver.isRunning && session !== undefined && session.endedAt === undefined;
  const power = isCharging ? (session.power.at(-1)?.kw ?? 0) : 0;
  return (
    <section class="car" id="car" data-live-part aria-labelledby="car-name">
      <h3 id="car-name">
        {make} {model}
      </h3>
      <Battery percent={battery?.percent} limit={battery?.limit} isCharging={power > 0} />
      <Facts
        facts={[
          [
            'Battery',
            battery
              ? `${battery.percent} % of ${batteryKwh} kWh, charges up to ${battery.limit} %`
              : `${batteryKwh} kWh, not reported yet`,
          ],
          ['Now', stateOf(driver, isCharging, power)],
          ['Energy', session ? `${session.energyKwh} kWh in this session` : '–'],
        ]}
      />
      {session && (
        <PowerChart
          power={isCharging ? [...session.power, { at: now, kw: power }] : session.power}
          from={session.startedAt}
          to={session.endedAt ?? driver.endsAt ?? now}
        />
      )}
    </section>
  );
}

function stateOf({ waiting }: Driver, isCharging: boolean, power: number): string {
  if (power > 0) return `charging with ${power} kW`;
  if (isCharging) return 'plugged in, waiting to charge';
  return waiting > 0 ? 'events wait' : 'not charging';
}

const WIDTH = 92;

/** How full the battery is, with a mark at the limit. The facts next to it say the same. */
function Battery({
  percent = 0,
  limit,
  isCharging,
}: {
  percent?: number;
  limit?: number;
  isCharging: boolean;
}): VNode {
  const at = (share: number) => 4 + (WIDTH * share) / 100;
  return (
    <svg
      viewBox="0 0 108 48"
      width="9rem"
      fill="none"
      stroke="var(--pico-form-element-border-color)"
      stroke-width="2"
      aria-hidden="true"
    >
      <rect x="1" y="1" width="98" height="46" rx="7" />
      <rect x="101" y="16" width="5" height="16" rx="2" />
      <rect
        class="battery-charge"
        fill="var(--chart-good)"
        stroke="none"
        x="4"
        y="4"
        width={(WIDTH * percent) / 100}
        height="40"
        rx="4"
      />
      {limit !== undefined && limit < 100 && (
        <line
          stroke="var(--pico-h1-color)"
          stroke-width="1"
          stroke-dasharray="4 3"
          x1={at(limit)}
          x2={at(limit)}
          y1="4"
          y2="44"
        />
      )}
      {isCharging && (
        <path
          fill="var(--pico-card-background-color)"
          stroke="var(--pico-h1-color)"
          stroke-width="1"
          d="M53 8 41 27h8l-2 13 13-19h-8z"
        />
      )}
    </svg>
  );
}
