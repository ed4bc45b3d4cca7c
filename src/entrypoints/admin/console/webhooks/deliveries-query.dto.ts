import { IsOptionalNotNull, IsTimeOrDay } from '#platform/http/validation/validation.decorators.js';
import { DeliveriesQuery } from '../../api/deliveries/admin-deliveries.dto.js';

/** The filter of the console's deliveries: as in the admin API, and when they were created. */
export class ConsoleDeliveriesQuery extends DeliveriesQuery {
  @IsOptionalNotNull()
  @IsTimeOrDay()
  from?: string;

  /** Exclusive. */
  @IsOptionalNotNull()
  @IsTimeOrDay()
  to?: string;
}
