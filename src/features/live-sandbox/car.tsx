import type { VNode } from 'preact';
import type { Driver } from '#events/sandbox/driver.js';
import { vehicleOf } from '#events/sandbox/generator/vehicle.js';
import { Facts } from '#platform/web/tables/facts.js';
import type { SessionCourse } from './session-course.js';

interface CarProps {
  driver: Driver;
  course: SessionCourse;
}

/** The driver's vehicle: its battery, and whether it charges. */
export function Car({ driver, course }: CarProps): VNode {
  const { make, model, batteryKwh } = vehicleOf(driver.seed);
  const { battery, session } = course;
  const isCharging = isChargingNow(driver, course);
  const power = isCharging ? (session?.power.at(-1)?.kw ?? 0) : 0;
  return (
    <section class="car" id="car" data-live-part aria-labelledby="car-name">
      <h2 id="car-name">
        {make} {model}
      </h2>
      <Drawing
        percent={battery?.percent}
        limit={battery?.limit}
        isPluggedIn={isCharging}
        isCharging={power > 0}
      />
      <Facts
        facts={[
          [
            'Battery',
            battery
              ? `${battery.percent} % of ${batteryKwh} kWh, up to ${battery.limit} %`
              : `${batteryKwh} kWh, not reported yet`,
          ],
          ['Now', stateOf(driver, isCharging, power)],
          ['Energy', session ? `${session.energyKwh} kWh in this session` : '–'],
        ]}
      />
    </section>
  );
}

/** Whether the last session goes on. */
export const isChargingNow = ({ isRunning }: Driver, { session }: SessionCourse): boolean =>
  isRunning && session !== undefined && session.endedAt === undefined;

function stateOf({ waiting }: Driver, isCharging: boolean, power: number): string {
  if (power > 0) return `charging with ${power} kW`;
  if (isCharging) return 'plugged in, waiting to charge';
  return waiting > 0 ? 'events wait' : 'not charging';
}

/** The battery lies in the floor of the car, from this x on. */
const BATTERY = { x: 104, width: 172 };

/** The car, and how full its battery is, with a mark at the limit. The facts below it say the same. */
function Drawing({
  percent = 0,
  limit,
  isPluggedIn,
  isCharging,
}: {
  percent?: number;
  limit?: number;
  isPluggedIn: boolean;
  isCharging: boolean;
}): VNode {
  const at = (share: number) => BATTERY.x + (BATTERY.width * share) / 100;
  return (
    <svg
      viewBox="0 0 360 132"
      fill="none"
      stroke="var(--pico-muted-color)"
      stroke-width="3"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d="M14 122V44c0-6 4-10 10-10h14c6 0 10 4 10 10v78M6 122h50M22 48h18" />
      {isPluggedIn && (
        <path
          class={isCharging ? 'power-flow' : undefined}
          stroke={isCharging ? 'var(--chart-good)' : undefined}
          stroke-width="4"
          d="M48 88c16 0 8 20 34 6"
        />
      )}
      <path d="M104 112H90c-6 0-10-4-10-10V84c0-12 8-18 20-20l24-4 32-34c5-6 11-8 18-8h62c10 0 17 3 24 10l32 32 28 6c12 3 18 10 18 22v14c0 6-4 10-10 10h-14M156 112h82" />
      <path d="M142 60l24-25c3-3 6-5 11-5h21v30zM212 30h22c7 0 11 2 16 7l22 23h-60z" />
      <circle cx="130" cy="110" r="18" />
      <circle cx="290" cy="110" r="18" />
      <rect
        fill="var(--pico-card-background-color)"
        x={BATTERY.x - 3}
        y="69"
        width={BATTERY.width + 6}
        height="20"
        rx="6"
      />
      <rect
        class="battery-charge"
        fill="var(--chart-good)"
        stroke="none"
        x={BATTERY.x}
        y="72"
        width={(BATTERY.width * percent) / 100}
        height="14"
        rx="4"
      />
      {limit !== undefined && limit < 100 && (
        <line
          stroke="var(--pico-h1-color)"
          stroke-width="2"
          stroke-dasharray="4 4"
          x1={at(limit)}
          x2={at(limit)}
          y1="66"
          y2="92"
        />
      )}
    </svg>
  );
}
