import type { VNode } from 'preact';

/** What the service is in one picture: a vehicle, the decision of its driver, and applications, of which only one gets the data. */
export const HomePicture = ({ label }: { label: string }): VNode => (
  <svg
    class="home-picture"
    viewBox="0 0 640 170"
    role="img"
    aria-label={label}
    fill="none"
    stroke="var(--pico-muted-color)"
    stroke-width="4"
    stroke-linecap="round"
    stroke-linejoin="round"
  >
    {/* The vehicle at its charging station. */}
    <g>
      <path d="M30 128h-8v-22c0-8 5-12 12-14l18-4 20-26c3-4 7-6 12-6h38c6 0 10 2 14 6l22 24 14 4c8 2 12 8 12 16v22h-14" />
      <path d="M64 128h68" />
      <circle cx="47" cy="128" r="15" />
      <circle cx="149" cy="128" r="15" />
      <path d="M78 86l14-18c2-2 4-4 8-4h8v22zM120 86V64h8c3 0 6 1 8 4l14 18z" />
    </g>
    <path fill="var(--pico-primary)" stroke="none" d="M103 92l-14 20h10l-3 15 15-21h-10z" />
    <path stroke="var(--pico-primary)" d="M196 104h70" />
    {/* The decision. */}
    <rect
      fill="var(--accent-soft)"
      stroke="var(--pico-primary)"
      x="272"
      y="48"
      width="92"
      height="92"
      rx="24"
    />
    <path stroke="var(--pico-primary)" stroke-width="7" d="M298 95l14 15 27-31" />
    <path stroke="var(--pico-primary)" d="M372 82c40-4 44-32 88-32" />
    <path stroke-dasharray="6 9" opacity="0.6" d="M372 108c40 4 44 32 88 32" />
    {/* The applications. */}
    <g>
      <rect x="468" y="22" width="140" height="54" rx="12" />
      <path d="M488 58V46M504 58V38M520 58V50M544 42h44M544 56h28" />
    </g>
    <g stroke-dasharray="6 9" opacity="0.6">
      <rect x="468" y="112" width="140" height="54" rx="12" />
      <path d="M526 128l24 22M550 128l-24 22" />
    </g>
  </svg>
);
