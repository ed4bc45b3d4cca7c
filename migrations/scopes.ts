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

/** What the scopes for partners allow, in the other languages of drivers. */
export const SCOPE_TRANSLATIONS: Record<string, Record<'de' | 'fr' | 'nl' | 'es', string>> = {
  'charging_session:read': {
    de: 'Ihre Ladevorgänge sehen: wann und wo Ihr Auto geladen hat und wie viel Energie das war',
    fr: 'Voir vos sessions de recharge : quand et où votre voiture a été rechargée, et la quantité d’énergie',
    nl: 'Uw laadsessies zien: wanneer en waar uw auto laadde en hoeveel energie dat was',
    es: 'Ver sus sesiones de carga: cuándo y dónde se cargó su coche y cuánta energía fue',
  },
  'vehicle:read': {
    de: 'Ihre Fahrzeuge sehen: Marke, Modell, Ladestand und ob sie angesteckt sind',
    fr: 'Voir vos véhicules : marque, modèle, niveau de batterie et s’ils sont branchés',
    nl: 'Uw voertuigen zien: merk, model, accuniveau en of ze zijn aangesloten',
    es: 'Ver sus vehículos: marca, modelo, nivel de batería y si están enchufados',
  },
};
