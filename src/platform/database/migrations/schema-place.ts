import { settingsRefused } from '#platform/config/process-environment.js';

/** Runs a statement without parameters and returns its rows. */
export type Ask = <Row>(sql: string) => Promise<Row[]>;

/** Where the migrations would make their tables, and what the role may do there. Names are quoted as in SQL, if need be. */
export interface SchemaPlace {
  role: string;
  database: string;
  /** Null if the role's search_path names no schema that it may use. */
  schema: string | null;
  /** Other schemas that hold the tables of the service. */
  elsewhere: string[];
  /** The role to which the tables belong, if it is another one. */
  owner: string | null;
  mayCreateTables: boolean | null;
  mayCreateSchemas: boolean;
  /** Whether the schema of the partitions is there, and whether the migrations made it. */
  hasPartitions: boolean;
  madePartitions: boolean;
  hasTrigrams: boolean;
  /** Whether pg_trgm can be installed. */
  offersTrigrams: boolean;
}

export async function readSchemaPlace(ask: Ask): Promise<SchemaPlace> {
  const [place] = await ask<SchemaPlace>(`
    SELECT quote_ident(current_user) AS role, quote_ident(current_database()) AS database, quote_ident(current_schema()) AS schema,
           ARRAY(SELECT quote_ident(nspname) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
                  WHERE relname = 'required_migrations' AND relkind = 'r' AND nspname IS DISTINCT FROM current_schema()
                  ORDER BY 1) AS elsewhere,
           (SELECT quote_ident(pg_get_userbyid(relowner)) FROM pg_class
             WHERE oid IN (to_regclass('migrations'), to_regclass('required_migrations')) AND NOT pg_has_role(relowner, 'USAGE')
             LIMIT 1) AS owner,
           has_schema_privilege(current_schema(), 'CREATE') AS "mayCreateTables",
           has_database_privilege(current_database(), 'CREATE') AS "mayCreateSchemas",
           to_regnamespace('partitions') IS NOT NULL AS "hasPartitions",
           to_regproc('turn_partitions') IS NOT NULL AS "madePartitions",
           EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') AS "hasTrigrams",
           EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm') AS "offersTrigrams"`);
  return place!;
}

// They would have to be written in another way in each of the places where a function names its schema.
const ODD = /['"%$\\]/;

/**
 * The schema for the tables, quoted if need be. Throws a SettingsError with what to run as an administrator if the migrations could not
 * be run to their end there, so that they are not begun.
 */
export function usableSchema(place: SchemaPlace): string {
  const reason = reasonAgainst(place);
  if (reason) throw settingsRefused(`DATABASE_URL: ${reason}`);
  return place.schema!;
}

function reasonAgainst(place: SchemaPlace): string | undefined {
  const { role, database, schema, owner } = place;
  if (owner !== null) {
    return `the tables in the schema ${schema} belong to the role ${owner}, which has to run the migrations, not ${role}`;
  }
  if (schema === null) {
    return `the search_path of the role ${role} names no schema that it may use: CREATE SCHEMA AUTHORIZATION ${role}`;
  }
  if (ODD.test(schema.replace(/^"(.*)"$/, '$1'))) {
    return `the schema ${schema} has one of the characters ' " % $ \\ in its name, so the tables cannot be in it`;
  }
  if (!place.mayCreateTables) {
    return `the role ${role} may not create tables in the schema ${schema}, the first of its search_path: GRANT CREATE ON SCHEMA ${schema} TO ${role}, or CREATE SCHEMA AUTHORIZATION ${role}`;
  }
  if (place.hasPartitions && !place.madePartitions) {
    return `the database ${database} has a schema partitions, which the service makes for itself: one database holds one installation, and nothing else of that name`;
  }
  if (!place.hasTrigrams && !place.offersTrigrams) {
    return 'the server does not offer the extension pg_trgm: install the package with the extensions of PostgreSQL (postgresql-contrib)';
  }
  if (!place.mayCreateSchemas && !(place.hasPartitions && place.hasTrigrams)) {
    return `the role ${role} may not create the schema partitions and the extension pg_trgm in the database ${database}: GRANT CREATE ON DATABASE ${database} TO ${role}`;
  }
  return undefined;
}

/** Throws a SettingsError if the tables are not where the role finds them, but in another schema. */
export function refuseOtherPlace({ role, elsewhere }: SchemaPlace): void {
  const [only, another] = elsewhere;
  if (only === undefined) return;
  throw settingsRefused(
    another === undefined
      ? `DATABASE_URL: the tables of the service are in the schema ${only}, which the role ${role} may not use: "operator migrate --service-role" lets it, run by their owner`
      : `DATABASE_URL: several schemas have tables of the service (${elsewhere.join(', ')}), and the search_path of the role ${role} names none of them`,
  );
}
