import { IsOptionalNotNull, IsTime } from '../../../http/validation/validation.decorators.js';
import { DeliveriesQuery } from '../../api/deliveries/admin-deliveries.dto.js';

/** The filter of the console's deliveries: as in the admin API, and when they were created. */
export class ConsoleDeliveriesQuery extends DeliveriesQuery {
  @IsOptionalNotNull()
  @IsTime()
  from?: string;

  /** Exclusive. */
  @IsOptionalNotNull()
  @IsTime()
  to?: string;
}
