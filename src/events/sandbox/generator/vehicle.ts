import { SeededRandom } from './seeded-random.js';

/** The vehicle of a driver, which follows from the seed. */
export interface Vehicle {
  id: string;
  make: string;
  model: string;
  batteryKwh: number;
}

const MODELS = [
  ['Renault', '5 E-Tech', 52],
  ['Volkswagen', 'ID.3', 58],
  ['Škoda', 'Enyaq 80', 77],
  ['Kia', 'EV3', 81],
  ['Hyundai', 'Kona Electric', 65],
  ['Peugeot', 'e-208', 51],
  ['Volvo', 'EX30', 69],
  ['Fiat', '500e', 42],
] as const;

const NAMES = [
  'Alex',
  'Billie',
  'Charlie',
  'Dana',
  'Eli',
  'Finn',
  'Gray',
  'Harper',
  'Indra',
  'Jules',
  'Kim',
  'Luca',
];

export function vehicleOf(seed: number): Vehicle {
  const random = new SeededRandom(seed, 'vehicle');
  const [make, model, batteryKwh] = random.oneOf(MODELS);
  return { id: random.uuid(), make, model, batteryKwh };
}

/** The name of a driver to whom nobody gave one. */
export const nameOf = (seed: number): string => `${new SeededRandom(seed, 'name').oneOf(NAMES)} Sandbox`;
