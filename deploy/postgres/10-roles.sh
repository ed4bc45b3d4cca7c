#!/bin/bash
# The PostgreSQL image runs this once, while its volume is empty. Elsewhere an administrator runs it with psql's PG… variables. It can be
# run again: what is there stays, and the roles get the passwords that are given.
# It creates two roles without any power over the server. charging_owner owns the database and runs the migrations.
# charging_service is the role of the instances; "operator migrate --service-role charging_service" gives it the rights it needs.
# No other role can connect.
set -euo pipefail

# The value of NAME, or the content of the file NAME_FILE.
for name in POSTGRES_OWNER_PASSWORD POSTGRES_SERVICE_PASSWORD; do
  file=${name}_FILE
  if [ -n "${!file:-}" ]; then export "$name=$(cat "${!file}")"; fi
done
: "${POSTGRES_OWNER_PASSWORD:?}" "${POSTGRES_SERVICE_PASSWORD:?}"

psql --no-psqlrc --set=ON_ERROR_STOP=1 ${POSTGRES_USER:+--username="$POSTGRES_USER"} --dbname=postgres <<'SQL'
\getenv owner_password POSTGRES_OWNER_PASSWORD
\getenv service_password POSTGRES_SERVICE_PASSWORD
-- The server writes a statement that fails into its log, some servers write all, and below they hold the passwords. Where an administrator may
-- not change that, as in some managed databases, it stays as it is.
DO $$
BEGIN
  PERFORM set_config(name, value, false)
    FROM (VALUES ('log_min_error_statement', 'panic'), ('log_statement', 'none'), ('log_min_duration_statement', '-1')) AS s (name, value);
EXCEPTION WHEN insufficient_privilege THEN
  NULL;
END
$$;
SELECT to_regrole('charging_owner') IS NULL AS owner_is_missing, to_regrole('charging_service') IS NULL AS service_is_missing,
       NOT EXISTS (SELECT FROM pg_database WHERE datname = 'charging_data') AS database_is_missing,
       EXISTS (SELECT FROM pg_database WHERE datname = 'charging_data' AND pg_get_userbyid(datdba) <> 'charging_owner') AS database_is_of_another
\gset
\if :database_is_of_another
DO $$ BEGIN RAISE 'The database charging_data is there already, and does not belong to charging_owner.'; END $$;
\endif
\if :owner_is_missing
CREATE ROLE charging_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD :'owner_password';
\else
ALTER ROLE charging_owner LOGIN PASSWORD :'owner_password';
\endif
\if :service_is_missing
CREATE ROLE charging_service LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD :'service_password';
\else
ALTER ROLE charging_service LOGIN PASSWORD :'service_password';
\endif
\if :database_is_missing
CREATE DATABASE charging_data OWNER charging_owner;
\endif
REVOKE ALL ON DATABASE charging_data FROM PUBLIC;
GRANT CONNECT ON DATABASE charging_data TO charging_service;
SQL
