#!/bin/bash
# check-backup.sh DUMPS WORK: restores the newest *.dump of a folder into a PostgreSQL of its own, which listens to nobody else and ends
# with the script. Fails unless the migrations, the accounts' table and recent changes are in it. MAX_AGE_HOURS: how old the newest
# change in the audit log may be.
set -euo pipefail
dumps=$1 work=$2
max_age=${MAX_AGE_HOURS:-26}

newest=$(find "$dumps" -maxdepth 1 -name '*.dump' -type f -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-)
[ -n "$newest" ] || { echo "There is no *.dump in $dumps." >&2; exit 1; }
echo "Restoring $newest"
begun=$SECONDS

# Debian does not put initdb on the PATH. Elsewhere there is no such folder.
programs=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1) || true
PATH=$PATH${programs:+:$programs}
export PGHOST=$work PGUSER=check PGDATABASE=restored
# Durability costs time and is worth nothing here.
initdb --pgdata="$work/data" --username=check --auth=trust --encoding=UTF8 --no-sync >/dev/null
pg_ctl --pgdata="$work/data" --log="$work/log" --wait --silent \
  --options="-c listen_addresses='' -c unix_socket_directories='$work' -c fsync=off -c full_page_writes=off" start
trap 'pg_ctl --pgdata="$work/data" --mode=immediate --silent stop' EXIT
createdb --template=template0 restored
pg_restore --exit-on-error --no-owner --no-privileges --dbname=restored "$newest"

ask() { psql --no-psqlrc --tuples-only --no-align --set=ON_ERROR_STOP=1 --command="$1"; }
# Each by itself, so that a table that is missing ends the script.
migrations=$(ask 'SELECT count(*) FROM migrations')
users=$(ask 'SELECT count(*) FROM users')
clients=$(ask 'SELECT count(*) FROM clients')
echo "$migrations migrations, $users users, $clients clients"
[ "$migrations" -gt 0 ] || { echo 'The dump has no migrations.' >&2; exit 1; }
[ "$(ask "SELECT coalesce(max(occurred_at) > now() - interval '$max_age hours', false) FROM audit_events")" = t ] || {
  echo "The newest change in the dump is older than $max_age hours: $(ask 'SELECT max(occurred_at) FROM audit_events')" >&2
  exit 1
}
echo "Restored in $((SECONDS - begun)) s. The newest change is of $(ask 'SELECT max(occurred_at) FROM audit_events')."
