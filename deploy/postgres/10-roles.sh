#!/bin/bash
# The PostgreSQL image runs this once, while its volume is empty. Elsewhere an administrator runs it with psql's PG… variables.
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
CREATE ROLE charging_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD :'owner_password';
CREATE ROLE charging_service LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD :'service_password';
CREATE DATABASE charging_data OWNER charging_owner;
REVOKE ALL ON DATABASE charging_data FROM PUBLIC;
GRANT CONNECT ON DATABASE charging_data TO charging_service;
SQL
