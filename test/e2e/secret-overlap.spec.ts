import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ClientSecretsService } from '#access/clients/client-secrets.service.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { PATIENT, useSharedService } from '../support/test-service.js';

const OVERLAP = 3600;

describe("A rotation of a client's secret that has to wait for the client", () => {
  const service = useSharedService({ databaseOptions: PATIENT });

  it('counts the overlap from the time when the new secret is there', async () => {
    const { id } = await service.make.client();
    await service.database.query('BEGIN');
    await service.database.query('SELECT 1 FROM clients WHERE id = $1 FOR UPDATE', [id]);
    const rotating = service.app.get(ClientSecretsService).rotate(id, OVERLAP, SERVICE_ACTOR);
    await untilWaitingForLocks(service.database, 1);
    await service.database.query('ROLLBACK');
    await rotating;
    const [row] = await service.database.query(
      `SELECT (SELECT expires_at - make_interval(secs => $2) FROM client_secrets WHERE client_id = $1 AND expires_at IS NOT NULL)
                >= (SELECT created_at FROM client_secrets WHERE client_id = $1 AND expires_at IS NULL) AS "isWhole"`,
      [id, OVERLAP],
    );
    expect(row).toEqual({ isWhole: true });
  });
});
