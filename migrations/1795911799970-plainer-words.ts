import type { MigrationInterface, QueryRunner } from 'typeorm';

type Change = [
  table: 'scopes' | 'event_types',
  name: string,
  language: 'de' | 'es',
  before: string,
  after: string,
];

const CHANGES: Change[] = [
  [
    ...(['scopes', 'vehicle:read', 'de'] as const),
    'Ihre Fahrzeuge sehen: Marke, Modell, Ladestand und ob sie angesteckt sind',
    'Ihre Fahrzeuge sehen: Marke, Modell, Ladestand und ob sie angeschlossen sind',
  ],
  [
    ...(['scopes', 'charging_session:read', 'es'] as const),
    'Ver sus sesiones de carga: cuándo y dónde se cargó su coche y cuánta energía fue',
    'Ver sus sesiones de carga: cuándo y dónde se cargó su coche y cuánta energía se cargó',
  ],
  [
    ...(['event_types', 'charging_session.created', 'de'] as const),
    'Ein Fahrzeug wurde angesteckt: Ein Ladevorgang beginnt.',
    'Ein Fahrzeug wurde angeschlossen: Ein Ladevorgang beginnt.',
  ],
  [
    ...(['event_types', 'charging_session.ended', 'de'] as const),
    'Das Fahrzeug wurde abgesteckt: Der Ladevorgang ist beendet.',
    'Das Fahrzeug wurde getrennt: Der Ladevorgang ist beendet.',
  ],
];

/**
 * Words of the first scopes and event types that did not read as native. They mean what they meant, so nobody is asked again, and the words that
 * someone agreed to stay in the record of consents. What an operator has written stays.
 */
export class PlainerWords1795911799970 implements MigrationInterface {
  name = 'PlainerWords1795911799970';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [table, name, language, before, after] of CHANGES) {
      await replace(queryRunner, [table, name, language, before, after]);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [table, name, language, before, after] of CHANGES) {
      await replace(queryRunner, [table, name, language, after, before]);
    }
  }
}

const replace = (
  queryRunner: QueryRunner,
  [table, name, language, before, after]: Change,
): Promise<unknown> =>
  queryRunner.query(
    `UPDATE ${table} SET translations = jsonb_set(translations, ARRAY[$2], to_jsonb($4::text))
      WHERE name = $1 AND translations ->> $2 = $3`,
    [name, language, before, after],
  );
