#!/bin/sh
# Creates the secrets that docker-compose.yml reads, each in a file in ./secrets next to it (or in the folder given as argument).
# Existing files stay as they are, so it can be run again. Needs openssl. POSTGRES_HOST is where the database is, if not in that file.
set -eu
umask 077
folder=${1:-$(dirname "$0")/../secrets}
mkdir -p "$folder"
# It may have been there before, open to others.
chmod 700 "$folder"

# keep NAME COMMAND…: writes the command's output to the file NAME, unless the file exists.
keep() {
  file=$folder/$1
  shift
  [ -s "$file" ] && return
  "$@" | tr -d '\n' >"$file.new"
  [ -s "$file.new" ]
  # The folder is closed to others. The user in a container must be able to read the file.
  chmod 444 "$file.new"
  mv "$file.new" "$file"
}

keep postgres_password openssl rand -hex 24
keep postgres_owner_password openssl rand -hex 24
keep postgres_service_password openssl rand -hex 24
for role in owner service; do
  password=$(cat "$folder/postgres_${role}_password")
  keep "${role}_database_url" echo "postgres://charging_$role:$password@${POSTGRES_HOST:-postgres}:5432/charging_data"
done
keep encryption_key openssl rand -base64 32
keep metrics_token openssl rand -hex 24
keep bootstrap_operator_password openssl rand -base64 18
# Without "+" and "/": a client's secret in the Authorization header is form-encoded, and curl -u does not encode it.
keep bootstrap_operator_client_secret openssl rand -hex 32
