/** The first scopes (contract §2): name, who may have it, what it allows. */
export const SCOPES: [name: string, audience: 'partner' | 'operator', description: string][] = [
  [
    'charging_session:read',
    'partner',
    'See your charging sessions: when and where your car charged, and how much energy it took',
  ],
  [
    'vehicle:read',
    'partner',
    'See your vehicles: make, model, battery level and whether they are plugged in',
  ],
  ['admin:read', 'operator', 'Read everything in the admin API'],
  ['admin:write', 'operator', 'Change everything in the admin API'],
  ['event:publish', 'operator', 'Publish events about users'],
  ['token:introspect', 'operator', 'Look at the tokens of other clients'],
];
